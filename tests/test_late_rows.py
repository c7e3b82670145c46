"""The last rows of a stream, and the intercepts that they suggest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from shortlist import _late_rows
from shortlist._late_rows import LateRows, settle_bias
from shortlist._protocols import RowBlock
from shortlist.losses import Huber, Logistic, Poisson, Softmax, Squared, value_of


def block_of(lengths, first=0):
    """Rows of these lengths; labels are their numbers."""
    n = int(sum(lengths))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    y = np.arange(first, first + len(lengths), dtype=float)
    ids = np.arange(n, dtype=np.uint64)
    return RowBlock(indptr, ids, np.ones(n), y, np.ones(len(y)), first, 0)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.lists(st.integers(1, 12), min_size=1, max_size=40),
)
def test_which_rows_are_the_last_does_not_depend_on_blocks(lengths, sizes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_late_rows, "MOST_ROWS", 7)
        patch.setattr(_late_rows, "MOST_NONZEROS", 20)
        late, at = LateRows(), 0
        for size in (*sizes, len(lengths)):
            part = lengths[at : at + size]
            late.add(block_of(part, at))
            at += len(part)
        found = np.concatenate([block.y for block in late.last()])
        held = sum(block.n_rows for block in late.blocks)
    expected, nonzeros = [], 0
    for row in reversed(range(len(lengths))):
        nonzeros += lengths[row]
        if expected and (nonzeros > 20 or len(expected) == 7):
            break
        expected.append(row)
    assert found.tolist() == expected[::-1]
    assert held <= len(lengths)


@pytest.mark.parametrize(
    ("loss", "margins"),
    [(Squared(), 1), (Logistic(), 1), (Huber(1.0), 1), (Poisson(), 1), (Softmax(), 3)],
    ids=str,
)
def test_intercepts_are_those_of_least_loss(loss, margins):
    rng = np.random.default_rng(3)
    n = 200
    Z, weight = rng.normal(size=(n, margins)), rng.random(n)
    y = {
        "sign": np.sign(rng.normal(size=n) + 0.7),
        "count": rng.poisson(2.0, n).astype(float),
        "class": rng.integers(0, 3, n).astype(float),
    }.get(loss.target, rng.normal(size=n) + 4.0)

    def total(bias):
        return sum(
            w * value_of(loss, t, z + bias)
            for w, t, z in zip(weight, y, Z, strict=True)
        )

    bias = np.full(margins, -1.0)
    settle_bias(loss, y, Z, weight, bias)
    best = minimize(total, np.zeros(margins), tol=1e-10)
    assert total(bias) <= best.fun + 1e-6 * abs(best.fun)
