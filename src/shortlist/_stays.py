"""Who was a member from when to when: the stays in a trace, feature by feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._protocols import Ints
from shortlist._shortlist import Shortlist


class Member(NamedTuple):
    """A feature of one margin that was a member at some time."""

    margin: int
    number: int  #: id of the feature
    chosen: bool  #: whether it is one in the end
    stays: Ints  #: (n_stays, 2): entered and left, in examples


def has_stays(shortlist: Shortlist) -> bool:
    """Whether a result says who was a member when."""
    return "stay_ids" in shortlist.trace


def longest_members(shortlist: Shortlist, most: int) -> tuple[list[Member], int]:
    """Those that were members longest, in the order of coming, and how many there were.

    Parameters
    ----------
    shortlist : Shortlist
        With stays in its trace.
    most : int
        How many to give.
    """
    trace = shortlist.trace
    entered, left = trace["stay_entered"], trace["stay_left"]
    keys = np.stack([trace["stay_margin"].astype(np.uint64), trace["stay_ids"]], axis=1)
    pairs, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.ravel()
    total = np.bincount(which, left - entered, len(pairs))
    first = np.full(len(pairs), np.iinfo(np.int64).max)
    np.minimum.at(first, which, entered)
    longest = np.argsort(-total, kind="stable")[:most]
    chosen = set(zip(shortlist.margin.tolist(), shortlist.ids.tolist(), strict=True))
    members = []
    for pair in longest[np.argsort(first[longest], kind="stable")].tolist():
        margin, number = (int(part) for part in pairs[pair])
        own = which == pair
        stays = np.stack([entered[own], left[own]], axis=1)
        members.append(Member(margin, number, (margin, number) in chosen, stays))
    return members, len(pairs)
