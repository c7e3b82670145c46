"""Errors of weights say how far off these are, whatever the noise and the features."""

import numpy as np
import pytest

import shortlist._refit
import shortlist._weight_errors
from shortlist import Mission
from shortlist._steps import LOSS, N_TOTALS, WEIGHT
from shortlist._trace import TRACE_INTERVAL, Trace

P = 6
TRUTH = np.array([1.0, -0.5, 0.0, 0.8, -1.0, 0.3])


def correlated(rng, n):
    """Columns of which neighbours correlate by 0.9, not about zero."""
    X = rng.normal(size=(n, P))
    for j in range(1, P):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.9**2) * X[:, j]
    return X + 2.0


def draw(rng, loss, n=400, spread=3.0):
    X = correlated(rng, n)
    z = (X - 2.0) @ TRUTH
    if loss == "squared":
        return X, 100.0 + z + spread * rng.normal(size=n)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "yes", "no")


def fitted(X, y, weight=None, **settings):
    """Weights and errors of all columns, in their order."""
    selector = Mission(P, scale=None, **settings).fit(X, y, sample_weight=weight)
    chosen = selector.shortlist_
    order = np.argsort(chosen.ids)
    return chosen.weights[order], chosen.errors[order]


def coverage(rng, loss, n, repeats, **settings):
    """Share of weights that are no further than two errors from the truth."""
    held = []
    for _ in range(repeats):
        weights, errors = fitted(*draw(rng, loss, n), loss=loss, **settings)
        held.append(np.abs(weights - TRUTH) <= 2 * errors)
    return np.mean(held)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_two_errors_hold_the_truth_nineteen_times_in_twenty(loss):
    held = coverage(np.random.default_rng(0), loss, n=400, repeats=60)
    assert 0.92 < held < 0.98  # of 360 weights, which go together in their samples


def inverse_hessian_errors(X, y, loss, weights, bias, ridge):
    """Standard errors from the whole Hessian, bias included."""
    z = X @ weights + bias
    p = 1 / (1 + np.exp(-z))
    h = np.ones(len(y)) if loss == "squared" else p * (1 - p)
    A = np.column_stack([X, np.ones(len(y))])
    hessian = A.T @ (h[:, None] * A)
    penalised = np.linalg.inv(hessian + np.diag([*ridge, 0.0]))
    noise = 1.0
    if loss == "squared":
        free = len(y) - np.trace(penalised @ hessian)
        noise = ((y - z) ** 2).sum() / free
    return np.sqrt(noise * np.diag(penalised)[:-1])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_errors_of_kept_rows_are_those_of_the_whole_hessian(loss):
    X, y = draw(np.random.default_rng(1), loss)
    selector = Mission(P, scale=None, loss=loss).fit(X, y)
    weights, errors = fitted(X, y, loss=loss)
    apart = X - X.mean(axis=0)
    share = (apart**2).sum(axis=0) / (X**2).sum(axis=0)
    ridge = 0.2 * (apart**2).sum(axis=1).mean() * share
    bias = selector.shortlist_.intercept[0]
    expected = inverse_hessian_errors(X, y, loss, weights, bias, ridge)
    np.testing.assert_allclose(errors, expected, rtol=1e-6)


def test_of_many_features_only_the_diagonal_is_asked_for(monkeypatch):
    X, y = draw(np.random.default_rng(2), "squared")
    _, together = fitted(X, y)
    monkeypatch.setattr(shortlist._weight_errors, "MOST_TOGETHER", P - 1)
    _, alone = fitted(X, y)
    assert (alone < 0.7 * together).all()
    residual = 3.0 / np.sqrt(len(y) * X.var(axis=0))
    np.testing.assert_allclose(alone, residual, rtol=0.15)


@pytest.mark.parametrize("recipe", ["refit", "streamed refit", "newton"])
def test_errors_have_the_unit_of_the_target(recipe, monkeypatch):
    if recipe == "streamed refit":
        monkeypatch.setattr(shortlist._refit, "EXACT_NNZ", 0)
    settings = {"recipe": recipe.split()[-1], "loss": "squared"}
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, P))  # independent, as streams take them to be
    noise = rng.normal(size=len(X))
    for spread in (0.1, 10.0):
        y = X @ TRUTH + spread * noise
        _, errors = fitted(X, y, **settings)
        expected = spread / np.sqrt(len(X))
        np.testing.assert_allclose(errors, expected, rtol=0.3)
        _, larger = fitted(X, 1024.0 * y, **settings)
        np.testing.assert_allclose(larger, 1024.0 * errors, rtol=1e-3)


def test_a_weighted_row_counts_as_its_repetitions():
    rng = np.random.default_rng(4)
    X, y = draw(rng, "squared", n=60)
    times = rng.integers(0, 4, len(y))
    _, weighted = fitted(X, y, times.astype(float), loss="squared")
    repeated = fitted(np.repeat(X, times, axis=0), np.repeat(y, times), loss="squared")
    np.testing.assert_allclose(weighted, repeated[1], rtol=1e-6)


def test_margins_of_a_softmax_have_errors_of_their_own():
    rng = np.random.default_rng(5)
    X = correlated(rng, 500)
    y = np.argmax(X[:, :3] + rng.gumbel(size=(500, 3)), axis=1)
    chosen = Mission(P, scale=None, loss="softmax").fit(X, y).shortlist_
    assert len(chosen.errors) == 3 * P
    # what correlates by 0.9 with two others is known five times worse than alone
    alone = 1 / np.sqrt(500 * X.var(axis=0).mean() * 0.2)
    assert (chosen.errors > 1.2 * alone).all()
    assert (chosen.errors < 6 * alone).all()


@pytest.mark.parametrize(
    "settings",
    [{"recipe": "paper"}, {"recipe": "paper", "sketch": "identity"}, {"loss": "hinge"}],
)
def test_errors_that_nobody_knows_are_not_numbers(settings):
    X, y = draw(np.random.default_rng(6), "logistic", n=100)
    chosen = Mission(P, scale=None, **settings).fit(X, y).shortlist_
    assert np.isnan(chosen.errors).all()
    assert "nan" not in str(chosen)
    assert "error" not in str(chosen).splitlines()[2]
    assert "nan" not in chosen.to_csv_text()
    assert {entry["error"] for entry in chosen.to_dict()["entries"]} == {None}


def test_the_first_rows_of_a_stream_are_no_noise():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(4000, P))
    y = 1e4 + X @ TRUTH + rng.normal(size=len(X))  # the first loss is 5e7
    _, errors = fitted(X, y, recipe="newton", loss="squared")
    np.testing.assert_allclose(errors, 1 / np.sqrt(len(X)), rtol=0.3)


def test_late_losses_leave_out_the_first_windows():
    trace, totals = Trace(), np.zeros(N_TOTALS)
    assert np.isnan(trace.late_loss(totals))
    for loss in (9.0, 5.0, 1.0, 3.0):
        totals[WEIGHT] += TRACE_INTERVAL
        totals[LOSS] += loss * TRACE_INTERVAL
        trace.advance(TRACE_INTERVAL, totals)
    assert trace.late_loss(totals) == pytest.approx(2.0)
    few = Trace(rows=10)
    totals[WEIGHT], totals[LOSS] = 10.0, 40.0
    assert few.late_loss(totals) == pytest.approx(4.0)
