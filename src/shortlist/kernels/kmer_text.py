"""Letters into k-mers: all words of k letters, packed into 64-bit ids, and their counts.

A word is read as a number whose digits are its letters, the first one highest, so words
and ids are the same thing and no names have to be kept. Letters that no word may contain
(``sequence_text.BREAK``) part what is before from what is after.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel

_U0, _U1, _U64 = np.uint64(0), np.uint64(1), np.uint64(64)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Words(NamedTuple):
    """Which words are looked for."""

    k: int  #: letters of a word
    bits: int  #: of a letter
    canonical: bool  #: a word and its reverse complement are one: the smaller number
    complement: np.ndarray  #: uint64, of each letter; as long as there are letters


class Counter(NamedTuple):
    """A table of ids, emptied by counting on ``stamps`` instead of by clearing."""

    keys: np.ndarray  #: uint64, a power of two, at least twice the words of a row
    slots: np.ndarray  #: int64, where the word of a key was put
    stamps: np.ndarray  #: int64, row that wrote a slot; 0 for none
    last: np.ndarray  #: int64, (1,): the last stamp given


def counter_for(n):
    """Make a counter for rows of up to n words."""
    size = 1 << max(4, (2 * n - 1).bit_length())
    return Counter(
        np.empty(size, np.uint64),
        np.empty(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(1, np.int64),
    )


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


@kernel
def count_words(indptr, ids, values, counter):
    """Have each word once a row, in place, with its count; return how many are left.

    The order is that in which words first came.
    """
    keys, slots, stamps = counter.keys, counter.slots, counter.stamps
    mask = np.uint64(len(keys) - 1)
    shift = _U64
    size = len(keys)
    while size > 1:
        shift -= _U1
        size >>= 1
    stamp = counter.last[0]
    n = read = 0
    for i in range(len(indptr) - 1):
        stamp += 1
        for t in range(read, indptr[i + 1]):
            word = ids[t]
            slot = (word * _GOLDEN) >> shift
            while stamps[slot] == stamp and keys[slot] != word:
                slot = (slot + _U1) & mask
            if stamps[slot] == stamp:
                values[slots[slot]] += 1.0
            else:
                stamps[slot], keys[slot], slots[slot] = stamp, word, n
                ids[n], values[n] = word, 1.0
                n += 1
        read = indptr[i + 1]
        indptr[i + 1] = n
    counter.last[0] = stamp
    return n
