"""Files that hold all that a run on one shard has learned, to be merged with others."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from shortlist import storage
from shortlist._online import OnlineLearner, OnlineState
from shortlist._protocols import DataError, Ids, RowSource, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.engines.states import flatten, unflatten
from shortlist.sketch._merging import (
    check_mergeable,
    check_rows,
    check_settings,
    merged,
)
from shortlist.sources._meaning import Meaning, joined, meaning_of

KIND, VERSION = "shard", 1


@dataclass(frozen=True)
class Shard:
    """What a run has learned, how, and what its candidates are called."""

    learner: OnlineLearner
    state: OnlineState
    names: Mapping[int, str]
    runs: tuple[
        str, ...
    ] = ()  #: marks of the runs that it is the sum of; none: one run
    rows: Meaning = field(default_factory=dict)  #: what they stand for; empty: unknown

    @property
    def marks(self) -> tuple[str, ...]:
        """What tells runs apart: a digest of what each has learned."""
        model = self.state.model
        if self.runs:
            return self.runs
        learned = (model.sketch.cells, model.bias, model.totals)
        return (
            hashlib.sha256(b"".join(part.tobytes() for part in learned)).hexdigest(),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to a file."""
        ids = np.array(sorted(self.names), np.uint64)
        tree, arrays = flatten(
            {"learner": self.learner, "state": self.state, "ids": ids}
        )
        names = [self.names[i] for i in sorted(self.names)]
        known = {"names": names, "runs": list(self.marks), "rows": dict(self.rows)}
        header = {"content": tree, **known}
        storage.save(path, kind=KIND, version=VERSION, header=header, arrays=arrays)

    def shortlist(self) -> Shortlist:
        """What a run would give that ended here."""
        return self.learner.result(self.state, _Named(self.names))  # type: ignore[arg-type]


def load_shard(path: str | os.PathLike[str]) -> Shard:
    """Read what ``Shard.save`` wrote."""
    header, arrays = storage.load(path, kind=KIND, version=VERSION)
    try:
        content = unflatten(header["content"], arrays)
        names = zip(content["ids"].tolist(), header["names"], strict=True)
        runs = tuple(map(str, header["runs"]))
        learner, state = content["learner"], content["state"]
        return Shard(learner, state, dict(names), runs, header.get("rows", {}))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ShortlistError):
            raise
        raise DataError(f"{os.fspath(path)}: a damaged shard ({error})") from None


def merge_shards(shards: Sequence[Shard]) -> Shard:
    """Add up what runs on several shards have learned."""
    first = shards[0]
    for shard in shards:
        check_mergeable(shard.learner)
        check_settings(first.learner, shard.learner)
        check_rows(first.rows, shard.rows)
    state = merged(first.learner, [shard.state for shard in shards])
    names = {i: name for shard in shards for i, name in shard.names.items()}
    kept = set(first.learner.candidates(state).tolist())
    n_runs = sum(len(shard.marks) for shard in shards)
    params = {**first.learner.params, "shards": n_runs}
    return Shard(
        replace(first.learner, params=params),
        state,
        {i: name for i, name in names.items() if i in kept},
        tuple(mark for shard in shards for mark in shard.marks),
        reduce(joined, (shard.rows for shard in shards)),
    )


def check_apart(shards: Mapping[str, Shard]) -> None:
    """Refuse shards, by the names of their files, of which two have a run in common."""
    home: dict[str, str] = {}
    for path, shard in shards.items():
        for mark in shard.marks:
            if (other := home.setdefault(mark, path)) != path:
                raise ShortlistError(
                    f"{other} and {path} have a run in common, whose rows would count "
                    "twice; leave one of them out"
                )


class Saving:
    """A learner that writes a shard's file whenever it gives a result."""

    def __init__(self, learner: Any, path: str | os.PathLike[str]) -> None:
        self._learner, self._path = learner, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._learner, name)

    def result(self, state: OnlineState, source: RowSource) -> Shortlist:
        """Write what was learned so far, and give the result of it."""
        learner = getattr(self._learner, "plain", self._learner)
        ids = learner.candidates(state)
        names = dict(zip(ids.tolist(), source.names(ids), strict=True))
        Shard(learner, state, names, rows=meaning_of(source)).save(self._path)
        shortlist: Shortlist = learner.result(state, source)
        return shortlist


class _Named:
    """As much of a source as it takes to name features."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.name = "merged shards"
        self._names = names

    def names(self, ids: Ids) -> list[str]:
        return [self._names[i] for i in ids.tolist()]
