"""How a run went: loss over examples or iterations, and who was a member when."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import Ints
from shortlist._shortlist import Shortlist
from shortlist._stays import has_stays, longest_members
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
    if not has_stays(shortlist) or not len(trace["stay_ids"]):
        return None
    members, n_members = longest_members(shortlist, MOST_MEMBERS)
    forgotten = trace.get("stays_forgotten")
    return {
        "unit": "examples",
        "end": int(trace["stay_left"].max()),
        "members": [
            {
                "name": names.get(member.number, f"#{member.number}"),
                "margin": member.margin,
                "chosen": member.chosen,
                "stays": _longest(member.stays).tolist(),
                "n_stays": len(member.stays),
            }
            for member in members
        ],
        "n_members": n_members,
        "n_forgotten": 0 if forgotten is None else int(forgotten.sum()),
    }


def _longest(stays: Ints) -> Ints:
    """Of many stays the longest, in the order of coming."""
    told = np.argsort(stays[:, 0] - stays[:, 1], kind="stable")[:MOST_STAYS]
    return stays[np.sort(told)]


def exchanges_of(shortlist: Shortlist) -> dict[str, Any] | None:
    """Features that came in, and those that left for them, in order."""
    trace = shortlist.trace
    parts = ("pass", "arrival", "entered", "left")
    if not len(trace.get("entered", ())) or any(part not in trace for part in parts):
        return None
    told = {part: trace[part][:MOST_EXCHANGES].tolist() for part in parts}
    return {**told, "n_exchanges": len(trace["entered"])}
