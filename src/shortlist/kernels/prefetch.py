"""Ask for memory before it is needed."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def prefetch(_context, array, index):
    """Begin to load ``array[index]``, which will be read and written soon.

    A hint without any effect but on time. Cells of a sketch lie all over memory; the
    processor cannot guess the next one, but whoever hashed its id knows.
    """
    return types.void(array, index), _hint(to_write=1)


@intrinsic
def prefetch_to_read(_context, array, index):
    """Begin to load ``array[index]``, which will only be read, perhaps by other threads."""
    return types.void(array, index), _hint(to_write=0)


def _hint(to_write):
    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(
            context, builder, arguments[0]
        ).data
        place = builder.gep(data, [arguments[1]])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = builder.module.globals.get(_NAME)
        if hint is None:
            hint = ir.Function(builder.module, kind, _NAME)
        keep_close, is_data = number(3), number(1)
        where = builder.bitcast(place, byte)
        builder.call(hint, [where, number(to_write), keep_close, is_data])
        return context.get_dummy_value()

    return build


_NAME = "llvm.prefetch.p0"
