"""A result with warnings of leaks, which are looked for once the choice is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shortlist._leaks import UNSEARCHED
from shortlist._shortlist import Shortlist
from shortlist.engines import Interrupted


def warned(chosen: Shortlist, look: Callable[[], Sequence[str]]) -> Shortlist:
    """The same with the warnings that a look at the data gives.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the choice, which is done.
    """
    try:
        found = look()
    except KeyboardInterrupt:
        kept = replace(chosen, notes=(*chosen.notes, UNSEARCHED))
        raise Interrupted(kept) from None
    return replace(chosen, notes=(*chosen.notes, *found))
