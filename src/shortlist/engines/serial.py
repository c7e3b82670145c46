"""One process, blocks in order."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import (
    Algorithm,
    BadRow,
    DataError,
    Head,
    Observer,
    Progress,
    RowBlock,
    RowSource,
)
from shortlist._units import first_rows
from shortlist.engines.checkpoints import Keeper, Place, Snapshot
from shortlist.kernels.csr import row_slice
from shortlist.sources.ahead import read_ahead

#: Rows whose labels an algorithm may look at before it starts.
HEAD_ROWS = 1000
#: Nonzeros of a pipe that may be held back meanwhile: 32 MB.
HEAD_NONZEROS = 1 << 21


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


def look_at_head(source: RowSource) -> tuple[Head, Iterator[RowBlock]]:
    """How the data begin, and all blocks from the first.

    However rows are cut into blocks, and whenever a pipe brings them, these are the same:
    ``HEAD_ROWS`` labels and all that ``first_rows`` takes. Rows may be long, so beyond a
    block they are not kept if the source can give them again. Of a pipe as many are kept,
    and looked at, as have ``HEAD_NONZEROS`` together.
    """
    blocks = iter(source.blocks())
    most = np.inf if source.reiterable else HEAD_NONZEROS
    head: list[RowBlock] = []
    rows: tuple[RowBlock, ...] = ()
    labels: list[float] = []
    n_rows = nonzeros = 0
    full = False  # whether there are rows beyond those that tell of values
    while (len(labels) < HEAD_ROWS or not full) and nonzeros <= most:
        try:
            block = next(blocks, None)
        except DataError as error:
            if len(labels) < HEAD_ROWS:
                raise
            blocks = _breaking(error)  # there is something to learn from before
            break
        if block is None:
            break
        n_rows += block.n_rows
        if not full:
            rows = first_rows((*rows, block))
            full = sum(part.n_rows for part in rows) < n_rows
        # Row by row, so that how many are looked at does not depend on blocks.
        n_seen = int(np.searchsorted(nonzeros + block.indptr[1:], most, "right"))
        if len(labels) < HEAD_ROWS:
            labels += block.y[: max(n_seen, not labels)][:HEAD_ROWS].tolist()
        nonzeros += len(block.ids)
        if len(head) < 2 or not source.reiterable:
            head.append(block)
    if source.reiterable and len(head) > 1:
        head, blocks = [], iter(source.blocks())
    first = np.array(labels[:HEAD_ROWS])
    every = getattr(source, "all_labels", None)  # of rows that are in memory
    return Head(first if every is None else every, rows), _chained(head, blocks)


def _breaking(error: DataError) -> Iterator[RowBlock]:
    """Break off, once somebody asks for a block."""
    raise error
    yield


def _chained(head: list[RowBlock], blocks: Iterator[RowBlock]) -> Iterator[RowBlock]:
    """Yield blocks already read, which are then forgotten, and the others."""
    while head:
        yield head.pop(0)
    yield from blocks


class _Ready(NamedTuple):
    """What ``step`` takes, and what there is to know about the block it is made of."""

    work: Any
    n_rows: int
    position: int


def _stream(
    algorithm: Algorithm[Any, Any],
    state: Any,
    source: RowSource,
    blocks: Iterator[RowBlock],
) -> Generator[_Ready]:
    """Yield blocks as the algorithm can work on them before their turn.

    What is counted in bytes is parsed, and worked on ahead, by a thread of its own; rows
    in memory need no parsing.
    """
    ahead = getattr(algorithm, "ahead", None)

    def worked_on() -> Iterator[_Ready]:
        for block in blocks:
            work = block if ahead is None else ahead(state, block)
            yield _Ready(work, block.n_rows, block.position)
            del block, work  # whoever takes them should be the last to hold them

    yield from read_ahead(worked_on()) if source.unit == "bytes" else worked_on()


def _next_stream(
    algorithm: Algorithm[Any, Any], state: Any, source: RowSource
) -> Generator[_Ready]:
    """Yield what a pass after the first is about: kept rows, or blocks from the source."""
    replay = getattr(algorithm, "replay", None)
    kept = None if replay is None else replay(state)
    if kept is None:
        yield from _stream(algorithm, state, source, iter(source.blocks()))
    else:
        for rows in kept:
            yield _Ready(rows, rows.n_read, rows.position)


def run(
    algorithm: Algorithm[Any, Any],
    source: RowSource,
    observe: Observer | None = None,
    *,
    keeper: Keeper | None = None,
    resume: Snapshot | None = None,
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
    keeper : Keeper, default=None
        Writes checkpoints now and then, and may ask for a stop between two blocks.
    resume : Snapshot, default=None
        Where an earlier run of the same algorithm on the same source was left.

    Returns
    -------
    result
        Whatever the algorithm's ``result`` gives.

    Raises
    ------
    Interrupted
        On Ctrl-C or if the keeper asks for it, with the result as far as it had come.
    Broken
        A DataError after the first thousand rows, with the result likewise.
    """
    if resume is None:
        head, blocks = look_at_head(source)
        if not len(head.labels):
            raise DataError(f"{source.name}: expected rows to learn from, got none")
        state, place = algorithm.start(source, head), Place()
        del head
    else:
        state, place = resume
        blocks = after(source.blocks(), place.rows)
    stream = _stream(algorithm, state, source, blocks)
    try:
        while True:
            for ready in stream:
                algorithm.step(state, ready.work)
                n, position = ready.n_rows, ready.position
                del ready  # the next one may be made in its room
                _forget_names(algorithm, state, source, position)
                place = place._replace(rows=place.rows + n, learned=place.learned + n)
                if observe is not None:
                    observe(_progress(algorithm, state, source, place, position))
                if keeper is not None:
                    _keep(keeper, Snapshot(state, place))
            if keeper is not None:  # what follows, refits and scores, may take a while
                keeper.save(Snapshot(state, place))
            if not algorithm.next_pass(state):
                return algorithm.result(state, source)
            stream = _next_stream(algorithm, state, source)
            place = Place(place.pass_number + 1, 0, place.learned)
    except KeyboardInterrupt:
        stream.close()
        raise Interrupted(algorithm.result(state, source)) from None
    except DataError as error:
        stream.close()
        if isinstance(error, BadRow):
            error = error.located(source)
        if place.learned < HEAD_ROWS:
            raise error from None
        raise Broken(str(error), algorithm.result(state, source)) from error


def _forget_names(
    algorithm: Algorithm[Any, Any], state: Any, source: RowSource, position: int
) -> None:
    """Have a pipe forget, now and then, the names that no result can need any more."""
    candidates = getattr(algorithm, "candidates", None)
    if candidates is not None and getattr(source, "crowded", False):
        source.retain(candidates(state), position)  # type: ignore[attr-defined]


def _keep(keeper: Keeper, snapshot: Snapshot) -> None:
    """Write a checkpoint if it is time, or if it is the last one."""
    stops = keeper.wants_stop()
    if stops or keeper.is_due():
        keeper.save(snapshot)
    if stops:
        raise KeyboardInterrupt


def after(blocks: Iterator[RowBlock], n_rows: int) -> Iterator[RowBlock]:
    """Yield blocks without their first rows."""
    for block in blocks:
        if n_rows < block.n_rows:
            yield row_slice(block, n_rows, block.n_rows)
        n_rows = max(0, n_rows - block.n_rows)


def _progress(
    algorithm: Algorithm[Any, Any],
    state: Any,
    source: RowSource,
    place: Place,
    position: int,
) -> Progress:
    stage, loss, accuracy = algorithm.standing(state)
    where = (position, source.size, source.unit, place.rows)
    return Progress(place.pass_number, stage, *where, loss, accuracy)
