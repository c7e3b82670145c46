"""A report: the page of a shortlist, to be saved or looked at in a notebook."""

from __future__ import annotations

import html
import os
from functools import cached_property
from pathlib import Path
from typing import Any

from shortlist._in_words import counted
from shortlist._places import why_not_written
from shortlist._protocols import ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.report._page import render
from shortlist.report._summary import summary
from shortlist.storage import replacing

_FRAME_HEIGHT = 720  # of a notebook's cell; the page scrolls within it


class Report:
    """All about a shortlist, on a page for browsers that needs no network.

    In a notebook it shows itself.

    Parameters
    ----------
    shortlist : Shortlist

    Attributes
    ----------
    summary : dict
        What the page tells, as JSON values; docs/report.md has the keys.
    html : str
        The page.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import FoBa
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> report = FoBa(k=2).fit(X, X[:, 3] - 2 * X[:, 8]).shortlist_.report()
    >>> report.summary["entries"]["name"]
    ['x8', 'x3']
    >>> report.html.startswith("<!doctype html>")
    True
    """

    def __init__(self, shortlist: Shortlist) -> None:
        self._shortlist = shortlist

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the page tells, as JSON values."""
        return summary(self._shortlist)

    @cached_property
    def html(self) -> str:
        """The page."""
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        if (problem := why_not_written(path)) is not None:
            raise ShortlistError(problem)
        with replacing(Path(os.path.realpath(path))) as stream:
            stream.write(self.html.encode("utf-8"))

    def __repr__(self) -> str:
        chosen = self._shortlist
        n = counted(chosen.n_selected, "feature")
        return f"<report on {n} chosen by {chosen.method}>"

    def _repr_html_(self) -> str:
        # A frame of its own: neither page can change the other's looks, nor its scripts.
        page = html.escape(self.html)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="report of shortlist" '
            f'style="width:100%;height:{_FRAME_HEIGHT}px;border:0"></iframe>'
        )
