"""K-mers of an alphabet: letters into rows of ids, ids into names and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shortlist._protocols import DataError, Floats, Ids, Ints, ShortlistError
from shortlist.kernels.kmer_text import Words, list_words
from shortlist.kernels.repeats import Counter, add_up, counter_for
from shortlist.kernels.sequence_text import BREAK, letter_table
from shortlist.sources._files import Characters
from shortlist.sources._labels import check_choice

# The letter at place i stands for the bases whose bits are set in i: A 1, C 2, G 4, T 8.
_IUPAC = "-ACMGRSVTWYHKDBN"
_ALIASES = {"U": "T", ".": "-"}  # RNA, and the other way to write a gap


class Alphabet(NamedTuple):
    """Letters that k-mers are made of, and how many of them an id can hold."""

    letters: str  #: in the order of their codes
    complements: str  #: letter across from each of them
    longest: int  #: greatest k


ALPHABETS = {
    "dna": Alphabet("ACGT", "TGCA", 31),
    "iupac": Alphabet(_IUPAC, "-TGKCYSBAWRDMHVN", 15),
}


class Kmers:
    """All words of k letters, with the number that each of them is.

    Parameters
    ----------
    alphabet : {"dna", "iupac"}
    k : int
    canonical : bool
        Whether a word and its reverse complement are one.
    """

    def __init__(self, alphabet: str, k: int, canonical: bool):
        check_choice("alphabet", alphabet, tuple(ALPHABETS))
        self.alphabet = ALPHABETS[alphabet]
        if not 1 <= k <= self.alphabet.longest:
            raise ShortlistError(
                f"k: expected 1 to {self.alphabet.longest} for {alphabet}, got {k}"
            )
        self.k = k
        self.bits = (len(self.alphabet.letters) - 1).bit_length()
        self.n_features: int = 1 << self.bits * k
        codes = {letter: code for code, letter in enumerate(self.alphabet.letters)}
        known = {letter: codes.get(letter, BREAK) for letter in _IUPAC}
        self._codes = known | {a: known[b] for a, b in _ALIASES.items()}
        self.table: Characters = letter_table(self._codes)
        self._across = [codes[letter] for letter in self.alphabet.complements]
        complement = np.array(self._across, np.uint64)
        self.words = Words(k, self.bits, bool(canonical), complement)

    def names(self, ids: Ids, owner: str) -> list[str]:
        """Letters of the words with these ids; errors name the owner."""
        beyond = ids[ids >= np.uint64(self.n_features)]
        if len(beyond):
            raise DataError(
                f"{owner}: expected ids of {self.k}-mers, below {self.n_features}, "
                f"got {beyond[0]}"
            )
        shifts = np.arange(self.k - 1, -1, -1).astype(np.uint64) * np.uint64(self.bits)
        codes = (ids[:, np.newaxis] >> shifts) & np.uint64((1 << self.bits) - 1)
        text = np.frombuffer(self.alphabet.letters.encode(), np.uint8)[codes]
        return [word.tobytes().decode() for word in text]

    def ids(self, names: Sequence[str], owner: str) -> Ids:
        """Ids of words; errors name the owner."""
        return np.array([self._id(name, owner) for name in names], np.uint64)

    def _id(self, name: str, owner: str) -> int:
        codes = [self._codes.get(letter, BREAK) for letter in name.upper()]
        if len(codes) != self.k or BREAK in codes:
            raise DataError(
                f"{owner}: expected {self.k} letters of {self.alphabet.letters} "
                f"as the name of a feature, got {name!r}"
            )
        if not self.words.canonical:
            return self._packed(codes)
        across = [self._across[code] for code in reversed(codes)]
        return min(self._packed(codes), self._packed(across))

    def _packed(self, codes: Sequence[int]) -> int:
        word = 0
        for code in codes:
            word = word << self.bits | code
        return word


class RowMaker:
    """Counts words; holds a table to count in, so each pass over data has its own."""

    def __init__(self, kmers: Kmers):
        self._words = kmers.words
        self._counter: Counter = counter_for(0)

    def rows(
        self, letters: Characters, starts: Ints, stops: Ints
    ) -> tuple[Ints, Ids, Floats]:
        """Count the words of some stretches of letters: indptr, ids, values."""
        room = np.maximum(stops - starts - self._words.k + 1, 0)
        widest = int(room.max(initial=0))
        if 2 * widest > len(self._counter.keys):
            self._counter = counter_for(widest)
        indptr = np.zeros(len(starts) + 1, np.int64)
        ids = np.empty(room.sum(), np.uint64)
        values = np.ones(len(ids))
        list_words(letters, starts, stops, self._words, indptr, ids)
        n = add_up(indptr, ids, values, self._counter)
        if n < len(ids):
            ids, values = ids[:n].copy(), values[:n].copy()
        return indptr, ids, values
