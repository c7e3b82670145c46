"""What scripts have written under ``results``."""

import csv


def read_lines(path):
    """Lines of a CSV, by column; none if it was not made."""
    if not path.exists():
        return []
    with path.open() as lines:
        return list(csv.DictReader(lines))
