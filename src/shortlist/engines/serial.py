"""One process, blocks in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from shortlist._protocols import (
    Algorithm,
    BadLabel,
    DataError,
    Observer,
    Progress,
    RowBlock,
    RowSource,
)

#: Rows that an algorithm may look at before it starts.
HEAD_ROWS = 1000


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; carries what had been learned by then."""

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted")
        self.result = result


class Broken(DataError):
    """Bad data in mid-run; carries what had been learned by then."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


def first_rows(blocks: Iterator[RowBlock], n: int = HEAD_ROWS) -> list[RowBlock]:
    """Draw blocks until there are n rows, or no more."""
    head: list[RowBlock] = []
    rows = 0
    while rows < n and (block := next(blocks, None)) is not None:
        head.append(block)
        rows += block.n_rows
    return head


def run(
    algorithm: Algorithm[Any, Any], source: RowSource, observe: Observer | None = None
) -> Any:
    """Run an algorithm over a source, as many passes as it wants.

    Parameters
    ----------
    algorithm : Algorithm
        What to run.
    source : RowSource
        What to run it on.
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
        A DataError after the first thousand rows, with the result likewise.
    """
    blocks = iter(source.blocks())
    head = first_rows(blocks)
    if not head:
        raise DataError(f"{source.name}: expected rows to learn from, got none")
    state = algorithm.start(source, head)
    stream: Iterator[RowBlock] = chain(head, blocks)
    del head
    pass_number, learned = 1, 0
    try:
        while True:
            rows = 0
            for block in stream:
                algorithm.step(state, block)
                rows += block.n_rows
                learned += block.n_rows
                if observe is not None:
                    stage, loss = algorithm.standing(state)
                    observe(
                        Progress(
                            pass_number,
                            stage,
                            block.position,
                            source.size,
                            source.unit,
                            rows,
                            loss,
                        )
                    )
            if not algorithm.next_pass(state):
                return algorithm.result(state, source)
            stream = iter(source.blocks())
            pass_number += 1
    except KeyboardInterrupt:
        raise Interrupted(algorithm.result(state, source)) from None
    except DataError as error:
        if isinstance(error, BadLabel):
            error = error.located(source)
        if learned < HEAD_ROWS:
            raise error from None
        raise Broken(str(error), algorithm.result(state, source)) from error
