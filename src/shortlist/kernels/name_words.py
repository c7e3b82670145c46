"""Names in text, eight characters at a time: where they end and what they hash to.

A name that does not stand in one piece (a prefix that its format implies, then what the
text says) has the id that ``kernels.name_hash`` gives to the whole.
"""

import numpy as np

from shortlist.kernels.hashing import mix
from shortlist.kernels.name_hash import GOLDEN
from shortlist.kernels.number_text import inlined, word_at

ONES = np.uint64(0x0101010101010101)  # times a character: eight of it
_HIGH_BITS = np.uint64(0x8080808080808080)
_U1, _U8, _U63 = (np.uint64(n) for n in (1, 8, 63))


@inlined
def equal_bytes(word, eight):
    """Mark the bytes of a word that equal those of eight; the lowest mark is right.

    A borrow can mark bytes above an equal one that are not equal themselves.
    """
    difference = word ^ eight
    return (difference - ONES) & ~difference & _HIGH_BITS


@inlined
def lowest(word, n):
    """First n < 8 characters of a word."""
    return word & ((_U1 << (_U8 * n)) - _U1)


@inlined
def begin_hash(n_characters, seed):
    """Hash of a name of so many characters before the first of them."""
    return mix(seed + GOLDEN * np.uint64(n_characters + 1))


@inlined
def hash_rest(hashed, carried, n_carried, text, start, stop):
    """Finish the hash of a name whose last part is text[start:stop].

    So far are hashed all whole words of what comes before; n_carried < 8 characters that
    are left of it go below each word of the last part, whose upper part is then left for
    the next.
    """
    shift = _U8 * np.uint64(n_carried)
    left = n_carried + stop - start
    while left >= 8:
        word = word_at(text, start)
        hashed = mix(hashed ^ (carried | (word << shift))) + GOLDEN
        carried = (word >> _U1) >> (_U63 - shift)  # a shift by 64 is undefined
        start += 8
        left -= 8
    word = carried | (word_at(text, start) << shift)
    return mix(hashed ^ lowest(word, np.uint64(left)))


@inlined
def hash_last(hashed, carried, n_carried, word, n):
    """Finish a hash as ``hash_rest`` does, the last part being n <= 8 characters."""
    shift = _U8 * np.uint64(n_carried)
    whole = carried | (word << shift)
    left = n_carried + n
    if left >= 8:
        hashed = mix(hashed ^ whole) + GOLDEN
        whole = (word >> _U1) >> (_U63 - shift)
        left -= 8
    return mix(hashed ^ lowest(whole, np.uint64(left)))


@inlined
def hash_start(text, n, seed):
    """Hash the first n bytes of a text, eight at a time, as ``hash_name`` would."""
    hashed = begin_hash(n, seed)
    p = np.int64(0)
    while p + 8 <= n:
        hashed = mix(hashed ^ word_at(text, p)) + GOLDEN
        p += 8
    return mix(hashed ^ lowest(word_at(text, p), np.uint64(n - p)))
