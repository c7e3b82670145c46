"""The path of a greedy search, by name: for each size the best support and the latest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from shortlist._protocols import Floats, Ids, Ints
from shortlist._shortlist_text import build_frame
from shortlist.table._selected import PathStep, Selected


class Support(NamedTuple):
    """A support of some size, with its weights."""

    names: tuple[str, ...]
    ids: Ids
    margin: Ints  #: class or output of each weight; zeros if there is only one
    weights: Floats
    intercept: Floats
    objective: float


class PathPoint(NamedTuple):
    """What a search knows about a size."""

    best: Support
    latest: Support  #: reached last; the paper's answer


def named_path(
    selected: Selected, names: Callable[[Ids], list[str]]
) -> dict[int, PathPoint]:
    """All sizes of a search, increasing."""

    def support(step: PathStep) -> Support:
        return Support(
            tuple(names(step.ids)),
            step.ids,
            step.margin,
            step.weights,
            step.intercept,
            step.objective,
        )

    return {
        size: PathPoint(support(selected.steps[size]), support(selected.latest[size]))
        for size in sorted(selected.steps)
    }


def path_frame(path: dict[int, PathPoint], backend: str) -> Any:
    """Long form: a row for each size, kind of support and weight."""
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("size", "kind", "objective", "name", "id", "margin", "weight")
    }
    for size, point in path.items():
        for kind, support in point._asdict().items():
            n = len(support.names)
            columns["size"] += [size] * n
            columns["kind"] += [kind] * n
            columns["objective"] += [support.objective] * n
            columns["name"] += support.names
            columns["id"] += support.ids.tolist()
            columns["margin"] += support.margin.tolist()
            columns["weight"] += support.weights.tolist()
    types_of = {
        "size": "int64",
        "objective": "float64",
        "id": "uint64",
        "margin": "int64",
        "weight": "float64",
    }
    return build_frame(columns, types_of, backend)
