"""How a run went: loss over examples or iterations, and who was a member when."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._shortlist import Shortlist
from shortlist.report._budget import finite

#: Features whose stays are told, those that were members longest.
MOST_MEMBERS = 60
#: Stays that are told of each, and exchanges in all.
MOST_STAYS = 200
MOST_EXCHANGES = 2000


def stream_of(shortlist: Shortlist) -> dict[str, Any] | None:
    """Loss and accuracy of predictions made before each example was learned from."""
    trace = shortlist.trace
    if len(trace.get("rows", ())) < 2 or "loss" not in trace:
        return None
    out: dict[str, Any] = {"rows": trace["rows"].tolist()}
    for name in ("loss", "accuracy"):
        if name in trace:
            out[name] = finite(trace[name])
    return out


def iterations_of(shortlist: Shortlist) -> dict[str, Any] | None:
    """Objective after each iteration, or loss after each pass over the columns."""
    trace = shortlist.trace
    name, unit = (
        ("loss", "pass") if "entered_in_pass" in trace else ("objective", "step")
    )
    if len(trace.get(name, ())) < 2:
        return None
    return {"unit": unit, "measure": name, "values": finite(trace[name])}


def membership_of(shortlist: Shortlist, names: dict[int, str]) -> dict[str, Any] | None:
    """Stays of the features that were members longest, in the order of coming."""
    trace = shortlist.trace
    if not len(trace.get("stay_ids", ())):
        return None
    entered, left = trace["stay_entered"], trace["stay_left"]
    keys = np.stack([trace["stay_margin"].astype(np.uint64), trace["stay_ids"]], axis=1)
    pairs, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.ravel()
    total = np.bincount(which, left - entered, len(pairs))
    first = np.full(len(pairs), np.iinfo(np.int64).max)
    np.minimum.at(first, which, entered)
    longest = np.argsort(-total, kind="stable")[:MOST_MEMBERS]
    chosen = set(zip(shortlist.margin.tolist(), shortlist.ids.tolist(), strict=True))
    members = []
    for pair in longest[np.argsort(first[longest], kind="stable")].tolist():
        margin, number = (int(part) for part in pairs[pair])
        stays = np.flatnonzero(which == pair)
        told = stays[
            np.argsort(entered[stays] - left[stays], kind="stable")[:MOST_STAYS]
        ]
        told = np.sort(told)
        members.append(
            {
                "name": names.get(number, f"#{number}"),
                "margin": margin,
                "chosen": (margin, number) in chosen,
                "stays": np.stack([entered[told], left[told]], axis=1).tolist(),
                "n_stays": len(stays),
            }
        )
    forgotten = trace.get("stays_forgotten")
    return {
        "unit": "examples",
        "end": int(left.max()),
        "members": members,
        "n_members": len(pairs),
        "n_forgotten": 0 if forgotten is None else int(forgotten.sum()),
    }


def exchanges_of(shortlist: Shortlist) -> dict[str, Any] | None:
    """Features that came in, and those that left for them, in order."""
    trace = shortlist.trace
    parts = ("pass", "arrival", "entered", "left")
    if not len(trace.get("entered", ())) or any(part not in trace for part in parts):
        return None
    told = {part: trace[part][:MOST_EXCHANGES].tolist() for part in parts}
    return {**told, "n_exchanges": len(trace["entered"])}
