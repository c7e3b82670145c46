"""The summary of a shortlist: all that a report tells, as JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from shortlist._budget_units import budget_in_units
from shortlist._findings import (
    facts_of,
    looked_for_substitutes,
    shares_of,
    substitutes_of,
)
from shortlist._shortlist import Shortlist
from shortlist._shortlist_text import pure_json, ranks
from shortlist.report._budget import budget_of, finite
from shortlist.report._course import (
    exchanges_of,
    iterations_of,
    membership_of,
    stream_of,
)
from shortlist.report._facts import facts
from shortlist.report._origin import capabilities_of, reproduce
from shortlist.report._words import ROOMS, loss_in_words, settings

FORMAT = 1  #: rises when a key changes its meaning
#: Features that halves chose though the list has them not: those told.
MOST_OTHERS = 20


def summary(shortlist: Shortlist) -> dict[str, Any]:
    """Sum up a shortlist; docs/report.md has the meaning of each key.

    Parameters
    ----------
    shortlist : Shortlist

    Returns
    -------
    dict
        JSON values only. Parts that the shortlist knows nothing of are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.report import summary
    >>> from shortlist.sketch import Mission
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> chosen = Mission(k=2).fit(X, X[:, 3] > X[:, 8]).shortlist_
    >>> sorted(summary(chosen)["entries"]["name"])
    ['x3', 'x8']
    """
    capabilities = capabilities_of(shortlist)
    names = _all_names(shortlist)
    parts: dict[str, Any] = {
        "format": FORMAT,
        "version": shortlist.version,
        "asked": _asked(
            shortlist, None if capabilities is None else capabilities.summary
        ),
        "task": _task(shortlist),
        "classes": None if shortlist.classes is None else _texts(shortlist.classes),
        "margins": _texts(shortlist.margin_labels),
        "intercept": shortlist.intercept.tolist(),
        "n_selected": shortlist.n_selected,
        "n_features": shortlist.n_features,
        "n_examples": shortlist.n_examples,
        "entries": _entries(shortlist),
        "stability": _stability(shortlist),
        "substitutes": _substitutes(shortlist),
        "budget": budget_of(shortlist, names),
        "stream": stream_of(shortlist),
        "iterations": iterations_of(shortlist),
        "membership": membership_of(shortlist, names),
        "exchanges": exchanges_of(shortlist),
        "facts": facts(shortlist),
        "holdout": pure_json(shortlist.params.get("holdout")),
        "notes": list(shortlist.notes),
        "reproduce": reproduce(shortlist, capabilities),
        "citation": None if capabilities is None else capabilities.citation,
    }
    optional = {"stability", "substitutes", "budget", "stream", "iterations"}
    optional |= {"membership", "exchanges", "holdout"}
    return {
        key: part
        for key, part in parts.items()
        if part is not None or key not in optional
    }


def _asked(shortlist: Shortlist, about: str | None) -> dict[str, Any]:
    k, unit = budget_in_units(shortlist)
    return {
        "method": shortlist.method,
        "about": about,
        "room": shortlist.room,
        "room_about": ROOMS.get(shortlist.room),
        "loss": shortlist.loss,
        "loss_about": loss_in_words(shortlist.loss),
        "k": k,
        "k_asked": "auto" if "k_auto" in shortlist.params else k,
        "k_counts": unit,
        "picked": shortlist.params.get("picked", {}).get("why"),
        "budget": shortlist.budget,
        "settings": settings(shortlist.room, shortlist.params),
    }


def _texts(labels: Iterable[Any]) -> list[str]:
    return [str(label) for label in labels]


def _task(shortlist: Shortlist) -> str:
    """Say what is predicted: two classes, several, a number or several of them."""
    several = shortlist.n_margins > 1
    if shortlist.is_classifier:
        return "multiclass" if several else "binary"
    return "outputs" if several else "regression"


def _entries(shortlist: Shortlist) -> dict[str, Any]:
    weights, errors = shortlist.weights, shortlist.errors
    shares = shares_of(shortlist)
    columns: dict[str, Any] = {
        "rank": ranks(shortlist).tolist(),
        "name": list(shortlist.names),
        "id": _texts(shortlist.ids.tolist()),  # too large for JavaScript to count
        "margin": shortlist.margin.tolist(),
        "score": finite(shortlist.scores),
    }
    if weights is not None:
        columns["weight"] = weights.tolist()
    if errors is not None and np.isfinite(errors).any():
        columns["error"] = finite(errors)
    if shares is not None:
        columns["stability"] = [None if s is None else finite([s])[0] for s in shares]
    return columns


def _stability(shortlist: Shortlist) -> dict[str, Any] | None:
    """How halves of the examples agreed, and what else they chose."""
    facts = facts_of(shortlist)
    if facts is None or "stability_names" not in shortlist.trace:
        return None
    trace, chosen = shortlist.trace, set(shortlist.ids.tolist())
    parts = [trace[f"stability{part}"].tolist() for part in ("_ids", "_names", "")]
    others = [
        {"name": name, "share": share}
        for feature, name, share in zip(*parts, strict=True)
        if feature not in chosen
    ]
    return facts._asdict() | {"others": others[:MOST_OTHERS]}


def _substitutes(shortlist: Shortlist) -> dict[str, Any] | None:
    """Who could take the place of whom, as columns; empty ones if nobody could."""
    if not looked_for_substitutes(shortlist):
        return None
    found = substitutes_of(shortlist)
    return {
        "name": [s.name for s in found],
        "substitute": [s.substitute for s in found],
        "kept": finite([s.kept for s in found]),
        "loss_increase": finite([s.loss_increase for s in found]),
    }


def _all_names(shortlist: Shortlist) -> dict[int, str]:
    """Names by id, also of features that left."""
    trace, names = shortlist.trace, shortlist.names_by_id()
    if "left_ids" not in trace or "left_names" not in trace:
        return names
    ids, left = trace["left_ids"].tolist(), trace["left_names"].tolist()
    return dict(zip(ids, left, strict=True)) | names
