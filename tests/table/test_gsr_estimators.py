"""GSR and its family as estimators: what they choose, publish and refuse."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from gsr_samples import classes, numbers
from reference.gsr import gsr
from shortlist import ERFS, GSR, MTFS, RFS, RK1U, FoBa, Shortlist, ShortlistError

FAMILY = (GSR, MTFS, RFS, ERFS, RK1U)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("estimator", FAMILY)
def test_planted_features_are_found_for_classes_numbers_and_several_outputs(estimator):
    for X, y, support in (classes(), numbers(), numbers(1, outputs=3)):
        fitted = estimator(4).fit(X, y)
        assert fitted.get_support(indices=True).tolist() == support.tolist()
        assert fitted.score(X, y) > 0.85
        assert fitted.n_iter_ == len(fitted.shortlist_.trace["objective"])


@pytest.mark.parametrize(
    ("named", "general"),
    [
        (MTFS(6), GSR(6, r=2, p=1)),
        (RFS(6), GSR(6, r=1, p=1)),
        (ERFS(6), GSR(6, r=0.5, p=0.5)),
        (ERFS(6, p=0.75), GSR(6, r=0.75, p=0.75)),
        (RK1U(6), GSR(6, r=2, p=0.5)),
        (RK1U(6, p=0.25), GSR(6, r=2, p=0.25)),
    ],
)
def test_methods_by_name_are_special_cases(named, general):
    X, y, _ = classes(2)
    named.fit(X, y), general.fit(X, y)
    np.testing.assert_array_equal(named.coef_, general.coef_)
    np.testing.assert_array_equal(
        named.shortlist_.trace["objective"], general.shortlist_.trace["objective"]
    )
    assert (named.r_, named.lam_) == (general.r_, general.lam_)
    assert named.shortlist_.method == type(named).__name__.lower()
    assert type(named).capabilities.citation


@pytest.mark.parametrize("r", [2.0, 1.0])
@pytest.mark.parametrize("intercept", ["mean", "weighted"])
def test_the_objective_is_that_of_the_paper_in_the_users_units(r, intercept):
    X, Y, _ = numbers(3, n=60, p=12, outputs=2)
    Y = 7.0 * Y + 100.0
    options = {"r": r, "p": 0.5, "lam": 9.0, "drop": 0.0, "max_iter": 50, "tol": 0.0}
    options["smoothing"] = 1e-9
    fitted = GSR(4, intercept=intercept, **options).fit(X * 3.0 + 5.0, Y)
    A, moving = standardised(X), intercept == "weighted"
    sigma = 1e-18 * np.sum(Y.var(axis=0))  # smoothing is in the units of Y
    steps = gsr(A, Y - Y.mean(axis=0), r, 0.5, 9.0, 50, sigma, intercept=moving)
    *_, (W, _, value) = steps
    found = fitted.shortlist_.trace["objective"][-1]
    np.testing.assert_allclose(found, value, rtol=1e-5)
    norms = np.linalg.norm(W, axis=1)
    np.testing.assert_allclose(
        fitted.selection_path_.weights[-1], norms, rtol=1e-3, atol=1e-4
    )
    assert fitted.lam_ == pytest.approx(9.0)


@pytest.mark.parametrize("estimator", FAMILY)
def test_units_and_zeros_of_x_and_y_do_not_matter(estimator):
    X, y, _ = numbers(4, noise=1.0)
    rng = np.random.default_rng(0)
    unit = 10.0 ** rng.integers(-3, 4, X.shape[1])
    plain = estimator(6).fit(X, y)
    moved = estimator(6).fit(unit * (X + rng.choice([-30, 0, 30], 40)), 1e3 * y - 1e4)
    assert plain.shortlist_.names == moved.shortlist_.names
    np.testing.assert_allclose(moved.coef_ * unit, 1e3 * plain.coef_, rtol=1e-5)
    assert plain.n_iter_ == moved.n_iter_
    p = plain.shortlist_.params["p"]
    assert moved.lam_ == pytest.approx(plain.lam_ * 1e3 ** (plain.r_ - p), rel=1e-6)


def test_columns_as_they_are_are_penalised_as_they_are():
    X, y, support = numbers(2)
    X[:, support[0]] *= 1e-3
    assert support[0] in GSR(4).fit(X, y).get_support(indices=True)
    raw = GSR(4, r=2.0, standardize=False).fit(X, y)
    assert support[0] not in raw.get_support(indices=True)
    scaled = GSR(4, r=2.0, standardize=False).fit(1e6 * X, y)
    assert scaled.shortlist_.names == raw.shortlist_.names
    assert scaled.lam_ == pytest.approx(raw.lam_ * 1e6**0.5, rel=1e-6)


def test_an_intercept_is_decisive_where_labels_are_far_from_zero():
    X, y, support = numbers(5, noise=0.5)
    with_one = GSR(4, r=2.0).fit(X + 1.0, y + 30)
    without = GSR(4, r=2.0, fit_intercept=False).fit(X + 1.0, y + 30)
    assert set(with_one.get_support(indices=True)) == set(support)
    assert with_one.score(X + 1.0, y + 30) > 0.9 > without.score(X + 1.0, y + 30)


def test_where_none_is_wanted_there_is_none_while_choosing():
    X, y, _ = numbers(5)
    traces = [
        GSR(4, r=1.0, lam=5.0, intercept=intercept, fit_intercept=False)
        .fit(X + 1.0, y + 30)
        .shortlist_.trace["objective"]
        for intercept in ("mean", "weighted")
    ]
    np.testing.assert_array_equal(*traces)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("estimator", FAMILY)
def test_weights_are_the_refit_of_the_features_chosen(estimator, loss):
    X, y, _ = numbers(6)
    y = y if loss == "squared" else np.where(y > 0, "yes", "no")
    fitted = estimator(5, loss=loss).fit(X, y)
    peer = FoBa(5, loss=loss, never=~fitted.get_support()).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, peer.coef_, rtol=1e-6, atol=1e-9)


def test_many_classes_are_refitted_to_the_minimum():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(16), 10)
    X = rng.normal(size=(16, 40))[y] + rng.normal(size=(160, 40))
    fitted = GSR(30, r=2.0, l2=0.1).fit(X, y)  # 480 weights: conjugate gradients
    W, scale = fitted.coef_, X.std(axis=0)
    P = softmax(X @ W.T + fitted.intercept_, axis=1)
    slopes = P - (y[:, np.newaxis] == np.arange(16))
    gradient = slopes.T @ X / len(y) + 0.1 * W * scale**2
    chosen = fitted.get_support(indices=True)
    assert np.abs(gradient[:, chosen]).max() < 1e-6
    assert np.abs(slopes.mean(axis=0)).max() < 1e-6


@pytest.mark.parametrize("estimator", FAMILY)
def test_the_path_ends_where_the_shortlist_begins(estimator):
    X, y, _ = classes(3)
    never = [0, 7]
    fitted = estimator(5, never=never).fit(X, y)
    path, n = fitted.selection_path_, fitted.n_iter_
    assert len(path) == n
    assert path.weights.shape == path.ranks.shape == (n, 40)
    assert all(sorted(row) == list(range(1, 41)) for row in path.ranks.tolist())
    best = np.argsort(path.ranks[-1])[:5]
    assert sorted(best) == fitted.get_support(indices=True).tolist()
    np.testing.assert_array_equal(fitted.ranking_[best], np.arange(1, 6))
    assert not path.weights[:, never].any()
    assert path.ranks[:, never].min() == 39
    for weights, ranks in zip(path.weights, path.ranks, strict=True):
        assert np.all(np.diff(weights[np.argsort(ranks)]) <= 0)
    gone = path.weights == 0.0
    assert np.all(gone[:-1] <= gone[1:])  # what has left does not come back


def test_budgets_above_the_number_of_rows_are_filled_by_those_that_went_last():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, 300))
    y = np.where(X[:, 7] + X[:, 42] > 0, "yes", "no")
    fitted = GSR(100).fit(X, y)
    chosen = fitted.get_support(indices=True)
    assert len(chosen) == 100
    assert {7, 42} <= set(chosen)
    assert 22 <= fitted.shortlist_.trace["survivors"][-1] <= 27
    assert len(fitted.shortlist_.trace["lam"]) <= 8
    path = fitted.selection_path_
    assert set(chosen) == set(np.argsort(path.ranks[-1])[:100])


def test_a_penalty_of_ones_own_is_taken_and_told():
    X, y, _ = classes(1)
    small, large = GSR(5, r=2.0, lam=2.0).fit(X, y), GSR(5, r=2.0, lam=40.0).fit(X, y)
    assert (small.lam_, large.lam_) == pytest.approx((2.0, 40.0))
    survivors = [f.shortlist_.trace["survivors"].item() for f in (small, large)]
    assert survivors[0] > survivors[1]
    auto = GSR(5, r=2.0).fit(X, y)
    again = GSR(5, r=2.0, lam=auto.lam_).fit(X, y)
    assert again.shortlist_.names == auto.shortlist_.names
    assert auto.shortlist_.params["lam"] == auto.lam_
    assert 5 <= auto.shortlist_.trace["survivors"][-1] <= 6


@pytest.mark.parametrize("estimator", [MTFS, RFS])
def test_the_penalty_of_a_convex_problem_is_a_twentieth_of_what_leaves_nothing(
    estimator,
):
    X, y, _ = classes(1)
    lam = 20 * estimator(5).fit(X, y).lam_
    options = {"tol": 0.0, "max_iter": 300, "smoothing": 1e-8}
    none, some = (
        estimator(5, lam=times * lam, **options).fit(X, y) for times in (1.1, 0.9)
    )
    assert none.selection_path_.weights[-1].max() < 1e-5
    assert some.selection_path_.weights[-1].max() > 1e-2


@pytest.mark.parametrize("estimator", FAMILY)
def test_rows_that_count_twice_are_rows_that_occur_twice(estimator):
    X, y, _ = numbers(7, n=90, noise=1.0)
    weight = np.where(np.arange(90) < 30, 2.0, 1.0)
    weight[60:] = 0.0
    X[70], y[70] = 1e6, -1e6
    weighted = estimator(4).fit(X, y, sample_weight=weight)
    rows = np.concatenate([np.arange(60), np.arange(30)])
    twice = estimator(4).fit(X[rows], y[rows])
    assert weighted.shortlist_.names == twice.shortlist_.names
    np.testing.assert_allclose(weighted.coef_, twice.coef_, rtol=1e-6)
    assert weighted.lam_ == pytest.approx(twice.lam_, rel=1e-6)


def test_rows_that_occur_twice_do_not_make_more_features_survive():
    X, y, _ = numbers(7, n=40, p=100, noise=1.0)
    rows = np.concatenate([np.arange(40), np.arange(40)])
    once, twice = GSR(60).fit(X, y), GSR(60).fit(X[rows], y[rows])
    assert once.shortlist_.names == twice.shortlist_.names
    survivors = [f.shortlist_.trace["survivors"][-1] for f in (once, twice)]
    assert 20 <= survivors[0] == survivors[1] <= 24


@pytest.mark.parametrize("form", ["float32", "csr_array", "csc_array", "Fortran"])
@pytest.mark.parametrize("r", [2.0, 1.0])
@pytest.mark.parametrize("shape", [(200, 40), (50, 90)])
def test_how_the_table_is_held_does_not_matter(form, r, shape):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.09)
    X = X.astype(np.float32).astype(float)
    y = 3 * X[:, 3] - 3 * X[:, 8] + X[:, 20] + 0.05 * rng.normal(size=shape[0])
    other = {
        "float32": lambda: X.astype(np.float32),
        "Fortran": lambda: np.asfortranarray(X),
    }.get(form, lambda: getattr(sparse, form)(X))()
    dense, same = (
        GSR(3, r=r, intercept="weighted", smoothing=1e-3).fit(A, y) for A in (X, other)
    )
    assert dense.shortlist_.names == same.shortlist_.names
    np.testing.assert_allclose(same.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    digits = 1e-3 if form == "float32" else 1e-6
    np.testing.assert_allclose(
        same.shortlist_.trace["objective"][-1],
        dense.shortlist_.trace["objective"][-1],
        digits,
    )


def test_wide_tables_in_little_precision_are_searched_like_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3000))
    y = np.digitize(X[:, 5] + X[:, 900], [-1.0, 1.0])
    same = [RK1U(4).fit(X.astype(kind), y) for kind in (np.float64, np.float32)]
    assert same[0].shortlist_.names == same[1].shortlist_.names
    np.testing.assert_array_equal(
        same[0].shortlist_.trace["survivors"], same[1].shortlist_.trace["survivors"]
    )


@pytest.mark.parametrize("estimator", FAMILY)
def test_groups_survive_or_vanish_together(estimator):
    X, y, _ = numbers(0, p=24, s=1)
    y = X[:, 4] + X[:, 5] + 1.5 * X[:, 21]
    groups = {"pair": [4, 5], "large": list(range(6, 14))}
    fitted = estimator(2, feature_groups=groups).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [4, 5, 21]
    weights = fitted.selection_path_.weights
    np.testing.assert_array_equal(weights[:, 4], weights[:, 5])
    kept = estimator(3, feature_groups=groups, always=["x7"], never=[5]).fit(X, y)
    chosen = set(kept.get_support(indices=True))
    assert set(range(6, 14)) | {21} <= chosen
    assert not {4, 5} & chosen


@pytest.mark.parametrize("estimator", FAMILY)
def test_what_is_always_in_explains_its_part(estimator):
    """A copy of a feature that is always in has nothing left to say."""
    X, y, support = numbers(8, noise=0.1)
    a, b, c, d = support.tolist()
    X[:, b] = X[:, a] + 0.02 * np.random.default_rng(0).normal(size=len(X))
    y = 5 * X[:, a] + X[:, c] + X[:, d]
    fitted = estimator(3, always=[b]).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == sorted([b, c, d])


@pytest.mark.parametrize("estimator", FAMILY)
@pytest.mark.parametrize("large", [30.0, 30000.0])
def test_how_much_of_y_they_explain_does_not_matter(estimator, large):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 150))
    y = large * X[:, 0] + X[:, 1:5].sum(axis=1) + 0.3 * rng.normal(size=100)
    fitted = estimator(5, always=[0]).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("estimator", [MTFS, RFS])
def test_nor_does_it_for_the_largest_penalty(estimator):
    X, y, _ = numbers(8, noise=1.0)
    plain, large = (
        estimator(3, always=[5]).fit(X, y + c * X[:, 5]) for c in (0.0, 100.0)
    )
    assert large.lam_ == pytest.approx(plain.lam_, rel=1e-6)


def test_nothing_is_chosen_where_all_is_told():
    X, y, _ = numbers(8)
    told = GSR(2, always=[3, 30]).fit(X, y)
    assert told.get_support(indices=True).tolist() == [3, 30]
    whole = GSR(3, always=[0, 1, 2]).fit(X[:, :3], y)
    assert whole.get_support(indices=True).tolist() == [0, 1, 2]


def test_columns_that_have_nothing_to_do_with_y_are_ranked_all_the_same():
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    fitted = GSR(1, loss="squared").fit(X, X[:, 0] * X[:, 1])
    assert fitted.shortlist_.n_selected == 1
    np.testing.assert_allclose(fitted.predict(X), 0.0, atol=1e-12)


def test_names_labels_and_files_go_along(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, support = classes(0)
    frame = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    fitted = GSR(4).fit(frame, y)
    assert fitted.get_feature_names_out().tolist() == [f"gene {j}" for j in support]
    assert set(fitted.predict(frame)) <= {"ant", "bee", "cat"}
    assert fitted.coef_.shape == (3, 40)
    fitted.shortlist_.save(tmp_path / "found")
    assert Shortlist.load(tmp_path / "found") == fitted.shortlist_


@pytest.mark.parametrize("estimator", FAMILY)
def test_tables_with_next_to_nothing_in_them_are_answered(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4, 3)), np.array([0, 1, 0, 1])
    assert estimator().fit(X, y).shortlist_.n_selected == 3
    assert estimator().fit(X[:, :1], y).shortlist_.n_selected == 1
    constant = estimator(2, loss="squared").fit(X, np.full(4, 7.0))
    assert constant.shortlist_.n_selected == 2
    assert constant.n_iter_ == len(constant.selection_path_) == 0
    assert len(constant.shortlist_.trace["objective"]) == 0
    assert np.isnan(constant.lam_)
    given = estimator(2, loss="squared", lam=3.0).fit(X, np.full(4, 7.0))
    assert given.lam_ == 3.0
    np.testing.assert_allclose(constant.predict(X), 7.0)
    flat = estimator(2, loss="squared").fit(np.ones((4, 3)), y)
    assert flat.shortlist_.n_selected == 0
    np.testing.assert_allclose(flat.predict(X), 0.5)
    X = np.column_stack([X, X[:, 0], np.ones(4), X[:, 1] + X[:, 2]])
    assert estimator(9).fit(X, y).get_support(indices=True).tolist() == [0, 1, 2, 3, 5]


@pytest.mark.parametrize("r", [2.0, 1.0, 0.5])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_that_are_fitted_exactly_upset_nothing(r, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 60)).astype(kind)
    fitted = GSR(30, r=r).fit(X, X[:, 3] - X[:, 5])
    assert {3, 5} <= set(fitted.get_support(indices=True))
    trace = fitted.shortlist_.trace["objective"]
    assert np.isfinite(trace).all()
    assert trace[-1] < trace[0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"r": 0.0}, "r should be a number above 0 and at most 2, or 'auto', got 0.0"),
        ({"r": 2.5}, "r should be"),
        ({"r": "some"}, "r should be"),
        ({"p": 1.5}, "p should be a number above 0 and at most 1, got 1.5"),
        ({"p": "auto"}, "p should be"),
        ({"lam": 0.0}, "lam should be a number above 0, or 'auto', got 0.0"),
        ({"lam": np.inf}, "lam should be"),
        ({"lam": np.nan}, "lam should be"),
        ({"drop": -1e-3}, "drop should be a number from 0 and at most 1"),
        ({"smoothing": 0.0}, "smoothing should be a number above 0"),
        ({"intercept": "none"}, "intercept should be 'mean' or 'weighted'"),
        ({"max_iter": 0}, "max_iter should be a whole number from 1"),
        ({"tol": -1.0}, "tol should be at least 0"),
        ({"loss": "poisson"}, "works with loss="),
        ({"l2": -1.0}, "l2 should be a number from 0"),
    ],
)
def test_bad_settings_are_refused_in_one_line(asked, message):
    X, y, _ = numbers()
    with pytest.raises(ShortlistError, match=message):
        GSR(2, **asked).fit(X, y)


def test_too_few_iterations_are_told():
    X, y, _ = numbers()
    fitted = GSR(4, r=2.0, lam=1.0, max_iter=2).fit(X, y)
    assert "not converged after 2 iterations" in fitted.shortlist_.notes
    assert fitted.n_iter_ == 2
