"""FoBa against its transcription, and what it promises."""

import numpy as np
import pytest

from reference.foba import Problem, standardised
from reference.foba import foba as slow_foba
from shortlist import DataError, FoBa, FoBaCV, ShortlistError
from shortlist._protocols import Fit
from shortlist._targets import choose_target
from shortlist.objectives import GramObjective
from shortlist.table._foba import Settings, Units, foba
from shortlist.table._foba_fit import foba_path, table_problem


def correlated(seed, n=80, p=12, s=4, rho=0.9, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    support = np.sort(rng.choice(p, s, replace=False))
    w = np.zeros(p)
    w[support] = rng.choice([-1.0, 1.0], s)
    return X * rng.uniform(0.1, 10, p), X @ w + noise * rng.normal(size=n), support


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_without_overshoot_it_is_the_paper_to_the_letter(loss, criterion):
    dropped = 0
    for seed in range(4):
        X, y, _ = correlated(seed)
        l2 = 0.0
        if loss == "logistic":
            y, l2 = np.where(y > 0, 1.0, -1.0), 0.01
        problem = table_problem(X, y, choose_target(loss, y), l2=l2)
        settings = Settings(6, criterion=criterion, overshoot=0.0)
        path = foba_path(problem, settings)
        slow = slow_foba(Problem(standardised(X), y, loss, l2), 6, criterion)
        latest = {len(F): (F, q) for F, q in slow}
        assert path.n_forward + path.n_backward == len(slow)
        dropped += path.n_backward
        for size, (F, q) in latest.items():
            assert set(path.latest[size].units) == F
            np.testing.assert_allclose(path.latest[size].fit.value, q, rtol=1e-7)
    if criterion == "gradient" and loss == "squared":
        assert dropped > 0  # else the backward step was never tried


@pytest.mark.parametrize("overshoot", [0.0, 0.5])
def test_the_best_value_falls_with_the_size_and_is_never_above_the_latest(overshoot):
    X, y, _ = correlated(1, p=30)
    problem = table_problem(X, y, choose_target("squared", y))
    path = foba_path(problem, Settings(8, overshoot=overshoot))
    values = [path.best[size].fit.value for size in sorted(path.best)]
    assert values == sorted(values, reverse=True)
    for size, step in path.latest.items():
        assert path.best[size].fit.value <= step.fit.value


def test_overshoot_recovers_correlated_supports():
    for seed in (0, 1):
        X, y, support = correlated(seed, n=800, p=2000, s=50)
        found = FoBa(50).fit(X, y).get_support(indices=True)
        assert len(np.intersect1d(found, support)) >= 49


def test_the_design_of_independent_columns_is_recovered():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1315, 2000))
    support = np.sort(rng.choice(2000, 100, replace=False))
    y = X[:, support] @ rng.normal(size=100) + 0.1 * rng.normal(size=1315)
    found = FoBa(100).fit(X, y).get_support(indices=True)
    assert len(np.intersect1d(found, support)) >= 97


def test_one_fit_answers_every_smaller_budget():
    X, y, _ = correlated(2, p=30)
    fitted = FoBa(8).fit(X, y)
    for k in range(1, 9):
        small = fitted.at(k)
        assert small.n_selected == k
        fresh = FoBa(k, overshoot=0.0).fit(X, y).shortlist_
        assert small.params["objective"] <= fresh.params["objective"] * (1 + 1e-9)
    with pytest.raises(ShortlistError, match="from 1 to 8, got 9"):
        fitted.at(9)


def test_weights_are_those_of_least_squares_on_the_chosen_columns():
    X, y, _ = correlated(4)
    fitted = FoBa(4).fit(X, y)
    chosen = fitted.get_support(indices=True)
    A = np.column_stack([X[:, chosen], np.ones(len(y))])
    expected = np.linalg.lstsq(A, y)[0]
    np.testing.assert_allclose(fitted.coef_[chosen], expected[:-1], rtol=1e-8)
    np.testing.assert_allclose(fitted.intercept_, expected[-1], rtol=1e-8)


@pytest.mark.parametrize(
    "groups",
    [
        {"left": ["x0", "x1", "x2"], "right": [3, 4, 5]},
        [[0, 1, 2], [3, 4, 5]],
        ["left"] * 3 + ["right"] * 3 + ["other"] * 6,
    ],
    ids=["mapping", "lists", "labels"],
)
def test_groups_come_whole_and_are_what_k_counts(groups):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = X[:, :3] @ [1.0, 1.0, 1.0] + 0.3 * X[:, 4] + 0.1 * rng.normal(size=200)
    fitted = FoBa(1, feature_groups=groups).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2]
    two = FoBa(2, feature_groups=groups, never=["x5"]).fit(X, y)
    assert set(two.get_support(indices=True)) & {3, 4, 5} == set()
    kept = FoBa(1, feature_groups=groups, always=[4]).fit(X, y)
    assert kept.get_support(indices=True).tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": ["nobody"]}, "no feature is called 'nobody'"),
        ({"a": [0], "b": [0]}, "'x0' is in 'a' and in 'b'"),
        (["a", "b"], "one label for each of the 12 features"),
        ({"a": [99]}, "no feature is called 99"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups, message):
    X, y, _ = correlated(0)
    with pytest.raises(ShortlistError, match=message):
        FoBa(2, feature_groups=groups).fit(X, y)


def test_classes_share_the_features_of_a_softmax():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 30))
    y = np.argmax(X[:, [3, 8, 20]] + 0.2 * rng.normal(size=(400, 3)), axis=1)
    fitted = FoBa(3).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [3, 8, 20]
    assert fitted.coef_.shape == (3, 30)
    assert fitted.score(X, y) > 0.9


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_that_add_nothing_are_left_out_without_fuss(loss):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    X = np.column_stack([X, X[:, 0], X[:, 0] + X[:, 1], np.ones(60), np.zeros(60)])
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=60)
    y = y if loss == "squared" else np.sign(y)
    fitted = FoBa(8, loss=loss).fit(X, y)
    assert 2 <= fitted.shortlist_.n_selected <= 6
    assert not {6, 7} & set(fitted.get_support(indices=True))
    assert fitted.score(X, y) > 0.9


def test_budgets_beyond_rows_and_columns_are_answered():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(10, 30)), rng.normal(size=10)
    assert FoBa(25).fit(X, y).shortlist_.n_selected <= 25
    assert FoBa(100).fit(X[:, :5], y).shortlist_.n_selected == 5
    assert FoBa(3, loss="squared").fit(X, np.zeros(10)).shortlist_.n_selected == 0


def test_separable_classes_and_counts_end_in_finite_weights():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(50, 20))
    separable = FoBa(3).fit(X, X[:, 2] > 0)
    assert np.isfinite(separable.coef_).all()
    assert 2 in separable.get_support(indices=True)
    counts = FoBa(1, loss="poisson").fit(X, rng.poisson(np.exp(X[:, 4])))
    assert counts.get_support(indices=True).tolist() == [4]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused(bad):
    X, y, _ = correlated(0)
    X[3, 4] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        FoBa(2).fit(X, y)


def test_one_class_is_refused():
    X, _, _ = correlated(0)
    with pytest.raises(DataError, match="1 class"):
        FoBa(2, loss="logistic").fit(X, np.ones(len(X)))


class Ridge:
    """A user's own objective: least squares with a ridge, and nothing but the protocol."""

    def __init__(self, A, y, l2):
        self.A, self.y, self.l2, self.n_coordinates = A, y, l2, A.shape[1]

    def _residual(self, fit):
        return self.A[:, fit.support] @ fit.weights - self.y

    def value(self, fit):
        penalty = self.l2 * fit.weights @ fit.weights
        return 0.5 * (np.mean(self._residual(fit) ** 2) + penalty)

    def gradient(self, fit):
        g = self.A.T @ self._residual(fit) / len(self.y)
        g[fit.support] += self.l2 * fit.weights
        return g

    def refit(self, support, start=None):
        B = self.A[:, support]
        G = B.T @ B / len(self.y) + self.l2 * np.eye(len(support))
        w = np.linalg.solve(G, B.T @ self.y / len(self.y))
        fit = Fit(support, w, np.empty(0), np.nan)
        return fit._replace(value=self.value(fit))


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
def test_an_objective_of_ones_own_needs_only_the_protocol(criterion):
    X, y, _ = correlated(8)
    A, y = standardised(X), y - y.mean()
    settings = Settings(5, criterion=criterion)
    own = foba(Ridge(A, y, 0.01), Units(12), settings)
    ours = foba(GramObjective(X, y, l2=0.01), Units(12), settings)
    for size in range(6):
        assert own.best[size].units == ours.best[size].units
        np.testing.assert_allclose(
            own.best[size].fit.value, ours.best[size].fit.value, rtol=1e-8
        )


def test_cross_validation_chooses_the_budget_that_was_planted():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 60))
    y = X[:, [3, 30, 50]] @ [1.0, -1.0, 1.0] + 0.5 * rng.normal(size=300)
    fitted = FoBaCV(k=12).fit(X, y)
    assert fitted.k_ == 3
    assert fitted.get_support(indices=True).tolist() == [3, 30, 50]
    assert fitted.cv_losses_.shape == (5, 12)
    assert fitted.cv_losses_.mean(axis=0)[2] < fitted.cv_losses_.mean(axis=0)[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "luck"}, "criterion should be"),
        ({"overshoot": -1}, "overshoot should be at least 0"),
        ({"l2": "some"}, "l2 should be a number or 'auto'"),
        ({"loss": "hinge"}, "works with loss="),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings, message):
    X, y, _ = correlated(0)
    with pytest.raises(ShortlistError, match=message):
        FoBa(2, **settings).fit(X, np.sign(y))
