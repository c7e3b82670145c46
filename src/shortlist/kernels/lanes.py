"""Products of small matrices, four numbers an instruction.

Numba turns loops into vector instructions only where it can prove that arrays do not
overlap, and a loop over a dozen labels is too short to check that each time around. So
these two are spelled out. Matrices are C-contiguous float64; their width, the number of
columns, is a multiple of ``WIDE``.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 4
WIDE = 2 * LANES
_NUMBER = ir.DoubleType()
_FOUR = ir.VectorType(_NUMBER, LANES)


@intrinsic
def times(_context, vectors, v, matrix, n, factors, f, scale, out, o):
    """Write row v of ``vectors`` times ``matrix`` to row o of ``out``; return its sum.

    Each number is multiplied by ``scale`` and by its fellow in row f of ``factors``. Only
    the first n numbers of the vector matter; n is even.
    """

    def build(context, builder, signature, arguments):
        vectors, width = _data(context, builder, signature, arguments, 0)
        matrix, _ = _data(context, builder, signature, arguments, 2)
        factors, _ = _data(context, builder, signature, arguments, 4)
        out, _ = _data(context, builder, signature, arguments, 7)
        row, factor_row, out_row = (
            builder.mul(arguments[which], width) for which in (1, 5, 8)
        )
        scale = _spread(builder, arguments[6])
        whole = _accumulator(builder)

        def columns(column, n_fours):
            # two sums of each column, as an addition waits for the one before
            totals = [[_accumulator(builder) for _ in range(2)] for _ in range(n_fours)]
            with _steps(builder, arguments[3], 2) as (line, _):
                for odd in range(2):
                    here = builder.add(line, ir.Constant(width.type, odd))
                    x = builder.load(builder.gep(vectors, [builder.add(row, here)]))
                    place = builder.add(builder.mul(here, width), column)
                    for which in range(n_fours):
                        four = _load(builder, matrix, _shifted(builder, place, which))
                        _add_product(builder, totals[which][odd], x, four)
            for which in range(n_fours):
                product = builder.fadd(*map(builder.load, totals[which]))
                part = _shifted(builder, column, which)
                factor = _load(builder, factors, builder.add(factor_row, part))
                product = builder.fmul(builder.fmul(factor, scale), product)
                _store(builder, product, out, builder.add(out_row, part))
                builder.store(builder.fadd(builder.load(whole), product), whole)

        # sixteen columns together where there are so many: more sums that need not wait
        # for each other, and each number of the vector is loaded once for them
        most = builder.and_(width, ir.Constant(width.type, -2 * WIDE))
        with _steps(builder, most, 2 * WIDE) as (column, _):
            columns(column, 4)
        step = ir.Constant(width.type, WIDE)
        with cgutils.for_range_slice(builder, most, width, step) as (column, _):
            columns(column, 2)
        four = builder.load(whole)
        a, b, c, d = (
            builder.extract_element(four, ir.Constant(ir.IntType(32), lane))
            for lane in range(LANES)
        )
        return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))

    number, place = types.float64, types.int64
    signature = number(
        vectors, place, matrix, place, factors, place, number, out, place
    )
    return signature, build


@intrinsic
def add_products(_context, left, right, first, end, out):
    """Add to ``out`` the sum over t from first to before end of left[t - 1, i] right[t, j].

    Four by eight at a time, so that a number once loaded serves several products.
    """

    def build(context, builder, signature, arguments):
        left, width = _data(context, builder, signature, arguments, 0)
        right, _ = _data(context, builder, signature, arguments, 1)
        out, _ = _data(context, builder, signature, arguments, 4)
        first, end, one = arguments[2], arguments[3], ir.Constant(width.type, 1)
        with (
            _steps(builder, width, LANES) as (row, _),
            _steps(builder, width, WIDE) as (column, _),
        ):
            tile = [
                (lane, half, _accumulator(builder))
                for lane in range(LANES)
                for half in range(2)
            ]
            with cgutils.for_range_slice(builder, first, end, one) as (step, _):
                here = builder.mul(step, width)
                place = builder.add(here, column)
                fours = [
                    _load(builder, right, _shifted(builder, place, half))
                    for half in range(2)
                ]
                before = builder.add(builder.sub(here, width), row)
                for lane, half, total in tile:
                    if half == 0:
                        place = builder.add(before, ir.Constant(width.type, lane))
                        x = builder.load(builder.gep(left, [place]))
                    _add_product(builder, total, x, fours[half])
            for lane, half, total in tile:
                line = builder.add(row, ir.Constant(width.type, lane))
                place = builder.add(builder.mul(line, width), column)
                place = _shifted(builder, place, half)
                old = _load(builder, out, place)
                _store(builder, builder.fadd(old, builder.load(total)), out, place)
        return context.get_dummy_value()

    return types.void(left, right, types.int64, types.int64, out), build


def _data(context, builder, signature, arguments, which):
    """Where the numbers of an argument are, and how many columns it has."""
    kind = signature.args[which]
    array = context.make_array(kind)(context, builder, arguments[which])
    return array.data, cgutils.unpack_tuple(builder, array.shape)[-1]


def _steps(builder, end, size):
    zero, size = ir.Constant(end.type, 0), ir.Constant(end.type, size)
    return cgutils.for_range_slice(builder, zero, end, size)


def _shifted(builder, place, half):
    return builder.add(place, ir.Constant(place.type, half * LANES))


def _accumulator(builder):
    place = cgutils.alloca_once(builder, _FOUR)
    builder.store(ir.Constant(_FOUR, [0.0] * LANES), place)
    return place


def _add_product(builder, total, x, four):
    """Add a number times four others; one instruction where there is such a one."""
    product = builder.fmul(_spread(builder, x), four, flags=("contract",))
    summed = builder.fadd(builder.load(total), product, flags=("contract",))
    builder.store(summed, total)


def _spread(builder, x):
    """Four times the same number."""
    undefined = ir.Constant(_FOUR, ir.Undefined)
    alone = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(alone, undefined, mask)


def _load(builder, data, place):
    return builder.load(_four_at(builder, data, place), align=8)


def _store(builder, four, data, place):
    builder.store(four, _four_at(builder, data, place), align=8)


def _four_at(builder, data, place):
    return builder.bitcast(builder.gep(data, [place]), _FOUR.as_pointer())
