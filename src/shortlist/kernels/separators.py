"""Where the tokens of a text end: marks of all separators, found 64 characters at a time.

Who reads a text token by token knows where the next one starts only when it has read this
one, and the processor waits. Marks found beforehand break that chain: a token between two
marks can be read while others still are.

Separators are colons and all that is not above a blank: blanks, tabs, ends of lines.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from shortlist.kernels.number_text import (
    COLON,
    SPACE,
    parsing_kernel,
    trailing_zeros,
)
from shortlist.kernels.prefetch import prefetch_to_read

#: Marks that are looked for at a time: 32 kB, which stay close to the core.
_MOST = 1 << 13
_AT_ONCE = 64
#: Characters ahead to fetch: processors guess what comes next within a page of memory only.
_AHEAD = 2048
#: Marks written for 64 characters without asking whether there are as many.
_USUAL = 8
_U1 = np.uint64(1)


def marks_for(n):
    """Room for marks of a text of n characters."""
    return np.empty(min(n, _MOST) + _AT_ONCE + 1, np.int64)


@intrinsic
def _separators(_context, text, first):
    """One bit for each of 64 characters: whether it is a separator."""

    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(
            context, builder, arguments[0]
        ).data
        many = ir.VectorType(ir.IntType(8), _AT_ONCE)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), many.as_pointer())
        characters = builder.load(place, align=1)
        blanks = ir.Constant(many, [SPACE] * _AT_ONCE)
        colons = ir.Constant(many, [COLON] * _AT_ONCE)
        ends = builder.or_(
            builder.icmp_unsigned("<=", characters, blanks),
            builder.icmp_unsigned("==", characters, colons),
        )
        return builder.bitcast(ends, ir.IntType(_AT_ONCE))

    return types.uint64(text, types.uint64), build


@intrinsic
def _count_ones(_context, number):
    """Number of bits that are set."""

    def build(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@intrinsic
def stand_alone(_context):
    """Keep the function that says this out of the functions that call it.

    The compiler would make one of all that a parser does, and run out of registers in the
    loop that matters.
    """

    def build(context, builder, _signature, _arguments):
        attributes = builder.function.attributes
        attributes.discard("alwaysinline")  # as callers may have asked for their part
        attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), build


@parsing_kernel
def _mark(text, covered, marks, n):
    """Add marks from ``covered`` on, as many as there is room for: how many, how far.

    Past the end a newline is imagined; when it is marked, len(text) + 1 are covered.
    """
    most = len(marks) - _AT_ONCE - 1
    while covered + _AT_ONCE <= len(text) and n <= most:
        prefetch_to_read(text, np.uint64(covered + _AHEAD))
        bits = _separators(text, np.uint64(covered))
        found = np.int64(_count_ones(bits))
        for i in range(_USUAL):  # what is too much is written over
            marks[np.uint64(n + i)] = covered + np.int64(trailing_zeros(bits))
            bits &= bits - _U1
        for i in range(_USUAL, found):
            marks[np.uint64(n + i)] = covered + np.int64(trailing_zeros(bits))
            bits &= bits - _U1
        n += found
        covered += _AT_ONCE
    if covered + _AT_ONCE > len(text) and n <= most:
        for p in range(covered, len(text)):
            if text[p] <= SPACE or text[p] == COLON:
                marks[n] = p
                n += 1
        marks[n] = len(text)
        n, covered = n + 1, len(text) + 1
    return n, covered


@parsing_kernel
def marks_from(text, p, marks, d, n, covered):
    """Find the first mark at p or after it, and the two after that one.

    ``marks[d:n]`` are those known, of all up to ``covered``; returns the same three,
    where n - d < 3 only if the text has no more.
    """
    stand_alone()
    while True:
        while d < n and marks[np.uint64(d)] < p:
            d += 1
        if n - d >= 3 or covered > len(text):
            return d, n, covered
        for i in range(n - d):
            marks[i] = marks[d + i]
        n -= d
        d = 0
        n, covered = _mark(text, max(p, covered) if n == 0 else covered, marks, n)
