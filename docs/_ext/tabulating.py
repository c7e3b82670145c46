"""Lines of a CSV as a table of text: as they are, or summed up by some of their columns."""

import math
import statistics


def number(text: str | float, digits: int = 3) -> str:
    """Three digits that count, or the text as it is; nothing for what is not known."""
    try:
        value = float(text)
    except ValueError:
        return str(text)
    if math.isnan(value):
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def as_written(text: str) -> str:
    """A short number keeps its digits, a long one has three; nothing for NaN."""
    return text if len(text) <= 6 and text != "nan" else number(text)


def grouped(lines, by):
    """Lines by their values in some columns, in the order of the first of each.

    Those with the same value in the first of the columns stand together.
    """
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for line in lines:
        groups.setdefault(tuple(line[column] for column in by), []).append(line)
    firsts = list(dict.fromkeys(key[0] for key in groups))
    return dict(sorted(groups.items(), key=lambda group: firsts.index(group[0][0])))


def values(lines, column):
    """What is known of a column, as numbers."""
    known = [float(line[column]) for line in lines if line[column]]
    return [value for value in known if not math.isnan(value)]


def mean(lines, column):
    """Mean, and how much values differ if there are several that do."""
    known = values(lines, column)
    if not known:
        return ""
    middle = number(statistics.fmean(known))
    spread = statistics.stdev(known) if len(known) > 1 else 0.0
    return f"{middle} ± {number(spread, 2)}" if spread else middle


def median(lines, column):
    """The middle value."""
    known = values(lines, column)
    return number(statistics.median(known)) if known else ""


def tabulate(lines, by=(), means=(), medians=(), count="", across=""):
    """Return the header and the rows of a table, all of them text."""
    if not by:
        header = list(lines[0])
        return header, [
            [as_written(line[column]) for column in header] for line in lines
        ]
    summaries = [(name, mean) for name in means] + [(name, median) for name in medians]
    if across:
        ((name, summary),) = summaries
        columns = list(dict.fromkeys(line[across] for line in lines))
        header = [*by, *(f"{across} = {column or 'none'}" for column in columns)]
        rows = []
        for key, group in grouped(lines, by).items():
            parts = {column: [] for column in columns} | grouped_by_one(group, across)
            rows.append([*key, *(summary(parts[column], name) for column in columns)])
        return header, rows
    header = [*by, *([count] if count else []), *(name for name, _ in summaries)]
    rows = [
        [
            *key,
            *([str(len(group))] if count else []),
            *(summary(group, name) for name, summary in summaries),
        ]
        for key, group in grouped(lines, by).items()
    ]
    return header, rows


def grouped_by_one(lines, column):
    """Lines by their value in one column."""
    return {key: group for (key,), group in grouped(lines, [column]).items()}
