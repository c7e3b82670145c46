"""Exact exchanges for losses of one margin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist._protocols import ColumnBlock
from shortlist._targets import Target
from shortlist.columns import OnlineSubstitution
from shortlist.columns._data import Data, Settings
from shortlist.columns._linearised import LinearisedWorker
from shortlist.columns._parabola import parabolas
from shortlist.columns._retained import prepare
from shortlist.kernels.substitution import CANDIDATE
from shortlist.losses import get_loss
from shortlist.losses.arrays import mean_loss


def data_of(loss, y):
    loss = get_loss(loss)
    return Data(Target(loss, None, np.empty(0)), y, np.full(len(y), 1 / len(y)), len(y))


@given(st.integers(0, 2**32 - 1), st.sampled_from(["logistic", "poisson", "huber"]))
def test_a_parabola_touches_the_loss_in_weights_and_intercept(seed, loss):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(3, 40))
    y = {"logistic": np.sign(rng.normal(size=40)), "huber": rng.normal(size=40)}
    data = data_of(loss, y.get(loss, rng.poisson(1.0, 40).astype(float)))
    w, bias, h = 0.3 * rng.normal(size=3), 0.2, 1e-6
    Z = (w @ V + bias)[:, None]
    (parabola,) = parabolas(data, Z)
    # the gradient of the parabola at w, the intercept at its best, by finite differences
    slope = parabola.gram(V) @ w - parabola.correlations(V)
    level = bias - parabola.intercept(V, w)
    sums = V @ parabola.weight
    for a in range(3):
        moved = Z + h * V[a][:, None]
        rise = mean_loss(data.loss, data.y, moved, data.share)
        rise -= mean_loss(data.loss, data.y, Z, data.share)
        assert slope[a] + sums[a] * level == pytest.approx(rise / h, abs=1e-4)


@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["logistic", "squared_hinge", "huber", "poisson"]),
)
def test_exchanges_lower_the_objective_and_come_to_an_end(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 24))
    z = X[:, 3] - X[:, 11] + 0.5 * rng.normal(size=60)
    y = np.sign(z) if loss in ("logistic", "squared_hinge") else z
    y = rng.poisson(np.exp(z)).astype(float) if loss == "poisson" else y
    worker = LinearisedWorker(data_of(loss, y), Settings(4, 4, exchange="exact"))
    ids = np.arange(24, dtype=np.uint64)
    before = 1e300
    for number in range(1, 30):
        values = np.ascontiguousarray(X.T)
        block = ColumnBlock(values, ids, [f"x{i}" for i in ids], 24)
        ready = prepare(block, worker.data.share, standardize=True)
        came = worker.step(ready, np.full(24, CANDIDATE), number)
        now = worker._penalised(worker.margins(), worker._W[:4])
        assert now <= before + 1e-12 * abs(before)
        if number > 1 and not came:
            break
        before = now
    assert worker.retained.n == 4
    assert came == 0


@pytest.mark.parametrize("loss", ["squared_hinge", "huber"])
def test_correlated_columns_are_found_that_gradient_steps_miss(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 300))
    for j in range(1, 300):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * X[:, j]
    support = rng.choice(300, 12, replace=False)
    z = X[:, support] @ rng.choice([-2.0, 2.0], 12)
    y = z + 0.3 * rng.standard_t(3, 800) if loss == "huber" else np.sign(z)
    hits = {
        exchange: len(
            set(support)
            & set(
                OnlineSubstitution(12, loss=loss, exchange=exchange)
                .fit(X, y)
                .get_support(indices=True)
            )
        )
        for exchange in ("exact", "gradient")
    }
    assert hits["exact"] >= 11
    assert hits["exact"] > hits["gradient"]
