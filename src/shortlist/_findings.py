"""What a second look at the data adds to a result: shares of halves, substitutes.

Both live in the ``trace`` and the ``params`` of a Shortlist, so that files, tables and
reports have them without knowing who found them out.

Stability
    ``trace["stability_ids"]``, ``["stability_names"]`` and ``["stability"]``: features that
    halves of the examples chose, the chosen ones among them, and the share of halves that
    did; ``params["stability"]``: see ``StabilityFacts``.
Substitutes
    ``trace["substitute_of"]`` and ``["substitute_ids"]``: a chosen feature and one that
    could take its place; ``["substitute_names"]``; ``["substitute_kept"]``: the share of
    its worth that is kept; ``["substitute_increase"]``: relative rise of the objective.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist


class StabilityFacts(NamedTuple):
    """How often halves of the examples agreed, in numbers; ``params["stability"]``."""

    pairs: int  #: complementary pairs of halves that have been fitted
    asked: int  #: pairs that were asked for
    mean_chosen: float  #: units that a half chose, on average
    features: int | None  #: units to choose from, if known
    threshold: float  #: share from which on a feature is called stable
    stable: int  #: units with at least that share
    worst_case: float | None  #: bound on the false ones among these, as expected
    unimodal: float | None  #: the same under a mild assumption
    unit: str = "feature"  #: what is counted: features, or groups of them


class Substitute(NamedTuple):
    """A feature that could take the place of a chosen one."""

    name: str  #: of the chosen feature
    substitute: str  #: name of the other one
    kept: float  #: share of the chosen one's worth that it keeps, 1 for all of it
    loss_increase: float  #: relative rise of the objective
    id: int
    substitute_id: int


def facts_of(shortlist: Shortlist) -> StabilityFacts | None:
    """What is known about stability; None if nobody has looked."""
    facts = shortlist.params.get("stability")
    known = set(StabilityFacts._fields)
    needed = known.difference(StabilityFacts._field_defaults)
    if not isinstance(facts, Mapping) or not needed <= set(facts) <= known:
        return None
    return StabilityFacts(**facts)


def shares_of(shortlist: Shortlist) -> list[float | None] | None:
    """Share of halves that chose the feature of each entry; None if nobody has counted."""
    trace = shortlist.trace
    if "stability" not in trace or "stability_ids" not in trace:
        return None
    ids, shares = trace["stability_ids"].tolist(), trace["stability"].tolist()
    share_of = dict(zip(ids, shares, strict=True))
    return [share_of.get(feature) for feature in shortlist.ids.tolist()]


def stability_line(facts: StabilityFacts) -> str:
    """Say in a line what a table of shares means.

    Examples
    --------
    >>> stability_line(StabilityFacts(50, 50, 3.0, 90, 0.75, 2, 0.2, 0.102))
    'stability: 2 features in 75% of 100 halves or more, at most 0.1 by chance (expected)'
    """
    n, halves = facts.stable, 2 * facts.pairs
    said = (
        f"stability: {n:,} {facts.unit}{'s' * (n != 1)} in {facts.threshold:.0%} of "
        f"{halves} halves or more"
    )
    bound = best_bound(facts)
    return (
        said if bound is None else f"{said}, at most {bound:.2g} by chance (expected)"
    )


def best_bound(facts: StabilityFacts) -> float | None:
    """The smaller bound on the expected number of false choices, as far as known."""
    known = [b for b in (facts.unimodal, facts.worst_case) if b is not None]
    return min(known, default=None)


def looked_for_substitutes(shortlist: Shortlist) -> bool:
    """Whether somebody has looked for substitutes, and may have found none."""
    return "substitute_of" in shortlist.trace


def substitutes_of(shortlist: Shortlist) -> tuple[Substitute, ...]:
    """Substitutes of chosen features, best first for each; none if nobody has looked."""
    trace: Any = shortlist.trace
    if not looked_for_substitutes(shortlist):
        return ()
    names = shortlist.names_by_id()
    columns = ("of", "ids", "names", "kept", "increase")
    parts = [trace[f"substitute_{column}"].tolist() for column in columns]
    return tuple(
        Substitute(names[of], name, kept, increase, of, other)
        for of, other, name, kept, increase in zip(*parts, strict=True)
        if of in names
    )
