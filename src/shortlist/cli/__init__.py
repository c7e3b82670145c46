"""The command line: one file a command.

Nothing heavy is imported here or at the top of a command's file: ``--help`` answers
before NumPy and Numba would have been loaded.
"""

import gc

from shortlist.cli._group import cli

__all__ = ["cli", "main"]

#: Objects between two searches for garbage. Loading what a command needs makes hundreds of
#: thousands that all stay: looking at them again and again takes a tenth of a second.
_OBJECTS = 200_000


def main() -> None:
    """Run the command that ``sys.argv`` asks for, then exit."""
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    cli.main(prog_name="shortlist")
