"""Whether somebody gives rows or columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import RowSource


def are_columns(data: Any) -> bool:
    """Whether data are read column by column; tables in memory are not."""
    if isinstance(data, RowSource):
        return False
    if hasattr(data, "shape"):  # rows can be taken of it, but for files
        return isinstance(data, np.memmap)
    if isinstance(data, list | tuple):
        first = data[0] if len(data) else None
        return isinstance(first, tuple | list) and isinstance(first[0], str)
    return True
