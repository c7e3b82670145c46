"""FoBa and columns that are combinations of others, which only a ridge gains from."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from shortlist import FoBa


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(("loss", "l2"), [("logistic", "auto"), ("squared", 0.1)])
def test_a_column_that_others_add_up_to_takes_no_place(loss, l2, form):
    # a ridge is smaller where two columns share the work of one
    rng = np.random.default_rng(5)
    n = 300
    member = rng.random(n) < 0.5
    A = rng.normal(size=(n, 10))
    margin = 1.5 * member + 0.5 * (A[:, 0] + A[:, 1]) + 0.7 * rng.normal(size=n) - 0.75
    X = np.column_stack([A, member, ~member]).astype(float)
    y = np.sign(margin) if loss == "logistic" else margin
    chosen = FoBa(3, loss=loss, l2=l2).fit(form(X), y).get_support(indices=True)
    assert chosen.tolist() in ([0, 1, 10], [0, 1, 11])


def test_a_column_that_others_add_up_to_may_come_in_when_these_have_left():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    y = np.sign(X[:, 3] + 0.1 * rng.normal(size=200))
    path = FoBa(2, overshoot=1.0).fit(X, y)
    assert path.at(1).support.tolist() == [3]
