"""The command line: one file a command.

Nothing heavy is imported here or at the top of a command's file: ``--help`` answers
before NumPy and Numba would have been loaded.
"""

import atexit
import contextlib
import gc
import os
import sys

from shortlist.cli._group import cli

__all__ = ["cli", "main"]

#: Objects between two searches for garbage. Loading what a command needs makes hundreds of
#: thousands that all stay: looking at them again and again takes a tenth of a second.
_OBJECTS = 200_000

#: Logarithm of the cycles for which idle threads of OpenBLAS spin; a tenth of a second, on
#: every core, by default, already when NumPy is loaded.
_SPIN = "22"
#: Of a frame: it and those above it share a room of twice as many words, see ``_run``.
_WORDS = 16_400


def main() -> None:
    """Run the command that ``sys.argv`` asks for, then exit."""
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _SPIN)
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    atexit.register(_leave)  # what is registered first is called last
    try:
        _run()
    except SystemExit as end:
        if isinstance(end.code, int):
            _status.append(end.code)
        raise


def _run() -> None:
    cli.main(prog_name="shortlist")


# Python takes the room for frames from the system in pieces of 16 KiB, and returns a piece
# with the last frame in it: a loop that happens to call across the end of a piece makes two
# system calls and a page fault each time, in all a tenth of the time that loading Numba and
# kernels takes. A frame that asks for much gets a piece in which those above have room.
_run.__code__ = _run.__code__.replace(co_stacksize=_WORDS)


_status: list[int] = []


def _leave() -> None:
    """Exit at once: taking all objects down one by one takes a tenth of a second.

    Called when threads have ended and all else that was to be done on exit is done.
    """
    with contextlib.suppress(OSError, ValueError):  # Python has words for these
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        if _status:
            os._exit(_status[0])
