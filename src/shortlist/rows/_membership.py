"""A picture of a support over time: who was a member from when to when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shortlist._protocols import ShortlistError
from shortlist._shortlist import Shortlist
from shortlist._shortlist_text import printable
from shortlist._stays import has_stays, longest_members

_CHOSEN, _GONE = "#1f77b4", "#b0b0b0"


def draw_membership(
    shortlist: Shortlist,
    ax: Any,
    most: int,
    name_of: Callable[[int], str] | None = None,
) -> Any:
    """Draw a bar for each stay of a feature among the members.

    Parameters
    ----------
    shortlist : Shortlist
        With stays in its trace.
    ax : matplotlib axes or None
    most : int
        Features to draw, those that were members longest.
    name_of : callable, default=None
        Names, by id, of features that the shortlist does not name. It names those it
        chose and those that were members longest.
    """
    if not has_stays(shortlist):
        raise ShortlistError(
            f"a shortlist by {shortlist.method} does not say who was a member when"
        )
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ShortlistError(
            "plot_membership needs matplotlib: pip install 'shortlist[plot]'"
        ) from None
    members, _ = longest_members(shortlist, most)
    if ax is None:
        height = 1.5 + 0.2 * len(members)
        ax = pyplot.subplots(figsize=(8.0, height), layout="constrained")[1]
    names = _names_of(shortlist)
    labels = []
    for y, member in enumerate(members):
        spans = [(begin, end - begin) for begin, end in member.stays.tolist()]
        colour = _CHOSEN if member.chosen else _GONE
        ax.broken_barh(spans, (y - 0.4, 0.8), color=colour)
        name = names.get(member.number)
        if name is None:
            number = member.number
            name = f"#{number}" if name_of is None else name_of(number)
        labels.append(_label(shortlist, member.margin, name))
    ax.set_yticks(range(len(members)), labels)
    ax.invert_yaxis()
    ax.set_xlabel("examples")
    ax.set_title(f"members of {shortlist.method}, blue if chosen in the end")
    return ax


def _names_of(shortlist: Shortlist) -> dict[int, str]:
    """Names by id, of features that left too."""
    names = shortlist.names_by_id()
    if "left_ids" in shortlist.trace:
        ids, left = shortlist.trace["left_ids"], shortlist.trace["left_names"]
        names = dict(zip(ids.tolist(), left.tolist(), strict=True)) | names
    return names


def _label(shortlist: Shortlist, margin: int, name: str) -> str:
    name = printable(name)[:30].replace("$", r"\$")
    if shortlist.n_margins == 1:
        return name
    return f"{shortlist.margin_labels[margin]}: {name}"
