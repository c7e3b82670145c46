"""A comparison as text: a table a budget, who agrees with whom, and the verdict."""

from __future__ import annotations

from math import isnan
from textwrap import wrap

from shortlist._shortlist_text import printable
from shortlist.evaluate._standings import Standings

_NUMBER, _ERROR = 10, 8  # letters of a column
_SENTENCE = 80  # letters of a line of the verdict


def as_text(standings: Standings, overlap_at: int | None = None) -> str:
    """Write tables, the best method first, and a sentence on which is best.

    Parameters
    ----------
    standings : Standings
    overlap_at : int, default=None
        Budget to show overlaps of methods at; None: the largest.
    """
    lines: list[str] = []
    for k in standings.ks:
        lines += [*_table(standings, k), ""]
    if len(standings.methods) > 1:
        k = standings.ks[-1] if overlap_at is None else overlap_at
        lines += [*_overlaps(standings, k), ""]
    return "\n".join([*lines, *wrap(standings.verdict(), _SENTENCE)])


def _table(standings: Standings, k: int) -> list[str]:
    first = standings.metric
    metrics = [first, *(name for name in standings.metrics if name != first)]
    width = _width(standings, 0)
    heads = "".join(
        f"{metric.replace('_', ' '):>{_NUMBER}}{'+-':>{_ERROR}}" for metric in metrics
    )
    rest = "".join(f"{head:>{_NUMBER}}" for head in ("overlap", "CPU s", "MB"))
    lines = [f"{f'k = {k}':<{width}}{heads}{rest}"]
    for row in (row for row in standings.rows() if row["k"] == k):
        numbers = "".join(
            _cell(row[metric], _NUMBER) + _cell(row[f"{metric}_error"], _ERROR)
            for metric in metrics
        )
        costs = _cell(row["seconds"], _NUMBER, 2) + _cell(row["megabytes"], _NUMBER, 0)
        name = f"  {printable(row['method'])}"
        lines.append(f"{name:<{width}}{numbers}{_cell(row['overlap'], _NUMBER)}{costs}")
    return lines


def _overlaps(standings: Standings, k: int) -> list[str]:
    """What each two methods have in common; columns go by number, as names are long."""
    methods, shared = standings.overlaps(k)
    width = _width(standings, len(str(len(methods))) + 1)
    numbers = range(1, len(methods) + 1)
    head = "".join(f"{number:>7}" for number in numbers)
    lines = [f"{f'overlap at k = {k}':<{width}}{head}"]
    for number, name, row in zip(numbers, methods, shared, strict=True):
        cells = [f"{cell:>7.2f}" for cell in row]
        cells[number - 1] = f"{'-':>7}"
        label = f"  {number:>{len(str(len(methods)))}} {printable(name)}"
        lines.append(f"{label:<{width}}{''.join(cells)}")
    return lines


def _cell(number: float, width: int, digits: int = 3) -> str:
    """A number to the right of its column; what a single fold does not tell is a dash."""
    return f"{'-':>{width}}" if isnan(number) else f"{number:>{width}.{digits}f}"


def _width(standings: Standings, more: int) -> int:
    """Letters of the first column."""
    longest = max(len(printable(name)) for name in standings.methods)
    return max(20, longest + 2 + more)
