"""From the options of ``select`` to the algorithm that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from shortlist.cli._method_options import METHOD_OPTIONS

if TYPE_CHECKING:
    from shortlist._protocols import Capabilities, RowSource

#: Options that only some methods have; of those not given a method has its own defaults.
_OWN_OPTIONS = (
    "memory",
    "batch",
    "recipe",
    "budget",
    "passes",
    "log1p",
    "normalize",
    "scale",
    "class_weight",
    "interactions",
    *METHOD_OPTIONS,
)


def make_learner(
    ctx: click.Context, source: RowSource, k: int
) -> tuple[Capabilities, Any]:
    """Make the algorithm that the options describe; refuse what it cannot do.

    It knows the groups of the rows to learn from if ``split_rows`` has found some.
    """
    from shortlist._protocols import knowing_groups
    from shortlist._registry import selector

    options = ctx.params
    capabilities = selector(options["method"])
    own = own_options(ctx, capabilities)
    merges = options["shard"] is not None or options["like"] is not None
    if merges and capabilities.method == "mission":
        own.setdefault("recipe", "shards")
    check_loss(capabilities, options["loss"])
    _check_names(source, options["always"], options["never"])
    learner = _algorithm(ctx, capabilities)(
        k,
        loss=options["loss"],
        classes=classes_of(options, source),
        always=options["always"],
        never=options["never"],
        seed=options["seed"],
        reiterable=source.reiterable,
        **own,
    )
    return capabilities, knowing_groups(learner, ctx.meta.get("groups"))


def _algorithm(ctx: click.Context, capabilities: Capabilities) -> Any:
    """What makes a learner for rows."""
    if capabilities.room != "columns":
        return capabilities.load("algorithm")
    from shortlist._protocols import ShortlistError
    from shortlist.front._columns_of_rows import algorithm_for_rows

    try:
        return algorithm_for_rows(capabilities)
    except ShortlistError:
        text = f"{capabilities.method} goes with --columns"
        raise click.UsageError(text, ctx) from None


def given_options(ctx: click.Context) -> list[str]:
    """Options that only some methods have and that a user has given."""
    default = click.core.ParameterSource.DEFAULT
    return [n for n in _OWN_OPTIONS if ctx.get_parameter_source(n) is not default]


def own_options(ctx: click.Context, capabilities: Capabilities) -> dict[str, Any]:
    """Options of the method that a user asks for; refuse those that it does not have."""
    return {
        name: None if ctx.params[name] == "none" else ctx.params[name]
        for name in _OWN_OPTIONS
        if _is_given(ctx, capabilities, name)
    }


def _is_given(ctx: click.Context, capabilities: Capabilities, name: str) -> bool:
    """Whether a user asks for an option; refuse it if the method has none."""
    given = ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    if given and name not in capabilities.options:
        raise click.UsageError(
            f"{capabilities.method} has no setting --{name.replace('_', '-')}", ctx
        )
    return given


def check_loss(capabilities: Capabilities, loss: str) -> None:
    """Refuse a loss that the method cannot learn by."""
    from shortlist.losses import binary_of, get_loss

    if loss != "auto" and binary_of(get_loss(loss)).name not in capabilities.losses:
        known = ", ".join(capabilities.losses)
        raise click.BadParameter(
            f"{capabilities.method} knows {known}, got {loss!r}",
            param_hint="--loss",
        )


def _check_names(
    source: RowSource, always: tuple[str, ...], never: tuple[str, ...]
) -> None:
    from shortlist._protocols import DataError

    for option, names in (("--always", always), ("--never", never)):
        try:
            source.ids(names)
        except DataError as error:
            raise click.BadParameter(str(error), param_hint=option) from None
    if both := sorted(set(always) & set(never)):
        raise click.UsageError(f"feature {both[0]} is named by --always and by --never")


def classes_of(options: Mapping[str, Any], source: RowSource) -> list[Any] | None:
    """All classes there are, if the options say so."""
    text = options["classes"]
    if text is None:
        return None
    if source.label_names is not None:
        return str(text).split(",")
    try:
        return [float(label) for label in text.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"labels of text are numbers, as in -1,1; got {text!r}",
            param_hint="--classes",
        ) from None
