"""Where results go: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import click

from shortlist._places import is_replaced, why_not_written

STDOUT = "-"


def check_output(
    out: str | None,
    inputs: Sequence[str],
    models: Sequence[str] = (),
    *,
    option: str = "-o",
) -> None:
    """Refuse, before any work, a file that cannot or should not be written.

    Parameters
    ----------
    out : str or None
        None and "-" are fine.
    inputs : sequence of str
        FILE arguments, patterns included: none of them may be written.
    models : sequence of str
        Paths that are read as they are.
    option : str
        What the user calls it.
    """
    if out is None or out == STDOUT:
        return
    from shortlist.sources._files import STDIN, find_files

    folders = [path for path in inputs if os.path.isdir(path)]  # of columns
    named = [path for path in inputs if path not in folders]
    files = find_files(named) if named else ()
    paths = [file.path for file in files if file.path != STDIN]
    paths += [entry.path for folder in folders for entry in os.scandir(folder)]
    target = os.path.realpath(out)
    if target in map(os.path.realpath, (*paths, *models)):
        _refuse(f"{out} is read by this command; write to another file", option)
    if (problem := why_not_written(out)) is not None:
        _refuse(problem, option)


def check_model_output(
    out: str | None, inputs: Sequence[str], option: str = "-o"
) -> None:
    """Refuse, before any work, a place that a model cannot be saved at."""
    if out == STDOUT:
        _refuse("a model goes to a file; give its name", option)
    check_output(out, inputs, option=option)
    if out is not None and not is_replaced(os.path.realpath(out)):
        _refuse(f"{out} is no regular file; a model needs one", option)


def _refuse(message: str, option: str) -> None:
    raise click.BadParameter(message, param_hint=option)


@contextlib.contextmanager
def open_output(out: str | None) -> Iterator[BinaryIO]:
    """Open standard output, or a file that appears once all has gone well."""
    if out is None or out == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = os.path.realpath(out)
    if not is_replaced(target):
        with open(target, "wb") as stream:
            yield stream
        return
    from shortlist.storage import replacing

    with replacing(Path(target)) as stream:
        yield cast(BinaryIO, stream)


def shortest(number: float) -> str:
    """Fewest digits that read back as this very number; whole ones without ".0"."""
    return repr(number).removesuffix(".0")


def aligned(pairs: Sequence[tuple[str, str]]) -> str:
    """Lines of a term and what it is, the second column aligned."""
    width = max(len(term) for term, _ in pairs)
    return "\n".join(f"{term:<{width}}  {text}" for term, text in pairs)
