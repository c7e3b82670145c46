"""Letters into k-mers: all words of k letters, packed into 64-bit ids.

A word is read as a number whose digits are its letters, the first one highest, so words
and ids are the same thing and no names have to be kept. Letters that no word may contain
(``sequence_text.BREAK``) part what is before from what is after.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel

_U0, _U1 = np.uint64(0), np.uint64(1)


class Words(NamedTuple):
    """Which words are looked for."""

    k: int  #: letters of a word
    bits: int  #: of a letter
    canonical: bool  #: a word and its reverse complement are one: the smaller number
    complement: np.ndarray  #: uint64, of each letter; as long as there are letters


@kernel
def _forward(letters, start, stop, words, ids, n):
    """Append the words of a stretch as they stand; return how many there are."""
    bits = np.uint64(words.bits)
    mask = (_U1 << (bits * np.uint64(words.k))) - _U1
    limit, k = len(words.complement), words.k
    word, run = _U0, 0
    for p in range(start, stop):
        letter = letters[p]
        word = ((word << bits) | np.uint64(letter)) & mask
        run += 1
        if letter >= limit:
            run = 0
        if run >= k:
            ids[n] = word
            n += 1
    return n


@kernel
def _both_strands(letters, start, stop, words, ids, n):
    """Append the smaller of each word and its reverse complement; return how many."""
    bits = np.uint64(words.bits)
    mask = (_U1 << (bits * np.uint64(words.k))) - _U1
    top = bits * np.uint64(words.k - 1)
    complement = words.complement
    limit, k = len(complement), words.k
    word, reverse, run = _U0, _U0, 0
    for p in range(start, stop):
        letter = letters[p]
        if letter >= limit:
            run = 0
            continue
        word = ((word << bits) | np.uint64(letter)) & mask
        reverse = (reverse >> bits) | (complement[letter] << top)
        run += 1
        if run >= k:
            ids[n] = min(word, reverse)
            n += 1
    return n


@kernel
def list_words(letters, starts, stops, words, indptr, ids):
    """Put the words of each stretch of letters into a row, repeated ones as they come.

    ``ids`` needs room for max(0, stop - start - k + 1) words of every stretch.
    """
    n = 0
    for i in range(len(starts)):
        if words.canonical:
            n = _both_strands(letters, starts[i], stops[i], words, ids, n)
        else:
            n = _forward(letters, starts[i], stops[i], words, ids, n)
        indptr[i + 1] = n
