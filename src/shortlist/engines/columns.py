"""One process, blocks of columns in order, pass after pass."""

from __future__ import annotations

from typing import Any, Protocol

from shortlist._protocols import (
    ColumnBlock,
    ColumnSource,
    DataError,
    Observer,
    Progress,
)
from shortlist.engines.serial import Broken, Interrupted


class ColumnAlgorithm(Protocol):
    """What runs over columns: a state of its own, stepped through blocks."""

    def step(self, block: ColumnBlock) -> None:
        """Let the columns of a block arrive; where Ctrl-C would do harm, put it off."""
        ...

    def next_pass(self) -> bool:
        """Close a pass; True if another one is wanted."""
        ...

    def came_once(self) -> None:
        """There is no further pass, though one is wanted: columns come once."""
        ...

    def standing(self) -> tuple[int, float]:
        """Columns that have arrived in this pass, and the loss after the last one."""
        ...

    def result(self) -> Any:
        """What has been found so far; the state stays usable."""
        ...


def run_columns(
    algorithm: ColumnAlgorithm,
    source: ColumnSource,
    observe: Observer | None = None,
) -> Any:
    """Run an algorithm over columns, as many passes as it wants and the source allows.

    Parameters
    ----------
    algorithm : ColumnAlgorithm
    source : ColumnSource
    observe : callable, default=None
        Called with a Progress after every block.

    Returns
    -------
    result
        Whatever the algorithm's ``result`` gives.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the result as far as it had come.
    Broken
        A DataError after the first block, with the result likewise.
    """
    pass_number, seen = 1, 0
    try:
        while True:
            for block in source.blocks():
                algorithm.step(block)
                seen += len(block.names)
                del block  # the next one may be made in its room
                if observe is not None:
                    observe(_progress(algorithm, source, pass_number))
            if not seen:
                raise DataError(
                    f"{source.name}: expected columns to choose from, got none"
                )
            if not algorithm.next_pass():
                return algorithm.result()
            if not source.reiterable:
                algorithm.came_once()
                return algorithm.result()
            pass_number += 1
    except KeyboardInterrupt:
        raise Interrupted(algorithm.result()) from None
    except DataError as error:
        if not seen:
            raise
        raise Broken(str(error), algorithm.result()) from error


def _progress(
    algorithm: ColumnAlgorithm, source: ColumnSource, pass_number: int
) -> Progress:
    arrived, loss = algorithm.standing()
    size = source.n_columns
    return Progress(pass_number, "select", arrived, size, "columns", arrived, loss)
