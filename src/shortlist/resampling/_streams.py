"""Many models that learn from one stream, each from a half of its rows of its own.

Rows are parsed once, whatever the number of models. Which half of a pair a row belongs to
is a coin: a hash of the row's number, the pair and the seed, so nothing has to be
remembered, and blocks do not matter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from shortlist._protocols import (
    DataError,
    Head,
    Ids,
    Ints,
    Progress,
    RowBlock,
    RowSource,
    ShortlistError,
    Standing,
    knowing_groups,
    rows_apart,
)
from shortlist._shortlist import Shortlist
from shortlist._splits import check_all_came, groups_of
from shortlist.engines import Interrupted, run
from shortlist.kernels.csr import draw_rows, take_rows
from shortlist.resampling._bounds import check_threshold
from shortlist.resampling._result import Stability, Tally
from shortlist.sources import open_source
from shortlist.sources.pairs import has_pairs, with_pairs_as

#: Share of the free memory that models of halves may take.
_SHARE_OF_FREE = 0.5


def stability_of_source(
    selector: Any,
    data: Any,
    n_pairs: int,
    threshold: float,
    seed: int,
    watch: Callable[[str, int, int], None] | None = None,
) -> Stability:
    """Stability of an online selector on rows that come by; see ``stability``."""
    if not hasattr(selector, "fit_source"):
        raise ShortlistError(
            f"{type(selector).__name__} needs all rows at once: give X and y"
        )
    selector._check_request()
    opened, groups = rows_apart(open_source(data))
    learner = selector._learner(reiterable=opened.reiterable)
    learner = knowing_groups(learner, groups)
    resampled = Resampled(learner, n_pairs, threshold, seed, groups)

    def observe(now: Progress) -> None:
        if watch is not None:
            watch(now.stage, now.position, now.size or 0)

    try:
        run(resampled, with_pairs_as(learner.params, opened), observe)
    except Interrupted:
        if resampled.found is None:
            raise
        raise Interrupted(resampled.found) from None
    assert resampled.found is not None
    return resampled.found


@dataclass
class ResampledState:
    """The model that is asked for, and those of halves, pair by pair."""

    main: Any
    halves: list[Any]
    running: list[bool]  #: whether each of them wants more, the main one first
    free_memory: float  #: bytes, when it began
    n_rows: int = 0  #: that have come by, up to the last one of the last block


@dataclass
class Resampled:
    """An online learner, and twice ``n_pairs`` of its kind, as one algorithm for engines.

    Its result is that of the learner, with the shares of halves that chose each feature.

    Parameters
    ----------
    learner : OnlineLearner
    n_pairs : int
    threshold : float, default=0.75
    seed : int, default=0
    groups : ndarray of shape (n_rows,), default=None
        Group of each row, by its number; the coin is then thrown for groups.

    Attributes
    ----------
    found : Stability or None
        All that is known about it, once there is a result.
    """

    learner: Any
    n_pairs: int
    threshold: float = 0.75
    seed: int = 0
    groups: np.ndarray | None = None
    found: Stability | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        states = np.random.SeedSequence(self.seed).generate_state(3 * self.n_pairs)
        self._coins = states[: self.n_pairs].tolist()
        # Hashes of their own: features that collide in one sketch do not in all.
        self._halves = [
            _seeded(self.learner, s) for s in states[self.n_pairs :].tolist()
        ]
        if self.groups is not None:
            self._group = np.unique(self.groups, return_inverse=True)[1]

    def _groups_of_half(self, number: int) -> Ints | None:
        """Groups of the rows of a half, which may set some of them apart."""
        if self.groups is None:
            return None
        pair, side = divmod(number, 2)
        drawn = self._drawn(self._coins[pair])[self._group]
        return np.asarray(self._group[drawn == bool(side)])

    def _drawn(self, coin: int) -> np.ndarray:
        """Throw a coin for each group."""
        return draw_rows(0, int(self._group.max()) + 1, coin, 0.5)

    def _heads(self, block: RowBlock, coin: int) -> np.ndarray:
        """Throw a coin for each row of a block, or for the group it belongs to."""
        if self.groups is None:
            return draw_rows(block.first_row, block.n_rows, coin, 0.5)
        own = groups_of(self._group, block.first_row, block.n_rows)
        return np.asarray(self._drawn(coin)[own])

    @property
    def k(self) -> int:
        """The budget."""
        return int(self.learner.k)

    @property
    def params(self) -> Any:
        """Settings of the learner."""
        return self.learner.params

    def start(self, source: RowSource, head: Head) -> ResampledState:
        """Fresh models; all see how the data begin, to decide alike."""
        main = self.learner.start(source, head)
        free = _free_memory()
        self._check_memory(main, free)
        # what comes of groups goes into the states
        halves = [
            knowing_groups(half, self._groups_of_half(number)).start(source, head)
            for number, half in enumerate(self._halves)
        ]
        for state in (main, *halves):
            state.parses = False  # restricted rows of so many models need no files
        return ResampledState(main, halves, [True] * (1 + len(halves)), free)

    def step(self, state: ResampledState, block: RowBlock) -> None:
        """Let each model learn from its rows of a block."""
        state.n_rows = block.first_row + block.n_rows
        if state.running[0]:
            self.learner.step(state.main, block)  # first: it finds what cannot be read
            self._check_memory(state.main, state.free_memory)
        for pair, coin in enumerate(self._coins):
            if not any(state.running[1 + 2 * pair : 3 + 2 * pair]):
                continue
            heads = self._heads(block, coin)
            for side in (0, 1):
                own, rows = 2 * pair + side, np.flatnonzero(heads == bool(side))
                if state.running[1 + own] and len(rows):
                    self._halves[own].step(state.halves[own], take_rows(block, rows))

    def next_pass(self, state: ResampledState) -> bool:
        """Close a pass; another one follows if any model wants it."""
        if self.groups is not None:
            check_all_came(self.groups, state.n_rows)
        learners = (self.learner, *self._halves)
        models = (state.main, *state.halves)
        state.running = [
            running and learner.next_pass(model)
            for running, learner, model in zip(
                state.running, learners, models, strict=True
            )
        ]
        return any(state.running)

    def standing(self, state: ResampledState) -> Standing:
        """How the model that is asked for does."""
        standing: Standing = self.learner.standing(state.main)
        return standing

    def candidates(self, state: ResampledState) -> Ids:
        """Ids of all features that some result could have now."""
        held = [self.learner.candidates(state.main)]
        pairs = zip(self._halves, state.halves, strict=True)
        held += [half.candidates(model) for half, model in pairs]
        return np.unique(np.concatenate(held))

    def result(self, state: ResampledState, source: RowSource) -> Shortlist:
        """What has been learned so far, with the shares of halves that agree."""
        tally = self._tally(state, source)
        naming = _Naming(source, tally.ids(np.empty(0, np.uint64)))
        shortlist: Shortlist = self.learner.result(state.main, naming)
        if not tally.n_pairs:
            return shortlist
        self.found = Stability(
            tally,
            shortlist,
            naming.known,
            asked=self.n_pairs,
            n_features=self._n_features(shortlist, source),
            threshold=self.threshold,
        )
        assert self.found.shortlist is not None
        return self.found.shortlist

    def _tally(self, state: ResampledState, source: RowSource) -> Tally:
        tally, unnamed = Tally(), _Naming(source, None)
        for pair in range(self.n_pairs):
            own = (2 * pair, 2 * pair + 1)
            try:
                results = [
                    self._halves[i].result(state.halves[i], unnamed) for i in own
                ]
            except DataError:  # broken off before a half had rows that say something
                continue
            tally.add(results[0].support, results[1].support)
        return tally

    def _n_features(self, shortlist: Shortlist, source: RowSource) -> int | None:
        """Features to choose from: as the source says, or as many names as there were.

        Those that no model may choose are not among them: columns taken out of rows in
        memory (``left_out``), and what ``never`` names unless the source skips it.
        """
        if has_pairs(shortlist.params):
            return None
        known = shortlist.n_features or getattr(source, "n_names", None)
        if not known:
            return None
        skipped = getattr(source, "leave_out", ())
        never = source.ids([name for name in self.learner.never if name not in skipped])
        barred = np.union1d(never, getattr(source, "left_out", never[:0]))
        return max(1, int(known) - len(barred))

    def _check_memory(self, main: Any, free: float) -> None:
        """Refuse, before the system does, more models than there is memory for."""
        size = _held_bytes(main.model)
        needed = 2 * self.n_pairs * size
        if needed > _SHARE_OF_FREE * free:
            room = int(_SHARE_OF_FREE * free / (2 * size))
            raise ShortlistError(
                f"{self.n_pairs} pairs of halves need {2 * self.n_pairs} models of "
                f"{size / 1e6:.3g} MB, {needed / 1e9:.3g} GB in all, and "
                f"{free / 1e9:.3g} GB are free: try {max(1, room)} pairs, or less memory "
                "for each model"
            )


def _seeded(learner: Any, seed: int) -> Any:
    """The same learner with another seed, if it has one."""
    rule = learner.rule
    if is_dataclass(rule) and any(part.name == "seed" for part in fields(rule)):
        return replace(learner, rule=replace(rule, seed=seed))  # type: ignore[type-var]
    return learner


class _Naming:
    """A source that is asked for names once, also for those of features of halves.

    To name features that are words a file is read again, so once has to be enough. With
    ``others=None`` it names by numbers, without asking anyone.
    """

    def __init__(self, base: RowSource, others: Ids | None) -> None:
        self._base, self._others = base, others
        self._known: dict[int, str] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)

    def names(self, ids: Ids) -> list[str]:
        if self._others is None:
            return [str(i) for i in ids.tolist()]
        every = np.union1d(ids, self._others)
        self._known |= dict(zip(every.tolist(), self._base.names(every), strict=True))
        self._others = self._others[:0]
        return self.known(ids)

    def known(self, ids: Ids) -> list[str]:
        return [self._known[i] for i in ids.tolist()]


def _held_bytes(value: Any) -> int:
    """Bytes of all arrays within a model."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_dataclass(value) and not isinstance(value, type):
        parts: Sequence[Any] = [getattr(value, part.name) for part in fields(value)]
    elif isinstance(value, tuple | list):
        parts = value
    else:
        return 0
    return sum(map(_held_bytes, chain(parts)))


def _free_memory() -> float:
    """Bytes that programs may still take; without end where the system does not tell."""
    try:
        with open("/proc/meminfo") as lines:
            told = dict(line.split(":", 1) for line in lines)
        return 1024.0 * int(told["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError):
        return float("inf")
