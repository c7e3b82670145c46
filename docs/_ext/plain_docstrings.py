"""Docstrings are written for a terminal; this makes them right for a page as well.

There, formulas stand indented in the text and |x| is an absolute value. In
reStructuredText the former would be a quotation and the latter a name to be replaced.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def tidy(lines: list[str]) -> list[str]:
    """Announce formulas as literal text, and let bars elsewhere be bars."""
    done: list[str] = []
    before = ""  # the last line that is not empty
    section = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", below.strip()):
            section = line.strip()
        formula = not section and line.startswith("    ")
        if formula and before and not before.startswith("    ") and not done[-1]:
            done += [] if before.endswith("::") else ["::", ""]
        done.append(line if formula or section == "Examples" else escape_bars(line))
        before = line or before
    return done


def escape_bars(line: str) -> str:
    """Put a backslash before each bar that is not in a literal."""
    parts = re.split("(``.*?``)", line)
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)


def _tidy(app, what, name, obj, options, lines: list[str]) -> None:
    lines[:] = tidy(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Come before numpydoc, which takes docstrings apart."""
    app.connect("autodoc-process-docstring", _tidy, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
