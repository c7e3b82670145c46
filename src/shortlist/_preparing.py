"""What is done to the values of a row before anything is learned from it.

All of it is the same for learning and for predicting, so a Shortlist carries it in its
``params``. Weights are those of the values so prepared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shortlist._protocols import RowBlock, ShortlistError
from shortlist.kernels._jit import kernel
from shortlist.kernels.repeats import added_up


class Preparing(NamedTuple):
    """How to prepare rows: first logarithms, then length."""

    log1p: bool = False  #: x becomes sign(x) log(1 + |x|)
    normalize: str | None = None  #: "l2": rows of length 1

    def check(self) -> None:
        """Refuse settings that make no sense."""
        if self.normalize not in (None, "l2"):
            raise ShortlistError(
                f"normalize should be None or 'l2', got {self.normalize!r}"
            )
        if not isinstance(self.log1p, bool | np.bool_):
            raise ShortlistError(f"log1p should be True or False, got {self.log1p!r}")

    def apply(self, block: RowBlock) -> RowBlock:
        """Prepare the rows of a block; the block itself stays as it is.

        What comes several times in a row is one feature first: lengths, logarithms and
        largest values are those of sums.
        """
        block = added_up(block)
        if not self.log1p and self.normalize is None:
            return block
        values = block.values.copy()
        prepare(block.indptr, values, bool(self.log1p), self.normalize == "l2")
        return block._replace(values=values)

    def as_params(self) -> dict[str, Any]:
        """What a result keeps of it: nothing, if nothing is done."""
        if self == AS_IT_IS:
            return {}
        return {"log1p": bool(self.log1p), "normalize": self.normalize}


#: Nothing is done.
AS_IT_IS = Preparing()


def preparing_of(params: Mapping[str, Any]) -> Preparing:
    """How the rows of a result were prepared."""
    return Preparing(params.get("log1p", False), params.get("normalize"))


@kernel
def prepare(indptr, values, log1p, unit):  # type: ignore[no-untyped-def]
    """Prepare the values of rows, in place; ``unit``: to length 1."""
    for i in range(indptr.shape[0] - 1):
        norm = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            if log1p:
                values[t] = np.sign(values[t]) * np.log1p(abs(values[t]))
            norm += values[t] * values[t]
        if unit and norm > 0.0:
            for t in range(indptr[i], indptr[i + 1]):
                values[t] /= np.sqrt(norm)
