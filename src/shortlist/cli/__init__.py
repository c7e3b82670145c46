"""The command line: one file a command.

Nothing heavy is imported here or at the top of a command's file: ``--help`` answers
before NumPy and Numba would have been loaded.
"""

from shortlist.cli._group import cli

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command that ``sys.argv`` asks for, then exit."""
    cli.main(prog_name="shortlist")
