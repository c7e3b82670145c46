"""Hard thresholding against its transcriptions, and what the descent promises."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference.foba import correlated, standardised
from reference.projected import iht, iti, normalized_iht, pht
from shortlist import ITI, PHT, FoBa, ProjectedGradient, ShortlistError
from shortlist._protocols import Fit
from shortlist._targets import choose_target
from shortlist.objectives import LinearObjective
from shortlist.table import ProjectedSettings, Units, project
from shortlist.table._problem import table_problem

LOSSES = ("squared", "logistic", "softmax", "squared_hinge", "huber", "poisson")
FAMILY = (ProjectedGradient, ITI, PHT)


def labels(loss, eta):
    """What the loss takes, out of real numbers."""
    return {
        "logistic": np.where(eta > 0, 1.0, -1.0),
        "squared_hinge": np.where(eta > 0, 1.0, -1.0),
        "poisson": np.round(np.exp(np.clip(eta, -2, 2))),
        "softmax": np.digitize(eta, [-0.5, 0.5]).astype(float),
    }.get(loss, eta)


def planted(seed, n=300, p=60, s=4, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    support = np.sort(rng.choice(p, s, replace=False))
    return (
        X,
        X[:, support] @ rng.choice([-1.0, 1.0], s) + noise * rng.normal(size=n),
        support,
    )


def descended(X, y, loss="squared", gram=False, unit_of=None, **asked):
    """Descent on a table, and its problem."""
    problem = table_problem(X, y, choose_target(loss, y), gram=gram)
    units, never = problem.units(unit_of)
    options = ProjectedSettings(**asked)
    return project(problem.objective, units, options, never=never), problem


def longest_step(X):
    A = standardised(X)
    return 1.0 / np.linalg.eigvalsh(A.T @ A / len(A))[-1]


CASES = {
    "IHT": (iht, {"refit": "never"}, ()),
    "ITI": (iti, {"refit": "every"}, ()),
    "PHT 1": (pht, {"refit": "every", "exchange": 1}, (1,)),
    "PHT 3": (pht, {"refit": "every", "exchange": 3}, (3,)),
    "PHT k": (pht, {"refit": "every", "exchange": 6}, (6,)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("times", [3.0, 8.0])
def test_fixed_steps_are_those_of_the_papers_one_by_one(case, times):
    slow, asked, exchange = CASES[case]
    changes = 0
    for seed in range(4):
        X, y, _ = correlated(seed, p=30, s=6, rho=0.8)
        mu = times * longest_step(X)
        A, centred = standardised(X), y - y.mean()
        expected = list(slow(A, centred, 6, *exchange, mu, 12))
        values = []
        for t, w in enumerate(expected, 1):
            found, problem = descended(
                X, y, k=6, step="fixed", step_size=mu, max_iter=t, tol=0.0, **asked
            )
            step = found.path.latest[6]
            assert list(step.units) == np.flatnonzero(w).tolist()
            np.testing.assert_allclose(
                step.fit.weights * problem.scale[step.fit.support],
                w[step.fit.support],
                rtol=1e-8,
                atol=1e-10,
            )
            values.append(np.mean((centred - A @ w) ** 2) / 2)
            np.testing.assert_allclose(found.values[1:], values[: found.n_iter], 1e-8)
        changes += len({tuple(np.flatnonzero(w)) for w in expected}) - 1
    assert changes >= 4  # else the first step had said it all


def test_normalized_steps_are_those_of_the_paper_one_by_one():
    changes = shortened = 0
    for seed in range(6):
        X, y, _ = correlated(seed, p=30, s=6, rho=0.8)
        A, centred = standardised(X), y - y.mean()
        expected = list(normalized_iht(A, centred, 6, 12))
        for t, (w, _) in enumerate(expected, 1):
            found, problem = descended(X, y, k=6, refit="never", max_iter=t, tol=0.0)
            assert found.n_iter == t
            step = found.path.latest[6]
            assert list(step.units) == np.flatnonzero(w).tolist()
            weights = step.fit.weights * problem.scale[step.fit.support]
            np.testing.assert_allclose(weights, w[step.fit.support], rtol=1e-8)
        changes += len({tuple(np.flatnonzero(w)) for w, _ in expected}) - 1
        shortened += sum(times for _, times in expected)
    assert changes >= 4
    assert shortened >= 4


def test_exchanging_all_is_iterative_thresholding_with_inversion():
    X, y, _ = correlated(2, p=40, s=8)
    full, all_of_them = ITI(8).fit(X, y), PHT(8, exchange=8).fit(X, y)
    one = PHT(8, exchange=1).fit(X, y)
    np.testing.assert_array_equal(full.coef_, all_of_them.coef_)
    assert one.n_iter_ > full.n_iter_


@pytest.mark.parametrize("exchange", [1, 2])
def test_no_step_exchanges_more_than_asked(exchange):
    X, y, _ = correlated(2, p=60, s=12)
    supports = [
        set(PHT(12, exchange=exchange, max_iter=t).fit(X, y).shortlist_.support)
        for t in range(1, 8)
    ]
    left = [len(a - b) for a, b in pairwise(supports)]
    assert max(left) == exchange


def test_a_step_of_its_own_is_the_longest_that_is_safe():
    X, y, _ = correlated(0)
    asked = {"k": 4, "step": "fixed", "refit": "never", "max_iter": 1}
    found, problem = descended(X, y, **asked)
    A = standardised(X)
    u = longest_step(X) * A.T @ (y - y.mean()) / len(y)
    step = found.path.latest[4].fit
    ratio = step.weights * problem.scale[step.support] / u[step.support]
    np.testing.assert_allclose(ratio, ratio[0])
    assert 0.98 < ratio[0] <= 1.0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("refit", ["never", "end", "every"])
@settings(max_examples=6)
@given(
    seed=st.integers(0, 10**6),
    rho=st.sampled_from([0.0, 0.7, 0.99]),
    exchange=st.sampled_from([None, 1, 3]),
    shift=st.sampled_from([0.0, 50.0]),
)
def test_normalized_steps_never_rise(loss, refit, seed, rho, exchange, shift):
    X, eta, _ = correlated(seed, n=60, p=15, rho=rho, noise=1.0)
    X += shift * X.std(axis=0)
    asked = {"k": 4, "refit": refit, "exchange": exchange, "max_iter": 25}
    found, problem = descended(X, labels(loss, eta), loss, **asked)
    assert np.all(np.diff(found.values) <= 0)
    assert found.values[-1] < found.values[0]
    for step in (found.path.latest[4], found.path.best[4]):
        assert len(step.units) == 4
        np.testing.assert_allclose(
            problem.objective.value(step.fit), step.fit.value, rtol=1e-9
        )
    assert found.path.best[4].fit.value <= found.values[-1]


def test_the_first_normalized_step_is_the_best_along_the_gradient():
    """With weights that stay where they are, Q is least there: no step is better."""
    X, y, _ = correlated(5, rho=0.3)
    found, _ = descended(X, y, k=12, refit="never", max_iter=1)
    A, residual = standardised(X), y - y.mean()
    g = A.T @ residual / len(y)
    values = [np.mean((residual - t * A @ g) ** 2) / 2 for t in np.linspace(0, 2, 2001)]
    np.testing.assert_allclose(found.values[1], min(values), rtol=1e-5)
    assert found.values[1] <= min(values)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("estimator", FAMILY)
def test_planted_supports_are_recovered_with_exact_weights(estimator, loss):
    noise = 0.1 if loss == "squared" else 0.5
    X, eta, support = planted(1, n=600, noise=noise)
    y = labels(loss, eta)
    fitted = estimator(4, loss=loss).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == support.tolist()
    assert fitted.n_iter_ == len(fitted.shortlist_.trace["objective"]) - 1
    peer = FoBa(4, loss=loss).fit(X, y)
    assert fitted.shortlist_.support.tolist() == peer.shortlist_.support.tolist()
    np.testing.assert_allclose(fitted.coef_, peer.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fitted.intercept_, peer.intercept_, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("estimator", FAMILY)
def test_wide_gaussian_tables_are_recovered(estimator):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 800))
    support = np.sort(rng.choice(800, 30, replace=False))
    y = X[:, support] @ rng.normal(size=30) + 0.1 * rng.normal(size=400)
    found = estimator(30).fit(X, y).get_support(indices=True)
    assert len(found) == 30
    assert len(np.intersect1d(found, support)) >= 28


def test_descent_to_the_end_reaches_the_refit():
    X, y, _ = planted(0)
    plain = ProjectedGradient(4, refit="never", tol=0.0, max_iter=1000).fit(X, y)
    exact = ProjectedGradient(4, refit="end").fit(X, y)
    rough = ProjectedGradient(4, refit="never", max_iter=1).fit(X, y)
    np.testing.assert_allclose(plain.coef_, exact.coef_, rtol=1e-5, atol=1e-12)
    assert np.abs(rough.coef_ - exact.coef_).max() > 1e-3


def test_intercepts_follow_when_nothing_is_refitted():
    X, eta, _ = planted(0)
    y = labels("logistic", eta + 1.5)
    fitted = ProjectedGradient(4, loss="logistic", refit="never", max_iter=3).fit(X, y)
    np.testing.assert_allclose(
        fitted.predict_proba(X)[:, 1].mean(), (y > 0).mean(), rtol=1e-8
    )


@pytest.mark.parametrize("estimator", FAMILY)
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_neither_units_nor_zeros_of_columns_matter(estimator, loss):
    X, eta, _ = planted(2, noise=0.5)
    y = labels(loss, eta)
    rng = np.random.default_rng(0)
    unit = 10.0 ** rng.integers(-3, 4, X.shape[1])
    plain = estimator(6, loss=loss).fit(X, y)
    moved = estimator(6, loss=loss).fit(unit * (X + rng.choice([-30, 0, 30], 60)), y)
    assert plain.shortlist_.names == moved.shortlist_.names
    np.testing.assert_allclose(moved.coef_ * unit, plain.coef_, rtol=1e-5)


@pytest.mark.parametrize("estimator", FAMILY)
def test_columns_as_they_are_are_compared_as_they_are(estimator):
    X, y, support = planted(2)
    X[:, support[0]] *= 1e-3  # a large weight, but a small gradient
    assert support[0] in estimator(4).fit(X, y).get_support(indices=True)
    raw = estimator(4, standardize=False).fit(X, y)
    assert support[0] not in raw.get_support(indices=True)


@pytest.mark.parametrize("estimator", FAMILY)
def test_groups_come_whole_and_are_what_k_counts(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 24))
    y = X[:, 4] + X[:, 5] + 1.5 * X[:, 21] + 0.1 * rng.normal(size=300)
    groups = {"pair": [4, 5], "large": list(range(6, 14))}
    fitted = estimator(2, feature_groups=groups).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [4, 5, 21]
    kept = estimator(3, feature_groups=groups, always=["x7"], never=[5]).fit(X, y)
    chosen = kept.get_support(indices=True).tolist()
    assert set(range(6, 14)) | {21} <= set(chosen)
    assert not {4, 5} & set(chosen)
    assert len(chosen) == 8 + 2


@pytest.mark.parametrize("loss", ["squared", "softmax"])
@pytest.mark.parametrize("estimator", FAMILY)
def test_what_is_always_in_is_fitted_and_what_is_never_is_not(estimator, loss):
    X, eta, support = planted(4, noise=0.5)
    y = labels(loss, eta)
    spare = np.setdiff1d(np.arange(60), support)[:2]
    kept = {"always": spare.tolist(), "never": [int(support[0])]}
    fitted = estimator(5, loss=loss, **kept).fit(X, y)
    chosen = fitted.get_support(indices=True)
    assert sorted(chosen) == sorted([*spare, *support[1:]])
    alone = estimator(2, loss=loss, always=spare.tolist()).fit(X, y)
    assert alone.get_support(indices=True).tolist() == spare.tolist()
    expected = FoBa(2, loss=loss, always=spare.tolist()).fit(X, y)
    np.testing.assert_allclose(alone.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("estimator", FAMILY)
def test_rows_that_count_twice_are_rows_that_occur_twice(estimator, loss):
    X, eta, _ = correlated(6)
    y = labels(loss, eta)
    weight = np.where(np.arange(len(y)) < 20, 2.0, 1.0)
    weighted = estimator(4, loss=loss).fit(X, y, sample_weight=weight)
    twice = estimator(4, loss=loss).fit(np.vstack([X, X[:20]]), np.append(y, y[:20]))
    plain = estimator(4, loss=loss).fit(X, y)
    assert weighted.shortlist_.names == twice.shortlist_.names
    np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-6)
    assert np.abs(weighted.coef_ - plain.coef_).max() > 1e-4


@pytest.mark.parametrize("step", ["normalized", "fixed"])
@pytest.mark.parametrize("form", ["float32", "csr_array", "csc_array", "Fortran"])
@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_how_the_table_is_held_does_not_matter(form, loss, step):
    X, eta, _ = planted(3, p=40)
    X = np.where(np.abs(X) > 0.5, X, 0.0).astype(np.float32).astype(float)
    y = labels(loss, eta)
    other = {
        "float32": lambda: X.astype(np.float32),
        "Fortran": lambda: np.asfortranarray(X),
    }.get(form, lambda: getattr(sparse, form)(X))()
    dense = ProjectedGradient(4, loss=loss, step=step).fit(X, y)
    same = ProjectedGradient(4, loss=loss, step=step).fit(other, y)
    assert dense.shortlist_.names == same.shortlist_.names
    np.testing.assert_allclose(same.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        same.shortlist_.trace["objective"], dense.shortlist_.trace["objective"], 1e-6
    )


def test_classes_share_their_features():
    X, eta, support = planted(1, n=600, noise=0.3)
    fitted = ProjectedGradient(4, loss="softmax").fit(X, labels("softmax", eta))
    assert fitted.get_support(indices=True).tolist() == support.tolist()
    assert (fitted.coef_[:, support] != 0).all()
    assert fitted.score(X, labels("softmax", eta)) > 0.8


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("estimator", FAMILY)
def test_columns_that_add_nothing_upset_nothing(estimator, loss):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    X = np.column_stack([X, X[:, 0], X[:, 0] + X[:, 1], np.ones(80), np.zeros(80)])
    y = labels(loss, X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=80))
    for l2 in (0.0, "auto"):
        fitted = estimator(8, loss=loss, l2=l2).fit(X, y)
        assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
        assert np.isfinite(fitted.coef_).all()
        three = estimator(3, loss=loss, l2=l2).fit(X, y)
        assert three.shortlist_.n_selected == 3


@pytest.mark.parametrize("step", ["normalized", "fixed"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("estimator", FAMILY)
def test_budgets_beyond_rows_and_columns_are_answered(estimator, loss, step):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(12, 30)), labels(loss, rng.normal(size=12))
    asked = {"loss": loss, "step": step, "max_iter": 40}
    wide = estimator(25, **asked).fit(X, y)
    assert wide.shortlist_.n_selected == 25
    assert np.isfinite(wide.coef_).all()
    narrow = estimator(100, **asked).fit(X[:, :3], y)
    assert narrow.shortlist_.n_selected == 3


@pytest.mark.parametrize("estimator", FAMILY)
@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_a_constant_y_is_predicted_by_weights_of_zero(estimator, loss):
    X, _, _ = correlated(0)
    fitted = estimator(3, loss=loss).fit(X, np.full(len(X), 7.0))
    assert fitted.shortlist_.n_selected == 3
    np.testing.assert_allclose(fitted.predict(X), 7.0, rtol=1e-6)


def test_a_table_of_constants_leaves_nothing_to_select():
    fitted = ITI(2, loss="squared").fit(np.ones((20, 3)), np.arange(20.0))
    assert fitted.shortlist_.n_selected == 0
    np.testing.assert_allclose(fitted.predict(np.ones((1, 3))), 9.5)


def test_the_best_point_is_published_where_steps_are_too_long():
    X, y, _ = correlated(0, p=30, s=6)
    asked = {"step": "fixed", "step_size": 30 * longest_step(X), "max_iter": 15}
    fitted = ITI(6, **asked).fit(X, y)
    trace = fitted.shortlist_.trace["objective"]
    assert trace[-1] > trace.min()
    assert fitted.shortlist_.params["objective"] == trace.min()
    assert "not converged after 15 steps" in fitted.shortlist_.notes


def test_steps_that_grow_beyond_bounds_are_reported():
    X, y, _ = correlated(0)
    with pytest.raises(ShortlistError, match=r"step_size=1e\+04 are too long"):
        ProjectedGradient(4, step="fixed", step_size=1e4).fit(X, y)


class Plain:
    """Least squares with nothing but the protocol, and no intercept."""

    def __init__(self, A, y):
        self.A, self.y, self.n_coordinates = A, y, A.shape[1]

    def _residual(self, fit):
        return self.A[:, fit.support] @ fit.weights - self.y

    def value(self, fit):
        return float(np.mean(self._residual(fit) ** 2) / 2)

    def gradient(self, fit):
        return self.A.T @ self._residual(fit) / len(self.y)

    def refit(self, support, start=None):
        w = np.linalg.lstsq(self.A[:, support], self.y)[0]
        fit = Fit(support, w, np.empty(0), np.nan)
        return fit._replace(value=self.value(fit))


@pytest.mark.parametrize("step", ["normalized", "fixed"])
@pytest.mark.parametrize("refit", ["never", "every"])
def test_objectives_of_others_need_only_the_protocol(step, refit):
    X, y, _ = correlated(1, p=30, s=6)
    A, asked = standardised(X), ProjectedSettings(6, step=step, refit=refit)
    own = project(Plain(A, y - y.mean()), Units(30), asked)
    ours = project(
        LinearObjective("squared", A, y - y.mean(), fit_intercept=False),
        Units(30),
        asked,
    )
    assert own.path.latest[6].units == ours.path.latest[6].units
    np.testing.assert_allclose(own.values, ours.values, rtol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "asked", "message"),
    [
        (ProjectedGradient, {"step": "long"}, "step should be one of"),
        (ProjectedGradient, {"refit": "often"}, "refit should be one of"),
        (ProjectedGradient, {"step_size": 0.0}, "step_size should be above 0"),
        (ITI, {"step_size": "some"}, "step_size should be above 0"),
        (ITI, {"max_iter": 0}, "max_iter should be a whole number"),
        (ITI, {"tol": -1.0}, "tol should be at least 0"),
        (PHT, {"exchange": 0}, "exchange should be a whole number"),
        (PHT, {"exchange": 1.5}, "exchange should be a whole number"),
        (PHT, {"l2": -1.0}, "l2 should be a number from 0"),
        (PHT, {"loss": "hinge"}, "works with loss="),
    ],
)
def test_bad_settings_are_refused_in_one_line(estimator, asked, message):
    X, y, _ = correlated(0)
    with pytest.raises(ShortlistError, match=message):
        estimator(2, **asked).fit(X, np.sign(y))
