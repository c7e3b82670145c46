"""What smaller budgets would give: the path of a search, or the list cut short."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._held_out_curve import held_out_curve
from shortlist._protocols import Floats, Ints
from shortlist._shortlist import Shortlist
from shortlist._shortlist_text import ranks


def budget_of(shortlist: Shortlist, names: dict[int, str]) -> dict[str, Any] | None:
    """List and curve by budget; None if there is only one budget.

    Parameters
    ----------
    shortlist : Shortlist
    names : dict
        Names by id, also of features that are not on the list.
    """
    found = _path(shortlist, names) if _has_path(shortlist) else _cut(shortlist)
    curve = held_out_curve(shortlist)
    if found is None or curve is None:
        return found
    values = {
        "sizes": curve.sizes.tolist(),
        "score": finite(curve.values),
        "error": finite(curve.errors),
    }
    if curve.measure == "loss":
        values["loss"] = values.pop("score")
    else:
        values["measure"] = curve.measure
    found["held_out"] = values
    return found


def places(shortlist: Shortlist) -> Ints:
    """Smallest budget under which ``Shortlist.top`` would keep each entry."""
    if shortlist.budget == "per_class":
        return ranks(shortlist)
    best_first = np.lexsort((shortlist.ids, -shortlist.scores))
    order = {
        f: i for i, f in enumerate(dict.fromkeys(shortlist.ids[best_first].tolist()))
    }
    return np.array([order[f] + 1 for f in shortlist.ids.tolist()], np.int64)


def finite(values: Any) -> list[float | None]:
    """Numbers as JSON has them: None for those that are not finite."""
    array: Floats = np.asarray(values, np.float64)
    known = np.isfinite(array).tolist()
    return [x if ok else None for x, ok in zip(array.tolist(), known, strict=True)]


def _has_path(shortlist: Shortlist) -> bool:
    return len(shortlist.trace.get("path_sizes", ())) > 1


def _path(shortlist: Shortlist, names: dict[int, str]) -> dict[str, Any]:
    trace = shortlist.trace
    ids = trace["path_ids"].tolist()
    features = {f: i for i, f in enumerate(dict.fromkeys(ids))}
    feature = [features[f] for f in ids]
    margin = trace["path_margin"].tolist()
    # seven digits are all that single precision has
    weight = [float(f"{w:.7g}") for w in trace["path_weights"].tolist()]
    ends = trace["path_ends"].tolist()
    spans = [slice(first, end) for first, end in zip([0, *ends], ends, strict=False)]
    return {
        "kind": "path",
        "measure": "objective",
        "sizes": trace["path_sizes"].tolist(),
        "values": finite(trace["path_objective"]),
        "names": [names.get(f, str(f)) for f in features],
        "steps": [
            {"feature": feature[at], "margin": margin[at], "weight": weight[at]}
            for at in spans
        ],
    }


def _cut(shortlist: Shortlist) -> dict[str, Any] | None:
    place = places(shortlist)
    largest = int(place.max(initial=0))
    if largest < 2:
        return None
    scores = shortlist.scores
    sums = None
    if np.isfinite(scores).all():
        sums = finite(np.cumsum(np.bincount(place, scores, largest + 1))[1:])
    return {
        "kind": "cut",
        "measure": "cumulative score",
        "sizes": list(range(1, largest + 1)),
        "values": sums,
        "place": place.tolist(),
    }
