"""How loss and accuracy go while a run learns, in a few hundred windows at most."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from shortlist._protocols import Floats
from shortlist._steps import HITS, LOSS, WEIGHT

TRACE_INTERVAL = 1000
TRACE_POINTS = 200


@dataclass
class Trace:
    """Loss and accuracy of successive windows of examples, at most a few hundred.

    Windows end at row numbers that do not depend on blocks. When there are too many,
    neighbours are merged and windows become twice as long.
    """

    interval: int = TRACE_INTERVAL
    rows: int = 0
    marks: list[tuple[int, float, float, float]] = field(default_factory=list)

    def room(self) -> int:
        """Rows until the current window ends."""
        return self.interval - self.rows % self.interval

    def advance(self, n: int, totals: Floats) -> None:
        """Note that n rows, within the current window, have been learned."""
        self.rows += n
        if self.rows % self.interval == 0:
            self._mark(totals)
            if len(self.marks) == TRACE_POINTS:
                self.marks = self.marks[1::2]
                self.interval *= 2

    def followed_by(self, totals: Floats, other: Trace) -> Trace:
        """Trace of two runs, one after the other; ``totals`` are those of the first."""
        marks = list(self.marks)
        if not marks or marks[-1][0] < self.rows:
            end = (float(totals[place]) for place in (WEIGHT, LOSS, HITS))
            marks.append((self.rows, *end))  # type: ignore[arg-type]
        rows, weight, loss, hits = marks[-1]
        for mark in other.marks:
            both = zip(mark, (rows, weight, loss, hits), strict=True)
            marks.append(tuple(a + b for a, b in both))  # type: ignore[arg-type]
        return Trace(max(self.interval, other.interval), rows + other.rows, marks)

    def _mark(self, totals: Floats) -> None:
        mark = (float(totals[place]) for place in (WEIGHT, LOSS, HITS))
        self.marks.append((self.rows, *mark))  # type: ignore[arg-type]

    def late_loss(self, totals: Floats) -> float:
        """Mean loss of the last half of the windows, when weights are no longer zero."""
        marks = [(0, 0.0, 0.0, 0.0), *self.marks]
        if marks[-1][0] == self.rows and len(marks) > 1:
            del marks[-1]
        _, weight, loss, _ = marks[len(marks) // 2]
        late = float(totals[WEIGHT]) - weight
        return (float(totals[LOSS]) - loss) / late if late > 0.0 else math.nan

    def arrays(self, totals: Floats, classes: bool) -> dict[str, np.ndarray]:
        """Rows at the end of each window, and the mean loss and accuracy within it."""
        marks = list(self.marks)
        if not marks or marks[-1][0] < self.rows:
            marks.append((self.rows, totals[WEIGHT], totals[LOSS], totals[HITS]))
        table = np.array([(0, 0.0, 0.0, 0.0), *marks])
        weight, loss, hits = np.diff(table[:, 1:], axis=0).T
        weight = np.where(weight > 0, weight, 1.0)
        out = {"rows": table[1:, 0].astype(np.int64), "loss": loss / weight}
        return out | ({"accuracy": hits / weight} if classes else {})
