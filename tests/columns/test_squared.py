"""Squared loss: blocks give what one-by-one arrivals give."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import online_substitution as slow
from shortlist._protocols import ColumnBlock
from shortlist._targets import Target
from shortlist.columns._data import Data, Settings
from shortlist.columns._retained import prepare
from shortlist.columns._squared import SquaredWorker
from shortlist.kernels.substitution import CANDIDATE
from shortlist.losses import Squared

TARGET = Target(Squared(), None, np.empty(0))


def draw(seed, n=60, p=40, rho=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] += rho * X[:, j - 1]
    X *= rng.uniform(0.5, 2.0, p)
    y = X[:, ::7] @ rng.normal(size=len(range(0, p, 7))) + 0.1 * rng.normal(size=n) + 3
    return X, y, rng


def run(X, y, k, widths, passes, weight=None, standardize=True, **settings):
    """Supports after each arrival as the events tell them, and the worker."""
    data = Data.of(TARGET, y, weight)
    worker = SquaredWorker(data, Settings(k, k, **settings, standardize=standardize))
    objectives = []
    ends = np.cumsum(widths)
    ends = [0, *ends[ends < X.shape[1]].tolist(), X.shape[1]]
    for number in range(passes):
        for first, stop in pairwise(ends):
            ids = np.arange(first, stop, dtype=np.uint64)
            names = [str(i) for i in ids]
            values = np.ascontiguousarray(X[:, first:stop].T)
            block = ColumnBlock(values, ids, names, stop)
            status = np.full(len(ids), CANDIDATE)
            ready = prepare(block, data.share, standardize=standardize)
            worker.step(ready, status, number + 1)
            objectives.append(worker.objective())
    supports, slots = [], []
    events = {event.arrival: event for event in worker.retained.events}
    for arrival in range(1, worker.n_arrived + 1):
        if arrival in events:
            event = events[arrival]
            if event.left:
                slots[slots.index(int(event.left))] = int(event.entered)
            else:
                slots.append(int(event.entered))
        supports.append(list(slots))
    worker.objectives = objectives
    return supports, worker


def standardised(X, share, standardize=True):
    X = X - share @ X
    return X / np.sqrt(share @ X**2) if standardize else X


widths = st.lists(st.integers(1, 30), min_size=1, max_size=8)
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=25)
@given(seeds, widths, st.integers(1, 12), st.booleans(), st.booleans())
def test_blocks_give_the_supports_of_the_paper(seed, widths, k, weighted, standardize):
    X, y, rng = draw(seed)
    weight = rng.uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    share = weight / weight.sum()
    Z = standardised(X, share, standardize)
    expected, w, _ = slow.substitution(Z, y - share @ y, k, passes=2, share=share)
    supports, worker = run(X, y, k, widths, 2, weight, standardize)
    assert supports == expected
    np.testing.assert_allclose(worker.weights[:, 0], w, rtol=1e-6, atol=1e-9)


@settings(max_examples=15)
@given(seeds, widths, st.floats(0.2, 1.5), st.floats(0.5, 4.0))
def test_numbers_for_eta_and_m_are_those_of_the_paper(seed, widths, eta, m):
    X, y, _ = draw(seed, p=25)
    share = np.full(len(y), 1 / len(y))
    Z = standardised(X, share)
    wanted = {"eta": eta, "m": 10 * m}
    expected, w, _ = slow.substitution(Z, y - y.mean(), 5, passes=2, **wanted)
    supports, worker = run(X, y, 5, widths, 2, **wanted)
    assert supports == expected
    np.testing.assert_allclose(worker.weights[:, 0], w, rtol=1e-6, atol=1e-9)


@settings(max_examples=25)
@given(seeds, widths, st.integers(1, 12), st.booleans())
def test_exact_exchanges_are_those_of_refits_on_one_more(seed, widths, k, weighted):
    X, y, rng = draw(seed, rho=0.8)
    weight = rng.uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    share = weight / weight.sum()
    Z = standardised(X, share)
    expected, w, objectives = slow.exact_substitution(
        Z, y - share @ y, k, passes=3, share=share
    )
    supports, worker = run(X, y, k, widths, 3, weight, exchange="exact")
    assert supports == expected
    np.testing.assert_allclose(worker.weights[:, 0], w, rtol=1e-6, atol=1e-9)
    assert worker.objective() == pytest.approx(objectives[-1], rel=1e-9)


@settings(max_examples=20)
@given(seeds, st.integers(1, 10))
def test_the_objective_never_rises_while_eta_is_below_one_over_l(seed, k):
    X, y, _ = draw(seed)
    Z = standardised(X, np.full(len(y), 1 / len(y)))
    largest = np.linalg.eigvalsh(Z.T @ Z / len(y))[-1]
    eta = 0.99 / largest
    _, worker = run(X, y, k, [1] * 40, 2, eta=eta, m=1.0)
    assert np.all(np.diff(worker.objectives) <= 1e-12 * worker.objectives[0])
    _, worker = run(X, y, k, [1] * 40, 2, exchange="exact")
    assert np.all(np.diff(worker.objectives) <= 1e-12 * worker.objectives[0])


def test_many_exchanges_leave_weights_that_solve_the_problem():
    X, y, _ = draw(0, n=400, p=600, rho=0.9)
    _, worker = run(X, y, 30, [64] * 20, 4, exchange="exact")
    assert worker.retained.n_events > 150
    found = worker.weights.copy()
    worker.refit()
    np.testing.assert_allclose(found, worker.weights, rtol=1e-7)


def test_copies_of_a_column_are_not_taken_twice():
    X, y, _ = draw(0, p=10)
    doubled = np.hstack([X, X])
    _, worker = run(doubled, y, 12, [7] * 3, 2, exchange="exact")
    assert worker.retained.n == 10
    assert np.isfinite(worker.weights).all()
