"""Text with a row a line whose features have names: ids are hashes, and back again.

Names are not kept, so memory does not grow with them: to name features, files are read
once more. Pipes cannot be: of them names are kept as long as they may be needed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from shortlist._protocols import Ids
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources._distinct_names import DistinctNames
from shortlist.sources._files import Paths
from shortlist.sources._lines import LineFormat, LineSource, Reader
from shortlist.sources._name_stores import MetNames, Names, WantedNames


class NamingFormat(LineFormat, Protocol):
    """A format whose lines have names of features in them."""

    names: Names | None  #: who wants to know them

    def looking_for(self, names: Names) -> NamingFormat:
        """Give the same format for a reader who wants the names and nothing else."""
        ...


class HashedLineSource(LineSource):
    """Rows of text files in some format, with ids that are hashes of names.

    Subclasses say which bytes a name has in ``_encoded``.
    """

    _met: MetNames | None = None

    def __init__(
        self,
        paths: Paths,
        form: NamingFormat,
        *,
        on_error: str,
        block_bytes: int,
        seed: int,
    ):
        super().__init__(paths, form, on_error=on_error, block_bytes=block_bytes)
        self.seed = seed
        self._naming = form
        if not self.reiterable:
            form.names = self._met = MetNames()
        self._distinct = DistinctNames()
        self._known: dict[int, str] = {}

    @abstractmethod
    def _encoded(self, name: str) -> bytes:
        """Bytes that are hashed for a name; raises if no feature can have it."""

    def names(self, ids: Ids) -> list[str]:
        """Names of features; of files they are looked up in the text."""
        if self._met is not None:
            self._known |= self._met.found(ids)
        elif unknown := [
            number for number in ids.tolist() if number not in self._known
        ]:
            self._look_up(np.unique(np.array(unknown, np.uint64)))
        return [self._known.get(number, f"#{number:016x}") for number in ids.tolist()]

    def ids(self, names: Sequence[str]) -> Ids:
        """Ids that the names have wherever they occur."""
        ids: Ids = hash_bytes([self._encoded(name) for name in names], self.seed)
        self._known |= zip(ids.tolist(), names, strict=True)
        return ids

    def _look_up(self, ids: Ids) -> None:
        """Read the text until the names of all these are known."""
        wanted = WantedNames(self.name, ids)
        form = self._naming.looking_for(wanted)
        for file in self._files:
            # bad lines are of no concern here: somebody else reports them
            for _ in Reader(file, form, self.block_bytes, True).blocks():
                if wanted.complete:
                    break
            if wanted.complete:
                break
        self._known |= wanted.found(ids)
