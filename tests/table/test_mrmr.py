"""mRMR against its definitions, and what it promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_selection import f_classif, f_regression
from sklearn.metrics import mutual_info_score

from reference.mrmr import binned, mrmr
from shortlist import MRMR, FoBa, ShortlistError
from shortlist.table._bins import cut
from shortlist.table._dependence import Binned
from shortlist.table._sparse_bins import SparselyBinned

PAIRS = [(a, b) for a in ("f", "mutual_info") for b in ("correlation", "mutual_info")]


def table(seed, n=60, p=8, numbers=False):
    """Columns that repeat each other, some of few values, and labels they tell."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.5 * rng.normal(size=(p, p)))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n)
    X[:, 2] = X[:, 2].round()
    X[:, 3] = X[:, 3] > 1
    eta = X[:, 0] - X[:, 4] + X[:, 3] + rng.normal(size=n)
    return X, eta if numbers else np.digitize(eta, np.quantile(eta, [0.3, 0.7]))


def order_of(fitted):
    """Columns in the order of coming in."""
    ranks = fitted.ranking_
    return np.argsort(ranks)[: fitted.shortlist_.n_selected].tolist()


@pytest.mark.parametrize("scheme", ["difference", "quotient"])
@pytest.mark.parametrize(("relevance", "redundancy"), PAIRS)
@given(seed=st.integers(0, 2**32), numbers=st.booleans(), weighted=st.booleans())
@settings(max_examples=6)
def test_it_is_what_the_papers_say(
    relevance, redundancy, scheme, seed, numbers, weighted
):
    X, y = table(seed, numbers=numbers)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    present = slice(None) if weight is None else weight > 0
    asked = {
        "relevance": relevance,
        "redundancy": redundancy,
        "scheme": scheme,
        "bins": int(rng.integers(2, 8)),
    }
    always = rng.choice(X.shape[1], rng.integers(0, 3), replace=False).tolist()
    expected, relevant = mrmr(
        X[present],
        y[present],
        5,
        classes=not numbers,
        weight=None if weight is None else weight[present],
        always=always,
        **asked,
    )
    loss = "squared" if numbers else "softmax"
    fitted = MRMR(5, loss=loss, always=always, **asked).fit(X, y, weight)
    np.testing.assert_allclose(fitted.relevance_, relevant, rtol=1e-7, atol=1e-12)
    assert order_of(fitted) == expected


@given(
    values=st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    bins=st.integers(2, 6),
    seed=st.integers(0, 2**32),
)
def test_bins_are_those_of_the_definition_and_keep_what_varies(values, bins, seed):
    x = np.array(values, float)
    weight = np.random.default_rng(seed).integers(1, 5, len(x)).astype(float)
    codes = cut(x, weight, bins)
    np.testing.assert_array_equal(codes, binned(x, weight, bins))
    assert codes.max() < bins
    assert (len(set(codes.tolist())) > 1) == (len(set(values)) > 1)
    np.testing.assert_array_equal(codes, cut(x * 8 + 100, weight, bins))


def test_measures_are_those_of_scikit_learn():
    X, y = table(3)
    linear = MRMR(2, relevance="f").fit(X, y)
    np.testing.assert_allclose(linear.relevance_, f_classif(X, y)[0], rtol=1e-9)
    told = MRMR(2, bins=4).fit(X, y).relevance_
    ones = np.ones(len(y))
    expected = [mutual_info_score(cut(x, ones, 4), y) for x in X.T]
    np.testing.assert_allclose(told, expected, rtol=1e-9, atol=1e-12)
    X, y = table(3, numbers=True)
    numbers = MRMR(2, loss="squared").fit(X, y)
    np.testing.assert_allclose(numbers.relevance_, f_regression(X, y)[0], rtol=1e-9)


@pytest.mark.parametrize("relevance", ["f", "mutual_info"])
def test_one_fit_answers_smaller_budgets(relevance):
    X, y = table(5, n=100, p=12)
    whole = MRMR(8, relevance=relevance).fit(X, y)
    for k in (1, 3, 6):
        part = MRMR(k, relevance=relevance).fit(X, y)
        assert set(whole.shortlist_.top(k).names) == set(part.shortlist_.names)
        assert order_of(whole)[:k] == order_of(part)


def test_what_repeats_is_left_out_and_the_trace_says_why():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 8))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=400)
    y = np.where(X[:, 0] + X[:, 5] > 0, "up", "down")
    fitted = MRMR(2, relevance="f").fit(X, y)
    order = order_of(fitted)
    most = np.argsort(-fitted.relevance_)[:3]
    assert set(most) == {0, 1, 5}
    assert sorted(order) in ([0, 5], [1, 5])
    trace = fitted.shortlist_.trace
    np.testing.assert_array_equal(trace["relevance"], fitted.relevance_[order])
    assert trace["redundancy"][0] == 0.0
    np.testing.assert_allclose(
        trace["redundancy"][1], abs(np.corrcoef(X[:, order].T)[0, 1]), rtol=1e-9
    )


def test_the_model_is_that_of_the_chosen_features():
    X, y = table(2, n=200)
    fitted = MRMR(3, loss="softmax").fit(X, y)
    same = FoBa(3, loss="softmax", never=~fitted.get_support()).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, same.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(fitted.predict(X), same.predict(X))


@pytest.mark.parametrize("k", [1, 3])
def test_without_a_model_there_are_names_and_no_predictions(k):
    X, y = table(2)
    fitted = MRMR(k, refit=False).fit(X, y)
    assert fitted.shortlist_.names == MRMR(k).fit(X, y).shortlist_.names[:k]
    assert fitted.transform(X).shape == (len(X), k)
    assert not hasattr(fitted, "coef_")
    assert not hasattr(fitted, "predict_proba")
    with pytest.raises(ShortlistError, match="mrmr has no weights to predict with"):
        fitted.predict(X)


def test_constant_columns_are_never_chosen():
    X, y = table(0)
    X[:, [4, 6]] = [7.0, 0.0]
    for relevance in ("f", "mutual_info"):
        fitted = MRMR(100, relevance=relevance).fit(X, y)
        assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 3, 5, 7]
        kept = MRMR(2, relevance=relevance, always=[4]).fit(X, y)
        assert 4 in kept.get_support(indices=True)


@pytest.mark.parametrize("relevance", ["f", "mutual_info"])
def test_perfect_features_have_finite_relevance(relevance):
    X, y = table(0)
    X[:, 3] = X[:, 6] = y
    fitted = MRMR(3, relevance=relevance).fit(X, y)
    assert order_of(fitted)[0] == 3
    assert np.isfinite(fitted.relevance_).all()


@pytest.mark.parametrize("form", ["float32", "csr_array", "csc_array", "Fortran"])
@pytest.mark.parametrize("relevance", ["f", "mutual_info"])
def test_how_the_table_is_held_does_not_matter(form, relevance):
    X, y = table(4, n=80)
    X = np.where(np.abs(X) > 0.4, X, 0.0).astype(np.float32).astype(float)
    other = {
        "float32": lambda: X.astype(np.float32),
        "Fortran": lambda: np.asfortranarray(X),
    }.get(form, lambda: getattr(sparse, form)(X))()
    dense = MRMR(4, relevance=relevance).fit(X, y)
    same = MRMR(4, relevance=relevance).fit(other, y)
    np.testing.assert_allclose(same.relevance_, dense.relevance_, rtol=1e-6)
    assert order_of(same) == order_of(dense)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.booleans())
def test_sparse_columns_tell_what_dense_ones_do(seed, bins, weighted):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((30, 6)) < rng.random(6), rng.integers(-4, 9, (30, 6)), 0)
    X = X.astype(float)
    X[:, 5] = rng.integers(1, 4, 30)  # no zeros at all
    weight = rng.uniform(0.0, 2.0, 30) if weighted else np.ones(30)
    categorical = rng.random(6) < 0.3
    dense = Binned(X, weight, bins, categorical)
    few = SparselyBinned(sparse.csr_array(X), weight, bins, categorical)
    y = rng.integers(0, 3, 30).astype(float)
    both = few.of_labels(y, classes=True), dense.of_labels(y, classes=True)
    np.testing.assert_allclose(*both, atol=1e-12)
    for j in range(6):
        np.testing.assert_allclose(few.of_column(j), dense.of_column(j), atol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_of_frames_have_no_order(library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], 200)
    y = np.where((colours == "green") ^ (rng.random(200) < 0.1), 1, 0)
    frame = frames.DataFrame({"size": rng.normal(size=200), "colour": colours})
    if library == "pandas":
        frame["colour"] = frame["colour"].astype("category")
    else:
        frame = frame.with_columns(frame["colour"].cast(frames.Categorical))
    fitted = MRMR(1).fit(frame, y).set_output(transform=library)
    assert fitted.shortlist_.names == ("colour",)
    assert fitted.transform(frame)["colour"].to_list() == colours.tolist()
    np.testing.assert_allclose(fitted.relevance_[1], mutual_info_score(colours, y))
    with pytest.raises(ShortlistError, match="mutual information only"):
        MRMR(1, relevance="f").fit(frame, y)


def test_many_categories_are_counted_one_by_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 400, size=(900, 3)).astype(float)
    y = (X[:, 1] % 2).astype(int)
    fitted = MRMR(1, categorical_features=[0, 1, 2]).fit(X, y)
    expected = [mutual_info_score(x, y) for x in X.T]
    np.testing.assert_allclose(fitted.relevance_, expected, rtol=1e-9)
    assert order_of(fitted) == [1]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"relevance": "chi2"}, "relevance should be one of auto, f, mutual_info"),
        ({"redundancy": "f"}, "redundancy should be one of auto, correlation"),
        ({"scheme": "ratio"}, "scheme should be one of difference, quotient"),
        ({"bins": 1}, "bins should be a whole number from 2, got 1"),
        ({"bins": 2.5}, "bins should be a whole number"),
        ({"l2": -1.0}, "l2 should be a number from 0"),
        ({"loss": "hinge"}, "works with loss="),
        ({"categorical_features": "colour"}, "'from_dtype', None or a list"),
        ({"categorical_features": ["colour"]}, "names or numbers of 8 features"),
        ({"categorical_features": [8]}, "names or numbers of 8 features"),
        ({"categorical_features": [True, False]}, "a bool for each of 8 features"),
    ],
)
def test_bad_settings_are_refused_in_one_line(asked, message):
    X, y = table(0)
    with pytest.raises(ShortlistError, match=message):
        MRMR(2, **asked).fit(X, y)
