"""LinearObjective equals the formula, whatever holds X and whatever the support is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference import objective as reference
from shortlist._protocols import DataError, Fit, ShortlistError
from shortlist.losses import curvature_into, get_loss, loss_class, loss_names
from shortlist.objectives import LinearObjective
from shortlist.objectives.columns import transposed_product

# Losses with a gradient everywhere and, with l2, one minimum.
SMOOTH = [
    name
    for name in loss_names()
    if loss_class(name).smoothness < np.inf or name == "poisson"
]

LAYOUTS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "CSR matrix": sparse.csr_matrix,
    "COO": sparse.coo_array,
}


def table(loss, n=60, p=5, seed=0, n_outputs=3):
    """A table with zeros, so that sparse forms have something to leave out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.7)
    eta = X @ rng.normal(size=p) + rng.normal(size=n)
    kind = type(get_loss(loss))
    if kind.name == "squared_vector":
        return X, np.column_stack([eta, rng.normal(size=n), eta + X[:, 0]])
    y = {
        "real": eta,
        "sign": np.where(eta > 0.0, 1.0, -1.0),
        "count": rng.poisson(np.exp(0.5 * eta)).astype(float),
        "class": np.digitize(eta, [-0.7, 0.7]).astype(float),
    }[kind.target]
    return X, y


def some_support(objective, seed=0):
    """Some coordinates: for several outputs, other features for each."""
    rng = np.random.default_rng(seed)
    chosen = rng.random(objective.n_coordinates) < 0.6
    return np.flatnonzero(chosen)


def matrix(objective, fit):
    W = np.zeros((objective.n_features, objective.n_outputs))
    W.flat[fit.support] = fit.weights
    return W


def some_fit(objective, seed=1):
    rng = np.random.default_rng(seed)
    support = some_support(objective)
    b = rng.normal(size=objective.n_outputs * objective.fit_intercept)
    return Fit(support, rng.normal(size=len(support)), b, np.nan)


@pytest.mark.parametrize("loss", loss_names())
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_value_gradient_and_information_equal_the_formulas(loss, fit_intercept):
    X, y = table(loss)
    weight = np.random.default_rng(3).random(len(X))
    Q = LinearObjective(
        loss, X, y, l2=0.3, sample_weight=weight, fit_intercept=fit_intercept
    )
    fit = some_fit(Q)
    W, b = matrix(Q, fit), fit.nuisance if fit_intercept else np.zeros(Q.n_outputs)
    args = (Q.loss, X, y, W, b, 0.3, weight)
    np.testing.assert_allclose(Q.margins(fit), X @ W + b, rtol=1e-12, atol=1e-12)
    assert Q.value(fit) == pytest.approx(reference.value(*args), rel=1e-12)
    slow = reference.gradient(*args).ravel()
    np.testing.assert_allclose(Q.gradient(fit), slow, rtol=1e-6, atol=1e-7)
    assert Q.n_coordinates == len(slow)

    h = np.empty((len(X), Q.n_outputs))
    for i in range(len(X)):
        curvature_into(Q.loss, y[i], X[i] @ W + b, h[i])
    information = (X**2).T @ (weight[:, None] * h)
    np.testing.assert_allclose(
        Q.information(fit), information.ravel()[fit.support], rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_refit_finds_the_minimum_that_a_slow_solver_finds(loss, fit_intercept):
    X, y = table(loss)
    weight = np.random.default_rng(3).random(len(X)) + 0.1
    Q = LinearObjective(
        loss, X, y, l2=0.05, sample_weight=weight, fit_intercept=fit_intercept
    )
    support = some_support(Q)
    fit = Q.refit(support)
    mask = np.zeros((Q.n_features, Q.n_outputs), dtype=bool)
    mask.flat[support] = True
    W, b, value = reference.refit(Q.loss, X, y, mask, 0.05, weight, fit_intercept)
    np.testing.assert_array_equal(fit.support, support)
    assert fit.value == pytest.approx(Q.value(fit), rel=1e-13)
    assert fit.value <= value + 1e-12 * abs(value)
    np.testing.assert_allclose(matrix(Q, fit), W, rtol=1e-5, atol=1e-6)
    if fit_intercept:
        if loss == "softmax":  # its intercepts are determined up to a constant
            b = b - b.mean()
        np.testing.assert_allclose(fit.nuisance, b, rtol=1e-5, atol=1e-6)
    else:
        assert fit.nuisance.shape == (0,)
    assert np.abs(Q.gradient(fit)[support]).max() < 1e-13


@pytest.mark.parametrize("loss", SMOOTH)
def test_conjugate_gradients_find_the_same_minimum(loss):
    X, y = table(loss)
    dense = LinearObjective(loss, X, y, l2=0.01)
    iterative = LinearObjective(loss, X, y, l2=0.01, dense_limit=0)
    support = some_support(dense)
    a, b = dense.refit(support), iterative.refit(support)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(a.nuisance, b.nuisance, rtol=1e-9, atol=1e-11)
    assert np.abs(iterative.gradient(b)[support]).max() < 1e-12


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_every_layout_and_type_of_table_gives_the_same_result(layout, dtype, loss):
    X, y = table(loss)
    X = np.round(4.0 * X)  # numbers that all the types can hold
    weight = np.random.default_rng(3).random(len(X))
    weight[::5] = 0.0
    expected = LinearObjective(loss, X, y, l2=0.1, sample_weight=weight)
    given_X = LAYOUTS[layout](X.astype(dtype))
    Q = LinearObjective(loss, given_X, y, l2=0.1, sample_weight=weight)
    support = some_support(Q)
    a, b = expected.refit(support), Q.refit(support)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(a.nuisance, b.nuisance, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        expected.gradient(a), Q.gradient(a), rtol=1e-10, atol=1e-13
    )
    np.testing.assert_allclose(expected.information(a), Q.information(a), rtol=1e-10)
    np.testing.assert_allclose(
        expected.margins(a), Q.margins(a), rtol=1e-10, atol=1e-12
    )


def test_a_memory_map_is_read_in_place(tmp_path):
    X, y = table("logistic", n=200)
    path = tmp_path / "X.npy"
    np.save(path, X.astype(np.float32))
    mapped = np.load(path, mmap_mode="r")
    Q = LinearObjective("logistic", mapped, y, l2=0.1)
    assert Q.X is mapped
    fit = Q.refit(np.arange(5))
    assert np.abs(Q.gradient(fit)).max() < 1e-14


def test_float32_tables_are_never_copied_whole():
    sizes = []
    astype = np.ndarray.astype

    class Watched(np.ndarray):
        def astype(self, *args, **kwargs):
            sizes.append(self.nbytes)
            return astype(self.view(np.ndarray), *args, **kwargs)

    rng = np.random.default_rng(0)
    for order in "CF":
        X = np.asarray(rng.normal(size=(4000, 300)), dtype=np.float32, order=order)
        product = transposed_product(X.view(Watched), np.ones((4000, 2)))
        expected = X.sum(axis=0, dtype=np.float64)
        np.testing.assert_allclose(product[:, 0], expected, rtol=1e-9, atol=1e-9)
    assert len(sizes) > 10
    assert max(sizes) <= 2**20


def test_duplicate_entries_of_a_sparse_table_add_up():
    rows, columns = [0, 0, 1, 2, 2, 3], [0, 0, 1, 0, 1, 1]
    entries = sparse.coo_array(([1.0, 2.0, 1.0, -1.0, 2.0, 5.0], (rows, columns)))
    raw = sparse.csr_array(
        (np.array([1.0, 2.0, 1.0, -1.0, 2.0, 5.0]), columns, [0, 2, 3, 5, 6]),
        shape=(4, 2),
    )
    y = [1.0, -1.0, 0.5, 2.0]
    a = LinearObjective("squared", entries.toarray(), y, l2=0.1)
    b = LinearObjective("squared", raw, y, l2=0.1)
    fit = a.refit(np.arange(2))
    np.testing.assert_allclose(fit.weights, b.refit(np.arange(2)).weights)
    np.testing.assert_allclose(a.information(fit), b.information(fit))


@pytest.mark.parametrize("loss", loss_names())
def test_whole_weights_equal_repeated_rows(loss):
    X, y = table(loss, n=40)
    times = np.random.default_rng(5).integers(0, 4, size=len(X))
    weighted = LinearObjective(loss, X, y, l2=0.1, sample_weight=times)
    repeated = LinearObjective(
        loss,
        np.repeat(X, times, axis=0),
        np.repeat(y, times, axis=0),
        l2=0.1,
        n_outputs=weighted.n_outputs,
    )
    support = some_support(weighted)
    a, b = weighted.refit(support), repeated.refit(support)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-8, atol=1e-9)
    assert a.value == pytest.approx(b.value, rel=1e-11)
    np.testing.assert_allclose(
        weighted.information(a), repeated.information(a), rtol=1e-12
    )


@settings(max_examples=15, deadline=None)
@given(
    loss=st.sampled_from(SMOOTH),
    seed=st.integers(0, 10**6),
    l2=st.sampled_from([1e-4, 1e-2, 1.0]),
    fit_intercept=st.booleans(),
)
def test_the_gradient_vanishes_on_the_support(loss, seed, l2, fit_intercept):
    X, y = table(loss, n=30, p=6, seed=seed)
    Q = LinearObjective(loss, X, y, l2=l2, fit_intercept=fit_intercept)
    support = some_support(Q, seed)
    fit = Q.refit(support)
    assert np.abs(Q.gradient(fit)[support]).max(initial=0.0) < 1e-11


@settings(max_examples=15, deadline=None)
@given(
    loss=st.sampled_from(loss_names()),
    seed=st.integers(0, 10**6),
    l2=st.sampled_from([0.0, 1e-3, 0.1]),
)
def test_a_refit_is_never_worse_than_its_start(loss, seed, l2):
    X, y = table(loss, n=30, seed=seed)
    Q = LinearObjective(loss, X, y, l2=l2)
    start = some_fit(Q, seed)
    # the support loses some coordinates of the start and gains others
    support = some_support(Q, seed + 1)
    kept = np.isin(start.support, support)
    before = Q.value(
        Fit(start.support[kept], start.weights[kept], start.nuisance, np.nan)
    )
    fit = Q.refit(support, start)
    np.testing.assert_array_equal(fit.support, support)
    assert fit.value <= before + 1e-12 * abs(before)
    assert Q.value(fit) == pytest.approx(fit.value, rel=1e-12, abs=1e-14)


@settings(max_examples=15, deadline=None)
@given(loss=st.sampled_from(SMOOTH), seed=st.integers(0, 10**6))
def test_row_order_and_split_weights_do_not_matter(loss, seed):
    X, y = table(loss, n=40, seed=seed)
    rng = np.random.default_rng(seed)
    weight = rng.random(len(X)) + 0.05
    Q = LinearObjective(loss, X, y, l2=1e-3, sample_weight=weight)
    support = some_support(Q, seed)
    expected = Q.refit(support)

    order = rng.permutation(len(X))
    shuffled = LinearObjective(
        loss, X[order], y[order], l2=1e-3, sample_weight=weight[order]
    )
    part = rng.random(len(X))
    split = LinearObjective(
        loss,
        np.vstack([X, X]),
        np.concatenate([y, y]),
        l2=1e-3,
        sample_weight=np.concatenate([part * weight, (1.0 - part) * weight]),
    )
    for other in (shuffled, split):
        fit = other.refit(support)
        scale = np.abs(expected.weights).max(initial=1.0)
        assert np.abs(fit.weights - expected.weights).max(initial=0.0) < 1e-10 * scale
        assert np.abs(fit.nuisance - expected.nuisance).max() < 1e-10 * scale


def test_warm_and_cold_starts_end_at_the_same_point():
    X, y = table("logistic", n=100)
    Q = LinearObjective("logistic", X, y, l2=1e-3)
    warm = Q.refit(np.array([0, 2, 4]), start=Q.refit(np.array([1, 2, 3])))
    cold = Q.refit(np.array([0, 2, 4]))
    np.testing.assert_allclose(warm.weights, cold.weights, rtol=1e-12)
    np.testing.assert_allclose(warm.nuisance, cold.nuisance, rtol=1e-12)


def test_outputs_of_a_vector_of_squared_losses_are_separate_regressions():
    X, Y = table("squared_vector")
    Q = LinearObjective("squared_vector", X, Y, l2=0.1)
    support = some_support(Q)
    W = matrix(Q, fit := Q.refit(support))
    for c in range(Q.n_outputs):
        alone = LinearObjective("squared", X, Y[:, c], l2=0.1)
        features = support[support % Q.n_outputs == c] // Q.n_outputs
        expected = alone.refit(features)
        np.testing.assert_allclose(W[features, c], expected.weights, rtol=1e-10)
        assert fit.nuisance[c] == pytest.approx(expected.nuisance[0], rel=1e-10)


def test_two_class_softmax_equals_logistic_regression():
    X, y = table("logistic", n=100)
    binary = LinearObjective("logistic", X, y).refit(np.arange(5))
    both = LinearObjective("softmax", X, (y + 1) / 2).refit(np.arange(10))
    W = both.weights.reshape(5, 2)
    np.testing.assert_allclose(W[:, 1] - W[:, 0], binary.weights, rtol=1e-9)
    assert both.value == pytest.approx(binary.value, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [1.0, 2.0]}, "y should have 3 rows, as X has, got 2"),
        ({"y": [1.0, np.nan, 0.0]}, "y should be finite"),
        ({"y": np.ones((3, 2))}, "y should have 1 dimension"),
        ({"loss": "squared_vector"}, "y should have 2 dimension"),
        ({"loss": "logistic"}, "y should be -1 or \\+1 for the loss logistic, got 0"),
        ({"loss": "poisson", "y": [1, 2, -3]}, "at least 0 .* got -3"),
        ({"loss": "softmax", "y": [0, 1, 0.5]}, "class codes 0, 1, ... .* got 0.5"),
        ({"loss": "softmax", "n_outputs": 1}, "n_outputs should be 2 .* got 1"),
        ({"n_outputs": 3}, "n_outputs should be 1 .* got 3"),
        ({"l2": -1.0}, "l2 should be at least 0 and finite, got -1.0"),
        ({"sample_weight": [1.0, 1.0]}, "sample_weight should have shape \\(3,\\)"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "sample_weight should be finite"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, "not 0 everywhere"),
        ({"X": np.ones(3)}, "X should have 2 dimensions"),
        ({"X": np.array([["a"], ["b"], ["c"]])}, "X should hold numbers"),
        ({"loss": "absolute"}, "loss should be one of"),
    ],
)
def test_wrong_arguments_get_one_clear_line(arguments, message):
    given_arguments = {"loss": "squared", "X": np.eye(3), "y": [0.0, 1.0, 1.0]}
    given_arguments |= arguments
    with pytest.raises(ShortlistError, match=message):
        LinearObjective(**given_arguments)


@pytest.mark.parametrize("support", [[1, 0], [0, 0], [-1, 0], [0, 3]])
def test_a_wrong_support_is_refused(support):
    Q = LinearObjective("squared", np.eye(3), [0.0, 1.0, 2.0])
    with pytest.raises(ShortlistError, match="increasing coordinates below 3"):
        Q.refit(np.array(support))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_missing_value_is_reported_with_its_column(kind):
    X = np.eye(4)
    X[2, 3] = np.nan
    Q = LinearObjective("squared", kind(X), np.arange(4.0))
    Q.refit(np.array([0, 1]))
    with pytest.raises(DataError, match="column 3 holds a NaN"):
        Q.refit(np.array([1, 3]))
