"""Which blocks have been parsed but not been learned from yet.

A thread parses ahead, views hold rows back and leave some out, so nobody can say how many
blocks are on their way. But all keep the ``position`` of blocks, and it never decreases:
whoever says how far he has learned says which blocks he will not see any more.
"""

from __future__ import annotations

from collections import deque

_MOST_ENDS = 4096


class Unlearned:
    """Numbers blocks as they are parsed, and forgets those that have been learned.

    Examples
    --------
    >>> blocks = Unlearned()
    >>> for position in (10, 20, 20, 30):
    ...     blocks.close(position)
    >>> blocks.first(after=10), blocks.first(after=20), blocks.now
    (0, 1, 4)
    """

    def __init__(self) -> None:
        self.now = 0  #: number of the block that is being parsed
        self._first = 0
        self._ends: deque[tuple[int, int]] = deque()

    def close(self, position: int) -> None:
        """Note where the block that was being parsed ends."""
        self._ends.append((self.now, position))
        self.now += 1
        if len(self._ends) > _MOST_ENDS:
            # Every other one will do: a block then counts as learned a bit later.
            self._ends = deque(list(self._ends)[1::2])

    def first(self, after: int) -> int:
        """Number of the first block that may not be learned, given how far all are.

        A block that ends at this very position may not be: packed text is unpacked by the
        piece, so several blocks may end at the same one.
        """
        while self._ends and self._ends[0][1] < after:
            self._first = self._ends.popleft()[0] + 1
        return self._first
