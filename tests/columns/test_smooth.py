"""Losses other than the squared one, against the paper's algorithm one by one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import online_substitution as slow
from shortlist._protocols import ColumnBlock
from shortlist._targets import Target
from shortlist.columns import OnlineSubstitution, _smooth
from shortlist.columns._data import Data, Settings
from shortlist.columns._retained import prepare
from shortlist.columns._smooth import SmoothWorker
from shortlist.kernels.substitution import CANDIDATE
from shortlist.losses import Huber, Logistic

SIGNS = ((-1, 1), np.array([-1.0, 1.0]))


def draw(seed, n=70, p=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X = (X - X.mean(0)) / X.std(0)
    return X, X[:, 3] - X[:, 11] + 0.5 * rng.normal(size=n)


def block_of(X):
    ids = np.arange(X.shape[1], dtype=np.uint64)
    return ColumnBlock(np.ascontiguousarray(X.T), ids, [str(i) for i in ids], len(ids))


def run(loss, X, y, k, passes, **steps):
    target = Target(loss, *SIGNS) if loss.target == "sign" else Target(loss, None, y)
    share = np.full(len(y), 1 / len(y))
    data = Data(target, y, share, float(len(y)))
    worker = SmoothWorker(data, Settings(k, k, **steps))
    bias = worker.intercept[0]
    for number in range(passes):
        ready = prepare(block_of(X), share, standardize=True)
        worker.step(ready, np.full(X.shape[1], CANDIDATE), number + 1)
    return worker, bias


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.sampled_from([Logistic(), Huber(0.7)]))
def test_numbers_for_eta_and_m_are_those_of_the_paper(seed, loss):
    X, z = draw(seed)
    y = np.sign(z) if loss == Logistic() else z
    worker, bias = run(loss, X, y, 4, 2, eta=1.5, m=2.0)
    supports, w, b, objectives = slow.smooth_substitution(
        loss, X, y, 4, eta=1.5, m=2.0, passes=2, bias=bias
    )
    assert worker.retained.names[:4] == [str(j) for j in supports[-1]]
    np.testing.assert_allclose(worker.weights[:, 0], w, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(worker.intercept, b, rtol=1e-8, atol=1e-12)
    assert worker.objective() == pytest.approx(objectives[-1], rel=1e-10)
    changes = sum(one != other for one, other in pairwise(supports[3:]))
    assert worker.retained.n_events == 4 + changes


def test_parts_and_threads_change_nothing_but_the_last_digits(monkeypatch):
    X, z = draw(0, n=600)
    whole, _ = run(Logistic(), X, np.sign(z), 5, 3)
    monkeypatch.setattr(_smooth, "_PART", 100)
    parts, _ = run(Logistic(), X, np.sign(z), 5, 3)
    monkeypatch.setattr(_smooth, "_MANY", 1)
    monkeypatch.setattr(_smooth.os, "cpu_count", lambda: 3)
    threads, _ = run(Logistic(), X, np.sign(z), 5, 3)
    assert threads.retained.names == parts.retained.names == whole.retained.names
    np.testing.assert_allclose(parts.weights, whole.weights, rtol=1e-10)
    np.testing.assert_array_equal(threads.weights, parts.weights)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "huber", "poisson"])
def test_defaults_find_what_matters(loss):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 300)) * rng.uniform(0.1, 10, 300) + 5
    Z = (X - X.mean(0)) / X.std(0)
    z = Z[:, 20] - Z[:, 130] + 0.7 * Z[:, 290]
    y = {
        "logistic": np.where(z + 0.5 * rng.logistic(size=400) > 0, 1, 0),
        "squared_hinge": np.where(z > 0, 1, 0),
        "huber": 1e4 + 100 * (z + 0.2 * rng.standard_t(2, 400)),
        "poisson": rng.poisson(np.exp(z)),
    }[loss]
    selector = OnlineSubstitution(3, loss=loss).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [20, 130, 290]


def test_classes_share_their_features():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 50))
    y = np.array(["a", "b", "c"])[np.argmax(X[:, [4, 9, 30]], axis=1)]
    selector = OnlineSubstitution(3).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [4, 9, 30]
    assert selector.coef_.shape == (3, 50)
    assert selector.score(X, y) > 0.95
