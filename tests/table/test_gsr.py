"""Reweighted least squares of GSR against its transcriptions, and what it promises."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import MultiTaskLasso

from reference.gsr import dual_gsr, gsr, objective, rfs
from shortlist import DataError
from shortlist.table import _gsr
from shortlist.table._gsr import reweight
from shortlist.table._gsr_lambda import find_lambda, search_lambda
from shortlist.table._gsr_problem import GsrProblem, GsrSettings
from shortlist.table._gsr_table import DenseTable, SparseTable, scaled_table

TALL, WIDE = (60, 20), (20, 50)


def planted(seed, shape=TALL, s=4, outputs=3, noise=0.3, density=1.0):
    """X, Y that three rows of weights explain, and the true support."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.random(shape) < density)
    support = np.sort(rng.choice(shape[1], s, replace=False))
    Y = X[:, support] @ rng.normal(size=(s, outputs))
    return X, Y + noise * rng.normal(size=Y.shape), support


def problem_of(X, Y, weight=None, unit_of=None, kept=None, mean=None):
    n, p = X.shape
    unit_of = np.arange(p) if unit_of is None else unit_of
    mean = np.zeros(p) if mean is None else mean
    table = scaled_table(X, np.arange(p), np.arange(n), mean, np.ones(p))
    return GsrProblem(
        table,
        Y.astype(table.dtype),
        np.ones(n) if weight is None else weight,
        unit_of,
        np.zeros(unit_of.max() + 1, bool) if kept is None else kept,
    )


def asked(**options):
    return GsrSettings(**{"drop": 0.0, "tol": 0.0, **options})


@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
@pytest.mark.parametrize("p", [1.0, 0.5, 0.25])
def test_iterations_are_those_of_the_paper_one_by_one(shape, r, p):
    X, Y, _ = planted(0, shape)
    for t, (W, _, value) in enumerate(gsr(X, Y, r, p, 2.0, 6), 1):
        found = reweight(problem_of(X, Y), asked(r=r, p=p, max_iter=t), 2.0)
        np.testing.assert_allclose(found.W, W, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(found.values[-1], value, rtol=1e-9)


def test_the_two_forms_of_the_paper_are_one():
    X, Y, _ = planted(1, (25, 25))
    steps = gsr(X, Y, 1.0, 0.5, 3.0, 5), dual_gsr(X, Y, 1.0, 0.5, 3.0, 5)
    for (W, _, _), dual in zip(*steps, strict=True):
        np.testing.assert_allclose(W, dual, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("r", [2.0, 1.0])
def test_intercepts_that_move_and_weights_of_rows_are_minimised_over(shape, r):
    X, Y, _ = planted(2, shape)
    weight = np.random.default_rng(0).uniform(0.5, 3.0, len(X))
    X, Y = X - weight @ X / weight.sum(), Y - weight @ Y / weight.sum()
    options = {"r": r, "p": 0.5, "moving": True}
    for t, (W, b, value) in enumerate(
        gsr(X, Y, r, 0.5, 2.0, 5, weight=weight, intercept=True), 1
    ):
        found = reweight(problem_of(X, Y, weight), asked(**options, max_iter=t), 2.0)
        np.testing.assert_allclose(found.W, W, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.b, b, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.values[-1], value, rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    r=st.floats(0.1, 2.0),
    p=st.floats(0.1, 1.0),
    shape=st.sampled_from([TALL, WIDE]),
    drop=st.sampled_from([0.0, 1e-3, 0.1]),
    moving=st.booleans(),
    lam=st.floats(1e-4, 100.0),
    grouped=st.booleans(),
    kind=st.sampled_from(["float64", "float32"]),
    thin=st.booleans(),
    weighted=st.booleans(),
)
def test_the_objective_never_rises(
    seed, r, p, shape, drop, moving, lam, grouped, kind, thin, weighted
):
    X, Y, _ = planted(seed, shape, density=0.09 if thin else 1.0)
    weight = np.ones(len(X))
    if weighted:
        weight = np.random.default_rng(seed).uniform(0.1, 4.0, len(X))
    mean, Y = weight @ X / weight.sum(), Y - weight @ Y / weight.sum()
    Y /= np.sqrt(np.mean(np.sum(Y**2, axis=1)))
    unit_of = np.arange(shape[1]) // (3 if grouped else 1)
    kept = np.arange(unit_of.max() + 1) == 1
    options = GsrSettings(r, p, 40, 0.0, drop, 1e-4, moving)
    A = sparse.csr_array(X.astype(kind)) if thin else X.astype(kind)
    problem = problem_of(A, Y, weight, unit_of, kept, mean)
    found = reweight(problem, options, lam)
    assert np.all(np.diff(found.values) <= 0.0)
    # what is returned has the value that was told, or less where units were dropped since
    E = (X - mean)[:, found.columns] @ found.W + found.b - Y
    units = np.unique(unit_of[found.columns])
    norms = np.bincount(unit_of[found.columns], np.sum(found.W**2, axis=1))[units]
    powers = np.where(kept[units], 1e-3 * norms, (norms + 1e-8) ** (p / 2) - 1e-4**p)
    value = weight @ (np.sum(E**2, axis=1) + 1e-8) ** (r / 2) + lam * powers.sum()
    assert value <= found.values[-1] * (1 + (1e-2 if kind == "float32" else 1e-7))
    assert unit_of[found.columns].tolist() == sorted(unit_of[found.columns].tolist())
    assert sorted(found.order(problem.n_units)) == list(range(problem.n_units))


@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("strength", [0.3, 0.05])
def test_the_convex_case_is_the_optimum_of_another_solver(shape, strength):
    X, Y, _ = planted(3, shape)
    alpha = strength * np.linalg.norm(X.T @ Y, axis=1).max() / len(X)
    lam = 2 * len(X) * alpha
    peer = MultiTaskLasso(alpha, fit_intercept=False, tol=1e-12, max_iter=50_000)
    W = peer.fit(X, Y).coef_.T
    found = reweight(problem_of(X, Y), asked(r=2.0, p=1.0, max_iter=3000), lam)
    np.testing.assert_allclose(found.W, W, atol=1e-4 * np.abs(W).max())
    best = objective(X, Y, W, 0.0, 2.0, 1.0, lam)
    np.testing.assert_allclose(found.values[-1], best, rtol=1e-4)
    assert 0 < np.count_nonzero(W.any(axis=1)) < shape[1]


@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_robust_feature_selection_under_a_constraint_ends_at_the_same_value(shape):
    X, Y, _ = planted(4, shape)
    *_, W = rfs(X, Y, 2.0, 2000)
    found = reweight(
        problem_of(X, Y), asked(r=1.0, p=1.0, max_iter=2000, smoothing=1e-8), 2.0
    )
    theirs = objective(X, Y, W, 0.0, 1.0, 1.0, 2.0)
    ours = objective(X, Y, found.W, 0.0, 1.0, 1.0, 2.0)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    np.testing.assert_allclose(found.values[-1], theirs, rtol=1e-6)


@pytest.mark.parametrize("p", [0.75, 0.5, 0.25])
def test_rows_that_vanish_do_so_at_the_order_of_the_theory(p):
    """||w|| after a step over ||w||^(2 - p) before it tends to a constant."""
    X, Y, support = planted(5, (200, 12), noise=0.1)
    options = asked(r=2.0, p=p, max_iter=60, smoothing=1e-14)
    found = reweight(problem_of(X, Y), options, 20.0)
    norms = np.array([standing.norms for standing in found.history])
    vanish = np.setdiff1d(np.arange(12), support)
    assert norms[-1, vanish].max() < 1e-8 < 1e-1 < norms[-1, support].min()
    orders = []
    for w in norms.T[vanish]:
        small = np.flatnonzero((w < 1e-3) & (w > 1e-12))
        small = small[small + 1 < len(w)]
        after = w[small + 1]
        usable = after > 1e-12
        logs = np.log(w[small][usable]), np.log(after[usable])
        if len(logs[0]) >= 2:
            orders.append(np.polyfit(*logs, 1)[0])
    assert len(orders) >= 3
    np.testing.assert_allclose(np.median(orders), 2 - p, atol=0.1)


def test_what_was_dropped_does_not_change_where_it_ends():
    X, Y, support = planted(6, (200, 60))
    kept = reweight(problem_of(X, Y), asked(tol=1e-12, max_iter=300), 40.0)
    gone = reweight(problem_of(X, Y), asked(tol=1e-12, drop=1e-3), 40.0)
    assert len(gone.columns) < 60
    assert set(support) <= set(gone.columns)
    np.testing.assert_allclose(gone.W, kept.W[gone.columns], atol=1e-6)
    np.testing.assert_allclose(gone.values[-1], kept.values[-1], rtol=1e-6)


def test_ranks_follow_the_order_of_elimination():
    X, Y, _ = planted(7, (200, 60), s=20)
    found = reweight(problem_of(X, Y), asked(drop=1e-3), 60.0)
    assert len(found.left) >= 2
    order = found.order(60).tolist()
    last = found.history[-1]
    n = len(last.units)
    assert order[:n] == last.units[np.argsort(-last.norms, kind="stable")].tolist()
    for gone in reversed(found.left):
        here = order[n : n + len(gone.units)]
        assert here == gone.units[np.argsort(-gone.norms, kind="stable")].tolist()
        n += len(gone.units)
    assert n == 60
    scores = found.scores(60)
    assert np.all(np.diff(scores[order]) <= 0)
    np.testing.assert_array_equal(scores[last.units], last.norms)


def test_a_penalty_far_too_large_still_ranks_the_truth_first():
    X, Y, support = planted(8, (300, 80), s=10, noise=0.1)
    lam, survivors = 1.0, 80
    while survivors > 5:
        lam *= 1.5
        found = reweight(problem_of(X, Y), asked(drop=1e-3, tol=1e-5), lam)
        survivors = found.n_survivors(np.zeros(80, bool))
    assert survivors > 0
    assert len(found.left) > 1
    assert len(set(found.order(80)[:10]) & set(support)) >= 9


class Counting(DenseTable):
    """Counts the matrices that are made of it, and of tables taken from it."""

    made: dict[str, list[int]]

    def times(self, W):
        self.made["times"].append(self.shape[1])
        return super().times(W)

    def gram(self, weight, center):
        self.made["gram"].append(self.shape[1])
        return super().gram(weight, center)

    def kernel(self, spread, center):
        self.made["kernel"].append(self.shape[1])
        return super().kernel(spread, center)

    def take(self, columns):
        part = Counting(super().take(columns)._A)
        part.made = self.made
        return part


def counted(shape, r, wanted):
    X, Y, _ = planted(9, shape)
    problem = problem_of(X, Y)
    table = Counting(X)
    table.made = {"gram": [], "kernel": [], "times": []}
    problem = GsrProblem(table, Y, problem.weight, problem.unit_of, problem.kept)
    options = asked(r=r, p=0.5, drop=1e-3, tol=1e-5)
    return search_lambda(problem, options, wanted, 1e-3), table.made


def test_the_gram_matrix_is_made_once_for_all_penalties():
    found, made = counted((150, 40), 2.0, 4)
    assert len(found.tried) >= 3
    assert made["gram"] == [40]
    assert made["kernel"] == []


def test_systems_are_as_large_as_rows_or_columns_whichever_is_cheaper():
    found, made = counted((20, 400), 2.0, 5)
    assert made["kernel"].count(400) >= len(found.tried)
    assert max(made["gram"], default=0) < 60
    # the dual form gives residuals for free, unless lam is lost in rounding
    assert made["times"].count(400) <= 1 < made["kernel"].count(400)
    _, made = counted((150, 40), 1.0, 4)
    assert made["kernel"] == []
    assert made["gram"][0] == 40 > made["gram"][-1]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    r=st.floats(0.3, 2.0),
    p=st.floats(0.25, 1.0),
    moving=st.booleans(),
    lam=st.floats(1e-6, 100.0),
    kind=st.sampled_from(["float64", "float32"]),
)
def test_residuals_that_come_for_free_are_those_of_the_weights(
    seed, r, p, moving, lam, kind
):
    X, Y, _ = planted(seed, WIDE)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    Y /= np.sqrt(np.mean(np.sum(Y**2, axis=1)))
    options = asked(r=r, p=p, max_iter=8, moving=moving, smoothing=1e-3)
    found = reweight(problem_of(X.astype(kind), Y), options, lam)
    E = X @ found.W + found.b - Y
    loss = np.sum((np.sum(E**2, axis=1) + 1e-6) ** (r / 2))
    norms = np.sum(found.W.astype(float) ** 2, axis=1) + 1e-6
    value = loss + lam * np.sum(norms ** (p / 2) - 1e-3**p)
    rtol = 1e-7 if kind == "float64" else 1e-2
    np.testing.assert_allclose(found.values[-1], value, rtol=rtol)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), wanted=st.integers(1, 19), r=st.sampled_from([1, 2]))
def test_about_as_many_survive_as_are_wanted_unless_their_number_jumps(seed, wanted, r):
    X, Y, _ = planted(seed, TALL, s=10, noise=1.0)
    options = asked(r=float(r), p=0.5, drop=1e-3, tol=1e-5)
    found = search_lambda(problem_of(X, Y), options, wanted, 1.0)
    tried, counts = np.array(found.tried), np.array(found.survivors)
    right = (wanted <= counts) & (counts <= wanted + max(1, wanted // 5))
    assert not right[:-1].any()  # it ends there
    off = np.abs(np.log(np.maximum(counts, 0.1) / wanted))
    place = len(tried) - 1 if right[-1] else off.argmin()
    assert found.run.n_survivors(np.zeros(20, bool)) == counts[place]
    assert found.lam == tried[place]
    if not right[-1]:
        fewer, more = tried[counts < wanted], tried[counts >= wanted]
        assert fewer.min() < 1.05 * more.max()  # it jumps from too many to too few
    again = reweight(problem_of(X, Y), options, found.lam)
    assert again.values == found.run.values


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), guess=st.floats(1e-3, 1e3))
def test_with_slack_fewer_survivors_will_do_and_the_aim_lies_where_more_are(
    seed, guess
):
    X, Y, _ = planted(seed, TALL, s=10, noise=1.0)
    options = asked(p=0.5, drop=1e-3, tol=1e-5)
    strict = search_lambda(problem_of(X, Y), options, 10, guess)
    slack = search_lambda(problem_of(X, Y), options, 10, guess, slack=0.4)
    few, n = len(slack.tried), slack.survivors[-1]
    assert slack.tried == strict.tried[:few]  # it only ends earlier
    assert all(not 6 <= count <= 12 for count in slack.survivors[:-1])
    if 6 <= n < 10:
        assert slack.lam == slack.tried[-1] > slack.aim
    elif n > 11:
        assert slack.lam < slack.aim


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_a_search_ends_where_smaller_penalties_let_no_more_survive(r):
    X, Y, _ = planted(0, (20, 200), outputs=1)
    options = asked(r=r, p=0.5, drop=1e-3, tol=1e-5)
    found = search_lambda(problem_of(X, Y), options, 30, 1.0)
    assert max(found.survivors) < 30
    assert len(found.tried) <= 15
    counts = np.array(found.survivors)
    first = np.array(found.tried)[counts == counts.max()].max()
    assert found.lam == first  # lams without an effect do not take over
    # all of the last few were tried in vain, over a large range
    assert np.log(first / min(found.tried)) > 6.0


def test_more_than_half_of_the_rows_are_not_asked_for():
    X, Y, _ = planted(0, (40, 200), outputs=1)
    options = asked(p=0.5, drop=1e-3, tol=1e-5)
    found = find_lambda(problem_of(X, Y), options, 150, 1.0)
    assert 20 <= found.survivors[-1] <= 24


@pytest.mark.parametrize(("guess", "probes"), [(1e-6, 1), (1e3, 2)])
def test_a_search_ends_where_many_survivors_show_that_it_is_hopeless(guess, probes):
    X, Y, _ = planted(0, TALL, s=10, noise=1.0)
    options = asked(p=0.5, drop=1e-3, tol=1e-5)
    told = []

    def hopeless(run):
        told.append(run.n_survivors(np.zeros(20, bool)))
        return True

    found = search_lambda(problem_of(X, Y), options, 3, guess, hopeless)
    assert len(found.tried) >= probes
    assert found.survivors[-1:] == told  # few survivors may be why a run is bad
    assert told[0] > 4
    assert all(count < 3 for count in found.survivors[:-1])


@pytest.mark.parametrize("center", [False, True])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["float64", "float32"]))
def test_sparse_tables_are_the_dense_ones(center, seed, kind):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(30, 12)) * (rng.random((30, 12)) < 0.05)).astype(kind)
    columns, rows = np.array([0, 2, 3, 7, 11]), np.arange(0, 30, 2)
    mean, scale = rng.normal(size=5), rng.uniform(0.5, 2.0, 5)
    thin = scaled_table(sparse.csr_array(X), columns, rows, mean, scale)
    dense = scaled_table(X, columns, rows, mean, scale)
    assume(isinstance(thin, SparseTable))  # few enough of its entries are not 0
    assert (thin.dtype, dense.dtype) == (np.float64, kind)
    middle = rng.normal(size=3).astype(kind) if center else None
    few, half = np.array([1, 2, 4]), np.arange(0, 15, 3)
    weight = rng.uniform(0.1, 2.0, 5)
    spread = rng.uniform(0.1, 2.0, 3)
    W, G = rng.normal(size=(3, 2)).astype(kind), rng.normal(size=(5, 2)).astype(kind)
    less = rng.normal(size=3).astype(kind)
    a, b = (table.take(few).of_rows(half, less) for table in (thin, dense))
    whole = (X[np.ix_(rows, columns)] - mean) / scale
    np.testing.assert_allclose(
        b.times(np.eye(3)), whole[np.ix_(half, few)] - less, 1e-3
    )
    close = {"rtol": 1e-3, "atol": 1e-4} if kind == "float32" else {"rtol": 1e-9}
    np.testing.assert_allclose(a.times(W), b.times(W), **close)
    np.testing.assert_allclose(a.transposed_times(G), b.transposed_times(G), **close)
    np.testing.assert_allclose(a.gram(weight, middle), b.gram(weight, middle), **close)
    np.testing.assert_allclose(
        a.kernel(spread, middle), b.kernel(spread, middle), **close
    )


def test_a_penalty_below_rounding_is_solved_with_all_the_same():
    X, Y, _ = planted(1, TALL)
    X = np.hstack([X, X, X @ np.ones((20, 5))])
    found = reweight(problem_of(X, Y), asked(p=1.0, max_iter=5), 1e-40)
    assert np.isfinite(found.W).all()
    least = np.linalg.lstsq(X, Y)[0]
    np.testing.assert_allclose(X @ found.W, X @ least, atol=1e-3)


def test_what_single_precision_cannot_do_is_done_in_double():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 80)).astype(np.float32)
    Y = X[:, :5].sum(axis=1, keepdims=True) + 0.3 * rng.normal(size=(80, 1))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    options = GsrSettings(0.5, 0.5, softening=1e-3)
    single = reweight(problem_of(X, Y), options, 1e-3)
    double = reweight(problem_of(X.astype(float), Y), options, 1e-3)
    assert single.converged
    assert single.W.dtype == np.float64
    np.testing.assert_allclose(single.values[-1], double.values[-1], rtol=1e-4)
    easy = reweight(problem_of(X, Y), GsrSettings(), 30.0)
    assert easy.W.dtype == np.float32


def test_a_step_that_rises_is_not_taken(monkeypatch):
    """Here because a solve is not exact, as it were by rounding."""
    X, Y, _ = planted(0)
    plain = reweight(problem_of(X, Y), asked(max_iter=4), 5.0)
    solve, solved = _gsr._ridge_solve, []

    def wrong(G, d, lam, rhs):
        V, error = solve(G, d, lam, rhs)
        solved.append(V)
        return (V if len(solved) <= 4 else -V), error

    monkeypatch.setattr(_gsr, "_ridge_solve", wrong)
    found = reweight(problem_of(X, Y), asked(max_iter=9), 5.0)
    assert len(solved) == 5
    assert not found.converged
    assert found.values == plain.values
    np.testing.assert_array_equal(found.W, plain.W)
    assert len(found.history) == 4


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("thin", [True, False])
def test_parts_of_the_rows_are_centred_by_those_to_learn_from(centred, thin):
    X, Y, _ = planted(0, (60, 20), density=0.09 if thin else 1.0)
    weight = np.random.default_rng(0).uniform(0.5, 3.0, 60)
    A = sparse.csr_array(X) if thin else X
    problem = replace(problem_of(A, Y, weight), centred=centred)
    train, test = np.arange(0, 60, 2), np.arange(1, 60, 2)
    part, rest, level = problem.divided(train, test)
    off = [weight[train] @ Z[train] / weight[train].sum() * centred for Z in (X, Y)]
    np.testing.assert_allclose(level, off[1], atol=1e-12)
    for some, rows in ((part, train), (rest, test)):
        np.testing.assert_allclose(
            some.table.times(np.eye(20)), X[rows] - off[0], atol=1e-12
        )
        np.testing.assert_allclose(some.Y, Y[rows] - level, atol=1e-12)
        np.testing.assert_array_equal(some.weight, weight[rows])


def test_tables_whose_products_overflow_are_refused_in_one_line():
    X, Y, _ = planted(1)
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(DataError, match="scale its columns"),
    ):
        reweight(problem_of(1e160 * X, Y), asked(), 1.0)


def test_tables_that_are_not_finite_are_refused():
    X, Y, _ = planted(1)
    X[3, 4] = np.nan
    with pytest.raises(DataError, match="X should be finite"):
        problem_of(X, Y)
