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


def main() -> None:
    """Run the command that ``sys.argv`` asks for, then exit."""
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    atexit.register(_leave)  # what is registered first is called last
    try:
        cli.main(prog_name="shortlist")
    except SystemExit as end:
        if isinstance(end.code, int):
            _status.append(end.code)
        raise


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
