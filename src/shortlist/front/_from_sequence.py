"""Choose from rows that follow each other in time, for what goes on in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shortlist._protocols import Ids, Observer, Progress, ShortlistError
from shortlist._registry import SENSORS
from shortlist._shortlist import Shortlist
from shortlist.engines import Interrupted
from shortlist.front._choice import choose, with_choice
from shortlist.front._facts import Facts
from shortlist.front._sequence_gaps import without_gaps
from shortlist.front._sequence_leaks import sequence_leak_notes
from shortlist.front._warned import warned
from shortlist.sources._column_blocks import hashed
from shortlist.sources.forms import take_out

if TYPE_CHECKING:
    from shortlist.table import SensorSelector
    from shortlist.table._sensor_search import SensorStep

#: Arguments of ``select`` that mean something for sequences.
_KNOWN = {
    *("data", "target", "k", "method", "sequence", "feature_names", "never"),
    *("missing", "seed", "verbose", "observe"),
}


class Steps(NamedTuple):
    """Rows in the order of time."""

    X: Any  #: array, table or sparse matrix, a column for each of names
    y: Any  #: what goes on in each row
    sequence: Any  #: of each row
    names: list[str]
    ids: Ids  #: of columns: those that sources of rows give to these names, or numbers


def select_from_sequence(
    asked: Mapping[str, Any],
    given: Collection[str],
    settings: Mapping[str, Any],
    say: Callable[[str], None],
) -> Shortlist:
    """Have ``select`` choose sensors.

    Parameters
    ----------
    asked : mapping
        Arguments of ``select`` by name.
    given : collection of str
        Which of them somebody gave, as far as their values tell.
    settings : mapping
        Of the selector.
    say : callable
        Hears what was picked.
    """
    k, method = asked["k"], asked["method"]
    if method not in ("auto", SENSORS):
        raise ShortlistError(
            f"sequence: {method} does not look at the order of rows; {SENSORS} does"
        )
    if k == "auto":
        raise ShortlistError(
            "k='auto' does not go with sequence=; SensorSelector(cv=5) has errors by size"
        )
    for name in given:
        if name not in _KNOWN:
            raise ShortlistError(f"{name} does not go with sequence=; leave it out")
    parts = ("data", "target", "sequence", "feature_names", "never", "missing")
    steps = steps_of(*(asked[part] for part in parts))
    selector = sensor_selector(int(k), settings)
    if asked["observe"] is not None:
        tell(selector, asked["observe"])
    if method != "auto":
        return select_from_steps(selector, steps)
    choice = choose(Facts("sequence"))
    say(choice.line())
    return with_choice(select_from_steps(selector, steps), choice)


def steps_of(
    data: Any,
    target: Any,
    sequence: Any,
    feature_names: Sequence[str] | None = None,
    never: Sequence[str] = (),
    missing: str | None = None,
) -> Steps:
    """Take what is no sensor out of a table or an array: labels, sequences, ``never``.

    What remains are numbers: a ``missing`` one counts as 0 ("zero") or is an error.
    """
    if sequence is None or not (hasattr(data, "shape") and hasattr(target, "__len__")):
        raise ShortlistError(
            "sequence: expected an array or table of rows, their labels (target=) and the "
            "sequence of each row"
        )
    is_table = hasattr(data, "columns")
    if isinstance(sequence, str) and is_table:
        data, sequence = take_out(data, sequence, "sequence")
    if isinstance(target, str):
        if not is_table:
            raise ShortlistError(f"target: an array needs its labels, got {target!r}")
        data, target = take_out(data, target, "target")
    if feature_names is not None:
        names = [str(name) for name in feature_names]
        if len(names) != data.shape[1]:
            raise ShortlistError(
                f"feature_names should have one name for each of {data.shape[1]} columns, "
                f"got {len(names)}"
            )
        data = np.asarray(data) if is_table else data
    elif is_table:
        names = [str(name) for name in data.columns]
    else:
        names = [f"x{j}" for j in range(data.shape[1])]
    numbers = np.arange(len(names), dtype=np.uint64)
    ids = hashed(names) if is_table or feature_names is not None else numbers
    for name in never:
        if name not in names:
            raise ShortlistError(f"never: no column is called {name!r}")
    if len(never):
        kept = [j for j, name in enumerate(names) if name not in set(never)]
        names, ids = [names[j] for j in kept], ids[kept]
        if hasattr(data, "columns"):
            data = data[[data.columns[j] for j in kept]]
        else:
            data = (data.tocsc() if hasattr(data, "tocsc") else data)[:, kept]
    return Steps(without_gaps(data, names, missing), target, sequence, names, ids)


def sensor_selector(k: int, settings: Mapping[str, Any]) -> SensorSelector:
    """Make the selector for sequences; settings that it does not have are refused."""
    from shortlist.table import SensorSelector

    known = SensorSelector().get_params()
    for name in settings:
        if name not in known:
            raise ShortlistError(f"{SENSORS} has no setting {name!r}")
    return SensorSelector(k, **settings)


def tell(selector: SensorSelector, observe: Observer) -> None:
    """Have a selector tell an observer how far it has come, besides whom it tells."""
    others = selector.report

    def report(step: SensorStep) -> None:
        if others is not None:
            others(step)
        observe(progress_of(step, selector))

    selector.report = report


def progress_of(step: SensorStep, selector: SensorSelector) -> Progress:
    """How far a search has come: up to k, or from all sensors down to none."""
    every = len(selector.sensor_names_)
    backward = selector.direction == "backward"
    most = selector.k if selector.unit == "feature" else min(selector.k, every)
    done, size = (every - step.units, every) if backward else (step.units, most)
    stage = f"fold {step.fold} of {selector.cv}" if step.fold else "sensors"
    return Progress(0, stage, done, size, "sensors", 0, step.objective)


def select_from_steps(selector: SensorSelector, steps: Steps) -> Shortlist:
    """Have a selector choose sensors, call them by their names, and look for leaks.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the sizes reached by then, and no warnings of leaks.
    """
    try:
        selector.fit(steps.X, steps.y, sequence=steps.sequence)
    except Interrupted as stop:
        raise Interrupted(_called(stop.result, steps)) from None
    chosen = _called(selector.shortlist_, steps)
    return warned(
        chosen, lambda: sequence_leak_notes(selector, steps.X, steps.y, steps.names)
    )


def _called(chosen: Shortlist, steps: Steps) -> Shortlist:
    """The same with the names and ids of columns where it has their numbers."""
    names, trace = np.array(steps.names, object), dict(chosen.trace)
    for part in ("path_ids", "left_ids"):
        if part in trace:
            trace[part] = steps.ids[trace[part].astype(np.int64)]
    places = chosen.ids.astype(np.int64)
    if "left_ids" in trace:
        left = chosen.trace["left_ids"].astype(np.int64)
        trace["left_names"] = np.array(names[left].tolist(), np.str_)
    return replace(
        chosen, ids=steps.ids[places], names=tuple(names[places]), trace=trace
    )
