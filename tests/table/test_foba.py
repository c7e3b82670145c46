"""FoBa against its transcription, and what the path of supports promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.foba import Problem, correlated, standardised
from reference.foba import foba as slow_foba
from shortlist import FoBa, FoBaCV, ShortlistError
from shortlist._targets import choose_target
from shortlist.table._foba import Settings, Units, _Search, foba
from shortlist.table._foba_select import foba_path
from shortlist.table._problem import table_problem

LOSSES = ("squared", "logistic")
CRITERIA = ("gradient", "objective")


def labelled(loss, seed, **options):
    """X, labels and a penalty that go with the loss."""
    X, y, _ = correlated(seed, **options)
    return (X, y, 0.0) if loss == "squared" else (X, np.sign(y), 1e-3)


def problem_of(loss, X, y, l2):
    return table_problem(X, y, choose_target(loss, y), l2=l2)


class Recorder:
    """An objective that remembers which supports were refitted."""

    def __init__(self, objective):
        self._objective, self.supports = objective, []

    def __getattr__(self, name):
        return getattr(self._objective, name)

    def refit(self, support, start=None):
        self.supports.append(frozenset(support.tolist()))
        return self._objective.refit(support, start)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("loss", LOSSES)
def test_without_overshoot_it_is_the_paper_to_the_letter(loss, criterion):
    dropped = 0
    for seed in range(3, 8):
        X, y, l2 = labelled(loss, seed, p=20, s=6)
        X += 3 * X.std(axis=0) * np.random.default_rng(seed).normal(size=20)
        problem = problem_of(loss, X, y, l2)
        asked = Settings(8, criterion=criterion, overshoot=0.0)
        path = foba_path(problem, asked)
        slow = slow_foba(Problem(standardised(X), y, loss, l2), 8, criterion)
        assert path.n_forward + path.n_backward == len(slow)
        for size in range(1, 9):
            reached = [(F, q) for F, q in slow if len(F) == size]
            for step, (F, q) in (
                (path.latest[size], reached[-1]),
                (path.best[size], min(reached, key=lambda known: known[1])),
            ):
                assert set(step.units) == F
                np.testing.assert_allclose(step.fit.value, q, rtol=1e-8)
        dropped += path.n_backward
    assert dropped >= 3  # else the backward step was never tried


@pytest.mark.parametrize("loss", LOSSES)
def test_every_single_step_is_that_of_the_paper(loss):
    X, y, l2 = labelled(loss, 5, p=20, s=6)
    problem = problem_of(loss, X, y, l2)
    watched = Recorder(problem.objective)
    scale = None if loss == "squared" else problem.scale
    foba(watched, Units(20, scale=scale), Settings(8, overshoot=0.0))
    slow = slow_foba(Problem(standardised(X), y, loss, l2), 8)
    assert watched.supports[0] == frozenset()
    assert watched.supports[1:] == [F for F, _ in slow]
    sizes = [len(F) for F, _ in slow]
    assert min(np.diff(sizes)) < 0  # some were dropped


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("criterion", "threshold"), [("gradient", "epsilon"), ("objective", "delta")]
)
def test_thresholds_stop_where_the_paper_stops(loss, criterion, threshold):
    X, y, l2 = labelled(loss, 1, p=20)
    slow = Problem(standardised(X), y, loss, l2)
    problem = problem_of(loss, X, y, l2)
    for value in (0.02, 0.1):
        asked = Settings(15, criterion=criterion, overshoot=0.0, **{threshold: value})
        path = foba_path(problem, asked)
        history = slow_foba(slow, 15, criterion, **{threshold: value})
        assert 0 < len(history[-1][0]) < 15
        assert path.n_forward + path.n_backward == len(history)
        last = path.latest[len(history[-1][0])]
        assert set(last.units) == history[-1][0]


def test_a_threshold_on_the_gradient_is_none_on_the_decrease():
    """With FoBa-obj epsilon = 0.05 means gradients, whose squares are the decreases."""
    X, y, _ = correlated(1, p=20)
    problem = problem_of("squared", X, y, 0.0)
    by = {
        criterion: foba_path(
            problem, Settings(15, criterion=criterion, overshoot=0.0, epsilon=0.05)
        )
        for criterion in CRITERIA
    }
    assert by["gradient"].latest[max(by["gradient"].latest)].units == (
        by["objective"].latest[max(by["objective"].latest)].units
    )


class Watched(_Search):
    """A search that checks itself after every step."""

    def forward_step(self):
        before = set(self.chosen)
        moved = super().forward_step()
        self.just_added = set(self.chosen) - before
        return moved

    def backward_steps(self):
        before = self.fit.value + self.gain[len(self.chosen)]
        super().backward_steps()
        assert self.just_added <= set(self.chosen)
        assert self.fit.value < before
        self.values.append(self.fit.value)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    rho=st.sampled_from([0.0, 0.7, 0.95]),
    loss=st.sampled_from(LOSSES),
    criterion=st.sampled_from(CRITERIA),
    backward=st.booleans(),
)
def test_q_falls_and_what_was_just_added_stays(seed, rho, loss, criterion, backward):
    X, y, l2 = labelled(loss, seed, p=15, rho=rho)
    problem = problem_of(loss, X, y, l2)
    scale = None if loss == "squared" else problem.scale
    asked = Settings(8, criterion=criterion, backward=backward, overshoot=0.0)
    search = Watched(problem.objective, Units(15, scale=scale), asked, (), ())
    search.values = [search.fit.value]
    search.climb()
    assert search.values == sorted(set(search.values), reverse=True)
    assert len(search.chosen) == 8


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    loss=st.sampled_from(LOSSES),
    overshoot=st.sampled_from([0.0, 0.2, 1.0]),
    backward=st.booleans(),
)
def test_the_best_value_falls_with_size_and_is_never_above_the_latest(
    seed, loss, overshoot, backward
):
    problem = problem_of(loss, *labelled(loss, seed, p=15))
    path = foba_path(problem, Settings(6, overshoot=overshoot, backward=backward))
    assert sorted(path.best) == list(range(len(path.best)))
    values = [path.best[size].fit.value for size in sorted(path.best)]
    assert values == sorted(values, reverse=True)
    for size, step in path.latest.items():
        assert len(step.units) == size
        assert path.best[size].fit.value <= step.fit.value
        np.testing.assert_allclose(
            problem.objective.value(step.fit), step.fit.value, rtol=1e-9
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_neither_units_nor_zeros_of_columns_matter(loss):
    X, y, _ = labelled(loss, 5, p=20, s=6)
    rng = np.random.default_rng(0)
    Y = 1e3 * y if loss == "squared" else y
    moved = X * 10.0 ** rng.integers(-4, 5, 20)
    moved += moved.std(axis=0) * rng.choice([-100.0, 0.0, 100.0], 20)
    for overshoot in (0.0, 0.5):
        plain = FoBa(6, loss=loss, overshoot=overshoot).fit(X, y)
        other = FoBa(6, loss=loss, overshoot=overshoot).fit(moved, Y)
        for k in range(1, 7):
            assert plain.at(k).support.tolist() == other.at(k).support.tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("unit", [1e-12, 1e-7, 1e9])
def test_the_unit_of_y_does_not_matter(criterion, unit):
    X, y, _ = correlated(3)
    plain = FoBa(4, criterion=criterion).fit(X, y)
    other = FoBa(4, criterion=criterion).fit(X, unit * y)
    assert plain.shortlist_.names == other.shortlist_.names
    np.testing.assert_allclose(other.coef_, unit * plain.coef_, rtol=1e-8)


def test_overshoot_recovers_correlated_supports():
    for seed in (0, 1):
        X, y, support = correlated(seed, n=800, p=2000, s=50)
        found = FoBa(50).fit(X, y).get_support(indices=True)
        assert len(np.intersect1d(found, support)) >= 49


def test_independent_columns_are_recovered():
    rng = np.random.default_rng(3)
    n = int(1.2 * 100 * np.log2(2000))
    X = rng.normal(size=(n, 2000))
    support = np.sort(rng.choice(2000, 100, replace=False))
    y = X[:, support] @ rng.normal(size=100) + 0.1 * rng.normal(size=n)
    found = FoBa(100).fit(X, y).get_support(indices=True)
    assert len(np.intersect1d(found, support)) >= 97


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [0, 1])
def test_one_fit_answers_every_smaller_budget(loss, seed):
    X, y, _ = labelled(loss, seed, p=30)
    for overshoot in (0.0, 0.2):
        settings = {"loss": loss, "search_l2": None}  # one objective throughout
        fitted = FoBa(8, overshoot=overshoot, **settings).fit(X, y)
        for k in range(1, 9):
            small = fitted.at(k)
            assert small.n_selected == k
            fresh = FoBa(k, overshoot=0.0, **settings).fit(X, y).shortlist_
            assert small.params["objective"] <= fresh.params["objective"] * (1 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_minimise_with_l2_whatever_the_search_went_by(loss):
    X, y, _ = labelled(loss, 0, p=30)
    fitted = FoBa(6, loss=loss, l2=0.01, search_l2=1.0).fit(X, y)
    problem = table_problem(X, y, choose_target(loss, y), l2=0.01)
    for k in range(1, 7):
        chosen = fitted.at(k)
        coordinates = chosen.ids.astype(np.int64) * problem.n_outputs + chosen.margin
        fit = problem.objective.refit(np.sort(coordinates))
        assert chosen.params["objective"] == pytest.approx(fit.value, rel=1e-9)
    same_search = FoBa(6, loss=loss, l2=1.0, search_l2=None).fit(X, y)
    assert (fitted.get_support() == same_search.get_support()).all()


def test_a_search_is_held_back_by_default_only_where_l2_is_left_open():
    X, y, _ = labelled("logistic", 0, p=30)
    held = table_problem(X, y, choose_target("logistic", y), search_l2="auto")
    free = table_problem(X, y, choose_target("logistic", y), l2=0.1, search_l2="auto")
    np.testing.assert_allclose(held.objective.l2, 10 * held.final.l2)
    assert free.objective is free.final


def test_forward_only_budgets_are_the_first_features_of_larger_ones():
    X, y, _ = correlated(2, p=30)
    large = FoBa(8, backward=False, overshoot=0.0).fit(X, y)
    for k in range(1, 8):
        fresh = FoBa(k, backward=False, overshoot=0.0).fit(X, y).shortlist_
        assert large.at(k).names == fresh.names
        np.testing.assert_allclose(large.at(k).weights, fresh.weights, rtol=1e-8)
        assert set(large.at(k).names) < set(large.at(k + 1).names)


@pytest.mark.parametrize("k", [0, 9])
def test_budgets_that_were_not_fitted_are_refused(k):
    fitted = FoBa(8).fit(*correlated(2, p=30)[:2])
    with pytest.raises(ShortlistError, match=f"from 1 to 8, got {k}"):
        fitted.at(k)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_are_those_of_least_squares_on_the_chosen_columns(fit_intercept):
    X, y, _ = correlated(4)
    fitted = FoBa(4, fit_intercept=fit_intercept).fit(X, y + 2.0)
    chosen = fitted.get_support(indices=True)
    A = np.column_stack([X[:, chosen], np.full(len(y), float(fit_intercept))])
    expected = np.linalg.lstsq(A, y + 2.0)[0]
    np.testing.assert_allclose(fitted.coef_[chosen], expected[:-1], rtol=1e-8)
    np.testing.assert_allclose(fitted.intercept_, expected[-1], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "softmax", "poisson"])
def test_models_without_intercept_have_none(loss):
    X, y, _ = correlated(4)
    y = np.digitize(y, [-1.0, 1.0]) if loss == "softmax" else (y > 0) * 1
    fitted = FoBa(3, loss=loss, fit_intercept=False).fit(X, y)
    assert not np.any(fitted.intercept_)
    assert fitted.shortlist_.n_selected == 3
    assert np.isfinite(fitted.predict(X)).all()


def test_rows_that_count_twice_are_rows_that_occur_twice():
    X, y, _ = correlated(6)
    for loss in LOSSES:
        t = y if loss == "squared" else np.sign(y)
        weight = np.where(np.arange(len(y)) < 20, 2.0, 1.0)
        weighted = FoBa(4, loss=loss).fit(X, t, sample_weight=weight)
        twice = FoBa(4, loss=loss).fit(np.vstack([X, X[:20]]), np.append(t, t[:20]))
        assert weighted.shortlist_.names == twice.shortlist_.names
        np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-7)


def test_cross_validation_chooses_the_budget_that_was_planted():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 60))
    y = X[:, [3, 30, 50]] @ [1.0, -1.0, 1.0] + 0.5 * rng.normal(size=300)
    fitted = FoBaCV(k=12).fit(X, y)
    assert fitted.k_ == 3
    assert fitted.get_support(indices=True).tolist() == [3, 30, 50]
    assert fitted.cv_losses_.shape == (5, 12)
    assert fitted.cv_losses_.mean(axis=0)[2] < fitted.cv_losses_.mean(axis=0)[1]


def test_weight_in_one_fold_only_is_nobodys_mistake_but_the_folds():
    X, y, _ = correlated(0)
    weight = np.where(np.arange(len(y)) < 10, 1.0, 0.0)
    with pytest.raises(ShortlistError, match="cv: no fold has weight above 0 both"):
        FoBaCV(2, cv=5, loss="squared").fit(X, y, weight)
    weight[-1] = 1.0  # the last fold learns from the others, which learn from it
    assert FoBaCV(2, cv=5, loss="squared").fit(X, y, weight).k_ in (1, 2)


def test_smaller_budgets_are_those_of_the_fit():
    X, y, _ = correlated(0)
    fitted = FoBa(3).fit(X, y)
    for wrong in ("2", 2.0, True, 0, 4):
        with pytest.raises(ShortlistError, match="whole number from 1 to 3, got"):
            fitted.at(wrong)
    fitted.set_params(k=1)
    assert fitted.at(np.int64(3)).n_selected == 3
    fitted.set_params(k=9)
    with pytest.raises(ShortlistError, match="from 1 to 3, got 4"):
        fitted.at(4)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "softmax"])
def test_a_tolerance_ends_refits_early(loss):
    X, y, _ = correlated(4)
    y = np.digitize(y, [-1.0, 1.0]) if loss != "logistic" else np.sign(y)
    exact, same, rough = (
        FoBa(3, loss=loss, tol=tol, overshoot=0.0).fit(X, y)
        for tol in (0.0, 1e-12, 0.1)
    )
    np.testing.assert_allclose(same.coef_, exact.coef_, rtol=1e-6, atol=1e-12)
    least, reached = (f.shortlist_.params["objective"] for f in (exact, rough))
    assert least < reached < 1.1 * least


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "luck"}, "criterion should be"),
        ({"overshoot": -1}, "overshoot should be at least 0"),
        ({"l2": "some"}, "l2 should be a number from 0 or 'auto'"),
        ({"l2": -1.0}, "l2 should be a number from 0"),
        ({"l2": np.ones(3)}, "l2 should be a number from 0 or 'auto', got array"),
        ({"l2": np.inf}, "l2 should be a number from 0 or 'auto', got inf"),
        ({"l2": True}, "l2 should be a number from 0 or 'auto', got True"),
        ({"search_l2": np.ones(3)}, "search_l2 should be a number from 0"),
        ({"overshoot": None}, "overshoot should be at least 0 and finite, got None"),
        ({"overshoot": "a"}, "overshoot should be at least 0 and finite, got 'a'"),
        ({"tol": -1e-3}, "tol should be at least 0 and finite, got -0.001"),
        ({"loss": "hinge"}, "works with loss="),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings, message):
    X, y, _ = correlated(0)
    with pytest.raises(ShortlistError, match=message):
        FoBa(2, **settings).fit(X, np.sign(y))
