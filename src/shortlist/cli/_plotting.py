"""Pictures that commands write to a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shortlist.cli._output import open_output

_FORMS = ("png", "svg", "pdf")


@contextmanager
def picture(path: str, width: float, height: float) -> Iterator[Any]:
    """Give axes to draw on; what was drawn goes to a file whose ending tells its form."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        from shortlist._protocols import ShortlistError

        raise ShortlistError(
            "--plot needs matplotlib: pip install 'shortlist[plot]'"
        ) from None
    figure = Figure(figsize=(width, height), layout="constrained")
    yield figure.subplots()
    form = path.rpartition(".")[2].lower()
    with open_output(path) as stream:
        figure.savefig(stream, format=form if form in _FORMS else "png")
