"""What is always in is not penalised, by any method that searches for supports."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax

from shortlist import FoBa, FoBaCV
from shortlist.table import ITI, PHT, ProjectedGradient

L2 = 0.3
LOSSES = ("squared", "logistic", "squared_hinge", "huber:1", "poisson", "softmax")
KEPT = [5, 6]


def table(loss, seed=0, n=150, p=12):
    """Columns of different units, and what the loss takes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-1, 1, size=p) + 2.0
    A = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = A[:, 0] - A[:, 1] + A[:, 5] + 0.6 * rng.normal(size=n)
    y = {
        "logistic": np.sign(eta),
        "squared_hinge": np.sign(eta),
        "poisson": rng.poisson(np.exp(0.4 * eta)).astype(float),
        "softmax": np.digitize(eta, [-0.7, 0.7]),
    }.get(loss, eta)
    return X, y


def slopes(loss, y, Z):
    """Derivative of each loss in its margins, written down once more."""
    if loss == "softmax":
        return softmax(Z, axis=1) - (y[:, np.newaxis] == np.arange(Z.shape[1]))
    z = Z[:, 0]
    return {
        "squared": lambda: z - y,
        "logistic": lambda: -y * expit(-y * z),
        "squared_hinge": lambda: -y * np.maximum(0.0, 1.0 - y * z),
        "huber:1": lambda: np.clip(z - y, -1.0, 1.0),
        "poisson": lambda: np.exp(z) - y,
    }[loss]()[:, np.newaxis]


def gradients(fitted, loss, X, y):
    """Gradient of the mean loss, and weights, of standardised columns."""
    W, scale = np.atleast_2d(fitted.coef_).T, X.std(axis=0)[:, np.newaxis]
    G = slopes(loss, y, X @ W + fitted.intercept_)
    return ((X - X.mean(axis=0)).T @ G) / len(y) / scale, W * scale


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "make",
    [
        FoBa,
        lambda k, **asked: FoBa(k, backward=False, overshoot=0.0, **asked),
        lambda k, **asked: FoBa(k, criterion="objective", **asked),
        ProjectedGradient,
        ITI,
        PHT,
    ],
    ids=["FoBa", "forward", "FoBa-obj", "ProjectedGradient", "ITI", "PHT"],
)
def test_the_loss_is_minimal_in_what_is_always_in_and_penalised_in_the_rest(make, loss):
    X, y = table(loss)
    fitted = make(4, loss=loss, l2=L2, always=KEPT).fit(X, y)
    g, w = gradients(fitted, loss, X, y)
    chosen = fitted.get_support(indices=True)
    rest = [j for j in chosen if j not in KEPT]
    assert len(rest) == 2
    assert set(KEPT) <= set(chosen)
    np.testing.assert_allclose(g[KEPT], 0.0, atol=1e-7)
    np.testing.assert_allclose(g[rest], -L2 * w[rest], atol=1e-7)
    assert np.abs(w[rest]).max() > 1e-3


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
def test_so_it_is_for_groups_and_for_weights_of_one_sign(loss, form):
    X, y = table(loss)
    groups = [[5, 6], [0, 2], [1, 3]]
    fitted = FoBa(2, loss=loss, l2=L2, always=[6], feature_groups=groups).fit(
        form(X), y
    )
    g, w = gradients(fitted, loss, X, y)
    np.testing.assert_allclose(g[[5, 6]], 0.0, atol=1e-7)
    rest = [j for j in fitted.get_support(indices=True) if j not in (5, 6)]
    np.testing.assert_allclose(g[rest], -L2 * w[rest], atol=1e-7)
    fitted = FoBa(2, loss=loss, l2=L2, always=[5], positive=True).fit(form(X), y)
    g, w = gradients(fitted, loss, X, y)
    assert fitted.get_support(indices=True).tolist() == [0, 5]
    np.testing.assert_allclose(g[5], 0.0, atol=1e-7)
    np.testing.assert_allclose(g[0], -L2 * w[0], atol=1e-7)


def test_removal_is_judged_without_the_ridge_of_what_stays():
    """A path of three sizes has, for each, the minimum over its own support."""
    X, y = table("squared")
    fitted = FoBa(4, loss="squared", l2=L2, always=KEPT).fit(X, y)
    A = (X - X.mean(axis=0)) / X.std(axis=0)
    for size, point in fitted.path_.items():
        ids = point.best.ids.astype(int)
        ridge = np.where(np.isin(ids, KEPT), 0.0, L2)
        B = A[:, ids]
        w = np.linalg.solve(B.T @ B / len(y) + np.diag(ridge), B.T @ y / len(y))
        r = y - y.mean() - B @ w
        expected = 0.5 * (r @ r / len(y) + ridge @ w**2)
        assert point.best.objective == pytest.approx(expected, rel=1e-8), size


def test_folds_leave_it_unpenalised_too():
    X, y = table("squared", n=60)
    asked = {"loss": "squared", "l2": L2, "always": [5], "cv": 3}
    chosen = FoBaCV(3, **asked).fit(X, y)
    rows = np.arange(60) >= 20  # what the first fold learns from
    part = FoBa(3, loss="squared", l2=L2, always=[5]).fit(X[rows], y[rows])
    held = [
        np.mean((y[:20] - X[:20] @ _dense(part.at(k), 12) - part.at(k).intercept) ** 2)
        for k in (1, 2, 3)
    ]
    np.testing.assert_allclose(chosen.cv_losses_[0], np.array(held) / 2, rtol=1e-9)


def _dense(shortlist, p):
    w = np.zeros(p)
    w[shortlist.ids.astype(int)] = shortlist.weights
    return w


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "softmax", "poisson"])
@pytest.mark.parametrize("estimator", [FoBa, ITI, ProjectedGradient])
def test_it_may_separate_the_classes_and_depend_on_itself(loss, estimator):
    X, _ = table(loss)
    y = (X[:, 5] > np.median(X[:, 5])).astype(float)
    X[:, 6] = X[:, 5]
    fitted = estimator(3, loss=loss, always=KEPT).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert set(KEPT) <= set(fitted.get_support(indices=True))
    if loss != "poisson":
        assert fitted.score(X, y) == 1.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
def test_dependent_columns_that_are_always_in_fit_as_well_as_one(form):
    X, y = table("squared")
    X[:, 6] = 2.0 * X[:, 5] + 1.0
    for loss, target in (("squared", y), ("logistic", np.sign(y))):
        both = FoBa(2, loss=loss, l2=L2, always=KEPT).fit(form(X), target)
        one = FoBa(1, loss=loss, l2=L2, always=[5]).fit(X, target)
        assert both.shortlist_.params["objective"] == pytest.approx(
            one.shortlist_.params["objective"], rel=1e-8
        )
