"""What went wrong, as an exit code and a line for people."""

from __future__ import annotations

import re
from typing import NamedTuple

_BAD_LINE = re.compile(r"(:|: row )\d+: (column .*: )?expected ")
_SKIP_HINT = "; --on-error skip leaves such lines out"

#: What a context remembers of a command that refuses --on-error as it was called.
CANNOT_SKIP = "shortlist.cannot_skip"
BAD_DATA, BAD_USAGE, INTERRUPTED, READER_LEFT = 1, 2, 130, 141


#: Settings of the library that are options here: "classes=", "k=5".
_SETTING = re.compile(
    r"(?:^|(?<=[\s(]))(always|budget|classes|delimiter|fragment|labels|leave_out|loss|"
    r"memory|missing|never|target|text|weight)="
)
#: Settings that are named in other ways.
_PHRASES = {
    "leave_out: expected": "--never: expected",
    "header=True": "--header",
    "header=False": "--no-header",
    "quote=None": "--quote none",
    "k='auto'": "-k auto",
}
_OTHER_NAMES = {"labels": "classes", "leave_out": "never"}
_K = re.compile(r"(?<=[\s(])k=(?=\d)")


class Failure(NamedTuple):
    """How to end."""

    code: int
    line: str | None  #: None: there is nothing to add


def as_options(text: str) -> str:
    """Write the settings that a message of the library names as options.

    Examples
    --------
    >>> as_options("labels: got 1 class (1); give classes= or loss=")
    'labels: got 1 class (1); give --classes or --loss'
    >>> as_options("memory='1KB' is too small for this k")
    "--memory '1KB' is too small for this k"
    """
    for setting, option in _PHRASES.items():
        text = text.replace(setting, option)
    spaced = _K.sub("-k ", _SETTING.sub(_as_option, text))
    return " ".join(spaced.split())


def _as_option(setting: re.Match[str]) -> str:
    return f"--{_OTHER_NAMES.get(setting[1], setting[1])} "


def explain(error: BaseException, can_skip: bool = True) -> Failure:
    """Say how an error that reached the top ends the program.

    ``can_skip`` is whether the command takes ``--on-error``.
    """
    from shortlist._protocols import DataError, ShortlistError

    if isinstance(error, KeyboardInterrupt):
        return Failure(INTERRUPTED, None)
    if isinstance(error, BrokenPipeError):
        return Failure(READER_LEFT, None)  # as if SIGPIPE had ended it
    if isinstance(error, ShortlistError):
        # A full disk is nobody's bad request, though saving reports it as one.
        from_outside = isinstance(error, DataError) or isinstance(
            error.__cause__, OSError
        )
        code = BAD_DATA if from_outside else BAD_USAGE
        hint = _SKIP_HINT if can_skip and _BAD_LINE.search(str(error)) else ""
        return Failure(code, as_options(str(error)) + hint)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return Failure(BAD_DATA, f"{place}{error.strerror or error}")
    if isinstance(error, MemoryError):
        return Failure(
            BAD_DATA, "not enough memory; a smaller --memory or -k needs less"
        )
    return Failure(
        BAD_DATA,
        f"internal error, {type(error).__name__}: {' '.join(str(error).split())}; "
        "please report it with what --debug shows",
    )
