"""Objectives of others: value, gradient and refit are enough for all that FoBa does."""

import numpy as np
import pandas as pd
import pytest

from reference.foba import correlated, standardised
from shortlist import FoBa, ShortlistError
from shortlist.objectives import Fit, GramObjective
from shortlist.table import ProjectedSettings, Settings, Units, foba, project


class Ridge:
    """Least squares with a ridge and an intercept, and nothing but the protocol."""

    def __init__(self, A, y, l2):
        self.A, self.y, self.l2, self.n_coordinates = A, y, l2, A.shape[1]

    def _residual(self, fit):
        return self.A[:, fit.support] @ fit.weights + fit.nuisance[0] - self.y

    def value(self, fit):
        penalty = self.l2 * fit.weights @ fit.weights
        return 0.5 * (np.mean(self._residual(fit) ** 2) + penalty)

    def gradient(self, fit):
        g = self.A.T @ self._residual(fit) / len(self.y)
        g[fit.support] += self.l2 * fit.weights
        return g

    def refit(self, support, start=None):
        B = np.column_stack([self.A[:, support], np.ones(len(self.y))])
        ridge = np.diag([self.l2] * len(support) + [0.0])
        w = np.linalg.solve(B.T @ B / len(B) + ridge, B.T @ self.y / len(B))
        fit = Fit(support, w[:-1], w[-1:], np.nan)
        return fit._replace(value=self.value(fit))


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
@pytest.mark.parametrize("overshoot", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_path_is_that_of_gram_columns(criterion, overshoot, grouped):
    X, y, _ = correlated(0, p=20, s=6)
    unit_of = np.arange(20) // 2 if grouped else None
    asked = Settings(6, criterion=criterion, overshoot=overshoot)
    options = {"always": (4,), "never": (0, 9)}
    own = foba(Ridge(standardised(X), y, 0.01), Units(20, unit_of), asked, **options)
    ours = foba(GramObjective(X, y, l2=0.01), Units(20, unit_of), asked, **options)
    assert sorted(own.best) == list(range(7 if overshoot == 0.0 else len(own.best)))
    for which in ("latest", "best"):
        for size, step in getattr(own, which).items():
            expected = getattr(ours, which)[size]
            assert step.units == expected.units
            np.testing.assert_allclose(step.fit.value, expected.fit.value, rtol=1e-9)
            np.testing.assert_allclose(
                step.fit.weights, expected.fit.weights, rtol=1e-6
            )


def test_units_of_measurement_are_what_gradients_are_divided_by():
    X, y, _ = correlated(0)
    A = standardised(X)
    scale = 10.0 ** np.linspace(-3, 3, 12)
    asked = Settings(4)
    plain = foba(Ridge(A, y, 0.0), Units(12), asked)
    scaled = foba(Ridge(A * scale, y, 0.0), Units(12, scale=scale), asked)
    blind = foba(Ridge(A * scale, y, 0.0), Units(12), asked)
    assert scaled.best[4].units == plain.best[4].units
    assert blind.best[1].units != plain.best[1].units


class NamedRidge(Ridge):
    def __init__(self, A, y):
        super().__init__(A, y, 0.01)
        self.names = [f"gene {j}" for j in range(A.shape[1])]


def test_the_estimator_takes_an_objective_and_speaks_by_its_names():
    X, y, _ = correlated(0, p=20, s=6)
    A = standardised(X)
    model = FoBa(k=6, objective=Ridge(A, y, 0.01)).fit()
    table = FoBa(k=6, l2=0.01).fit(X, y)
    support = model.get_support(indices=True)
    np.testing.assert_array_equal(support, table.get_support(indices=True))
    np.testing.assert_allclose(
        model.fit_.weights, table.coef_[support] * X.std(0)[support]
    )
    assert model.objective_.value(model.fit_) == pytest.approx(model.fit_.value)
    named = FoBa(k=6, objective=NamedRidge(A, y)).fit()
    assert named.get_feature_names_out().tolist() == [f"gene {j}" for j in support]
    assert set(named.shortlist_.names) == {f"gene {j}" for j in support}


def test_a_function_of_the_table_may_make_the_objective():
    X, y, _ = correlated(0, p=20, s=6)
    options = {"always": ["gene 4"], "never": ["gene 0", 9]}
    model = FoBa(k=5, objective=NamedRidge, **options).fit(standardised(X), y)
    assert "gene 4" in model.shortlist_.names
    assert not {"gene 0", "gene 9"} & set(model.shortlist_.names)
    groups = FoBa(k=2, objective=NamedRidge, feature_groups=np.arange(20) // 2)
    chosen = groups.fit(standardised(X), y).get_support(indices=True)
    assert len(chosen) == 4
    np.testing.assert_array_equal(chosen[::2] + 1, chosen[1::2])


def test_what_only_a_linear_model_can_do_is_refused_with_the_reason():
    X, y, _ = correlated(0, p=20, s=6)
    model = FoBa(k=3, objective=NamedRidge).fit(standardised(X), y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ShortlistError, match="minimise NamedRidge"):
        model.predict(X)
    with pytest.raises(ShortlistError, match="refit, got int"):
        FoBa(k=3, objective=3).fit(X, y)


def test_rows_are_not_weighed_twice():
    X, y, _ = correlated(0, p=20, s=6)
    with pytest.raises(ShortlistError, match="sample_weight should be None"):
        FoBa(k=3, objective=NamedRidge).fit(X, y, sample_weight=np.ones(len(y)))


class Undefined(Ridge):
    """A ridge whose gradient is not a number everywhere, or its value."""

    def __init__(self, A, y, where):
        super().__init__(A, y, 0.01)
        self.where = where

    def gradient(self, fit):
        g = super().gradient(fit)
        if self.where == "gradient":
            g[7] = np.nan
        return g

    def value(self, fit):
        return np.nan if self.where == "value" else super().value(fit)


def test_a_gradient_or_a_value_that_is_not_a_number_is_no_empty_support():
    X, y, _ = correlated(0, p=20, s=6)
    A = standardised(X)
    with pytest.raises(ShortlistError, match="coordinate 7 has nan at a support of 0"):
        FoBa(k=3, objective=Undefined(A, y, "gradient")).fit()
    with pytest.raises(
        ShortlistError, match="return a value, got NaN at a support of 0"
    ):
        FoBa(k=3, objective=Undefined(A, y, "value")).fit()
    with pytest.raises(ShortlistError, match="coordinate 7 has nan"):
        project(Undefined(A, y, "gradient"), Units(20), ProjectedSettings(3))


def test_columns_of_a_frame_name_the_coordinates():
    X, y, _ = correlated(0, p=20, s=6)
    frame = pd.DataFrame(standardised(X), columns=[f"gene {j}" for j in range(20)])

    def make(X, y):
        return Ridge(np.asarray(X), y, 0.01)

    model = FoBa(k=3, objective=make, always=["gene 4"]).fit(frame, y)
    assert "gene 4" in model.shortlist_.names
    assert set(model.get_feature_names_out()) == set(model.shortlist_.names)
    pairs = FoBa(k=3, objective=lambda X, y: Ridge(np.hstack([X, X**2]), y, 0.01))
    assert all(name[0] == "x" for name in pairs.fit(frame, y).shortlist_.names)


def test_a_fit_of_a_table_forgets_the_objective_before_it():
    X, y, _ = correlated(0, p=20, s=6)
    model = FoBa(k=3, objective=NamedRidge).fit(standardised(X), y)
    assert hasattr(model, "objective_")
    model.set_params(objective=None).fit(X, y)
    assert not hasattr(model, "objective_")
    assert not hasattr(model, "fit_")
    assert model.predict(X).shape == y.shape
