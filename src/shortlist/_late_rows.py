"""The last rows of a stream, by which the intercept of a cut model is set.

Some rules learn with the weights of all features, and the k best are published. What the
others gave to the margins is gone then, and so the intercept that was learned beside them
does not suit: where classes are balanced by weights it may be off by half a unit or more.
The last rows tell what is missing on average. How they came in blocks does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shortlist._protocols import Floats, Ids, Ints, RowBlock
from shortlist._steps import ask
from shortlist.kernels._jit import kernel
from shortlist.kernels.csr import row_slice
from shortlist.losses import value_of

#: Rows that are held at most, and nonzeros; the last row is, however long.
MOST_ROWS, MOST_NONZEROS = 4096, 1 << 17
#: Newton steps, each halved so often at most.
_MOST_STEPS, _MOST_HALVES = 50, 20
_TINY = 1e-8


@dataclass
class LateRows:
    """The last rows that came, a few thousand."""

    blocks: list[RowBlock] = field(default_factory=list)

    def add(self, block: RowBlock) -> None:
        """Take in the next rows; those that are not among the last any more go."""
        if block.n_rows:
            self.blocks.append(block)
        while len(self.blocks) > 1 and self._reach(self.blocks[1:]):
            del self.blocks[0]

    @staticmethod
    def _reach(blocks: list[RowBlock]) -> bool:
        n_rows = sum(block.n_rows for block in blocks)
        return n_rows >= MOST_ROWS or sum(len(b.ids) for b in blocks) >= MOST_NONZEROS

    def last(self) -> list[RowBlock]:
        """As many of the last rows as may be held."""
        found: list[RowBlock] = []
        rows, nonzeros = MOST_ROWS, MOST_NONZEROS
        for block in reversed(self.blocks):
            behind = block.indptr[-1] - block.indptr[:-1]  # nonzeros from each row on
            fits = np.searchsorted(-behind, -nonzeros)
            first = max(int(fits), block.n_rows - rows, 0)
            if not found:
                first = min(first, block.n_rows - 1)
            part = row_slice(block, first, block.n_rows)
            found.append(part)
            rows, nonzeros = rows - part.n_rows, nonzeros - len(part.ids)
            if first > 0 or rows <= 0 or nonzeros <= 0:
                break
        return found[::-1]

    def bias(
        self, loss: Any, ids: Ids, margin: Ints, weight: Floats, start: Floats
    ) -> Floats:
        """Intercepts that suit these weights best, from where others are."""
        bias: Floats = start.copy()
        rows = self.last()
        if not rows:
            return bias
        Z = np.concatenate(
            [_margins(block, ids, margin, weight, len(bias)) for block in rows]
        )
        y = np.concatenate([block.y for block in rows])
        settle_bias(loss, y, Z, np.concatenate([b.weight for b in rows]), bias)
        return bias


def _margins(
    block: RowBlock, ids: Ids, margin: Ints, weight: Floats, n_margins: int
) -> Floats:
    """Margins of rows without intercepts, of shape (n_rows, n_margins)."""
    Z: Floats = np.zeros((block.n_rows, n_margins))
    row = np.repeat(np.arange(block.n_rows), np.diff(block.indptr))
    for c in range(n_margins):
        here = np.flatnonzero(margin == c)
        here = here[np.argsort(ids[here])]
        if not len(here):
            continue
        place = np.minimum(np.searchsorted(ids[here], block.ids), len(here) - 1)
        known = ids[here][place] == block.ids
        terms = weight[here][place[known]] * block.values[known]
        Z[:, c] = np.bincount(row[known], terms, block.n_rows)
    return Z


@kernel
def _total(loss, y, Z, weight, bias, z):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(y.shape[0]):
        for c in range(bias.shape[0]):
            z[c] = Z[i, c] + bias[c]
        total += weight[i] * value_of(loss, y[i], z)
    return total


@kernel
def settle_bias(loss, y, Z, weight, bias):  # type: ignore[no-untyped-def]
    """Minimise the summed loss over the intercepts, in place, by diagonal Newton steps.

    Margins that push each other, as those of a softmax do, need steps half as long.
    """
    n = bias.shape[0]
    z, pulls, curvatures = np.empty(n), np.empty(n), np.empty(n)
    step, moved = np.empty(n), np.empty(n)
    best = _total(loss, y, Z, weight, bias, z)
    for _ in range(_MOST_STEPS):
        pull, bend = np.zeros(n), np.zeros(n)
        for i in range(y.shape[0]):
            for c in range(n):
                z[c] = Z[i, c] + bias[c]
            ask(loss, y[i], z, weight[i], pulls, curvatures)
            for c in range(n):
                pull[c] += pulls[c]
                bend[c] += curvatures[c]
        for c in range(n):
            step[c] = pull[c] / bend[c] if bend[c] > 0.0 else 0.0
            step[c] /= 1.0 if n == 1 else 2.0
        size, better = 1.0, False
        for _ in range(_MOST_HALVES):
            for c in range(n):
                moved[c] = bias[c] + size * step[c]
            total = _total(loss, y, Z, weight, moved, z)
            if total < best:
                better = True
                break
            size /= 2.0
        if not better:
            return
        far = 0.0
        for c in range(n):
            far = max(far, abs(moved[c] - bias[c]) / (1.0 + abs(moved[c])))
            bias[c] = moved[c]
        best = total
        if far < _TINY:
            return
