"""What every selector promises, found through the registry."""

import inspect
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from shortlist import FoBaCV, ShortlistError
from shortlist._registry import selectors
from shortlist.losses import get_loss

ESTIMATORS = [found.load("estimator") for found in selectors().values()]

ENDLESS = [e for e in ESTIMATORS if e.capabilities.room == "sketch"]
NO_GROUPS = [e for e in ESTIMATORS if not e.capabilities.groups]


#: These differ from GSR by two numbers, or from BARDA by two rules: one of each is enough.
SPECIAL_CASES = ("mtfs", "rfs", "erfs", "rk1u")
PEERS_OF_BARDA = ("bamd", "ofs", "sofs", "l1arda", "adafobos")


#: What these drop is forgotten, so that among columns that all rows have they keep what
#: they met first, or met most; tests/rows says where they find what matters.
FORGETFUL = ("bamd", "ofs", "sofs")


def plain(estimator, k, **settings):
    """Estimator that takes rows as they are and shrinks no weight to 0."""
    if estimator.capabilities.room == "rows":
        settings["normalize"] = None
    if estimator.capabilities.method in ("l1arda", "adafobos"):
        settings["lam"] = 0.0
    return estimator(k=k, **settings)


def is_forgetful(estimator):
    return estimator.capabilities.method in FORGETFUL


def _one_of_each_kind(estimator):
    """With loss auto, one for classes and one for numbers, as far as it can.

    What room rows chooses depends on the order of rows, other than what scikit-learn
    expects of weighted rows, unless the budget is enough for all columns.
    """
    can = estimator.capabilities.losses
    if estimator.capabilities.method == "grafting":
        return [estimator(k=5), estimator(k=5, loss="squared")]
    if estimator.capabilities.method in SPECIAL_CASES:
        return [estimator(k=5)]
    if estimator.capabilities.method in PEERS_OF_BARDA:
        return [plain(estimator, 50)]
    many = estimator.capabilities.room == "rows"
    k = 50 if many else 5
    return [
        plain(estimator, k, loss=loss)
        for loss in ("auto", "logistic", "squared")
        if loss in can
    ] + [plain(estimator, 50) if many else estimator()] * ("auto" not in can)


@parametrize_with_checks(
    [instance for found in ESTIMATORS for instance in _one_of_each_kind(found)]
    + [FoBaCV(5, loss="logistic", cv=2), FoBaCV(5, loss="squared", cv=2)]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(params=ESTIMATORS, ids=lambda e: e.__name__)
def estimator(request):
    return request.param


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 40))
    return X, np.where(X[:, 5] - X[:, 11] + 0.3 * rng.normal(size=200) > 0, "yes", "no")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_text_is_named_and_what_to_do(estimator, library):
    frame = pytest.importorskip(library).DataFrame
    X = frame({"a": [1.0, 2.0, 3.0, 4.0], "town": ["Bonn", "Oslo", "Bonn", "Rome"]})
    with pytest.raises(ShortlistError) as caught:
        estimator(k=1).fit(X, [0, 1, 0, 1])
    said = str(caught.value)
    assert said.startswith(
        "X: expected numbers, column 'town' holds text such as 'Bonn'"
    )
    knows = "categorical_features" in inspect.signature(estimator).parameters
    assert ("categorical_features=" if knows else "select() takes it") in said


def test_parameters_are_documented(estimator):
    text = inspect.getdoc(estimator)
    for name in inspect.signature(estimator).parameters:
        assert name in text, name
    for part in ("Parameters", "Attributes", "References", "Examples"):
        assert f"{part}\n---" in text, part


#: Losses that are compiled for one method of a room only, as each takes its time: what
#: the methods ask of a loss is the same.
LEFT_TO_OTHERS = {
    "mission": ("hinge", "epsilon_insensitive"),
    "sgd_iht": ("logistic", "squared_hinge", "huber", "poisson"),
    "batch_iht": ("logistic", "squared_hinge", "huber", "poisson"),
}


def test_every_loss_is_tried_by_some_method_of_each_room():
    for room in {e.capabilities.room for e in ESTIMATORS}:
        declared, tried = set(), set()
        for found in (
            e.capabilities for e in ESTIMATORS if e.capabilities.room == room
        ):
            declared |= set(found.losses)
            tried |= set(found.losses) - set(LEFT_TO_OTHERS.get(found.method, ()))
        assert tried == declared


def test_declared_losses_exist_and_work(estimator, table):
    X, _ = table
    others = LEFT_TO_OTHERS.get(estimator.capabilities.method, ())
    for name in set(estimator.capabilities.losses) - set(others):
        loss = get_loss(name)
        y = {
            "real": X[:, 5],
            "count": np.floor(np.exp(X[:, 5])),
            "sign": np.sign(X[:, 5]),
            "class": np.digitize(X[:, 5], [-0.5, 0.5]),
        }[loss.target]
        fitted = estimator(k=3, loss=name).fit(X, y)
        assert get_loss(fitted.shortlist_.loss) == loss
        chosen = fitted.get_support(indices=True)
        assert 5 in chosen or (is_forgetful(estimator) and len(chosen) >= 3)


def test_the_result_is_consistent_with_itself(estimator, table):
    X, y = table
    fitted = plain(estimator, 4).fit(X, y)
    chosen = fitted.get_support(indices=True)
    assert {5, 11} <= set(chosen) or is_forgetful(estimator)
    assert len(chosen) == 4
    assert np.flatnonzero(fitted.support_).tolist() == chosen.tolist()
    assert np.flatnonzero(fitted.ranking_ <= 4).tolist() == chosen.tolist()
    assert np.flatnonzero(fitted.coef_.any(axis=0)).tolist() == chosen.tolist()
    assert fitted.get_feature_names_out().tolist() == [f"x{j}" for j in chosen]
    np.testing.assert_array_equal(fitted.transform(X), X[:, chosen])
    margins = X @ fitted.coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(X), margins, rtol=1e-10)
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.score(X, y) > 0.85 or is_forgetful(estimator)


@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_array", "coo_array"])
def test_sparse_and_dense_give_the_same_result(estimator, table, form):
    X, y = table
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = estimator(k=4).fit(X, y)
    thin = estimator(k=4).fit(getattr(sparse, form)(X), y)
    if estimator.capabilities.room == "table":  # sums run in another order there
        assert dense.shortlist_.names == thin.shortlist_.names
        np.testing.assert_allclose(dense.coef_, thin.coef_, rtol=1e-8)
    else:
        assert dense.shortlist_ == thin.shortlist_


def test_names_come_from_frames_and_go_to_frames(estimator, table):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = table
    names = [f"gene {j}" for j in range(X.shape[1])]
    for library, kind in ((pandas, "pandas"), (polars, "polars")):
        frame = library.DataFrame(dict(zip(names, X.T, strict=True)))
        fitted = estimator(k=2).fit(frame, y).set_output(transform=kind)
        out = fitted.transform(frame)
        if not is_forgetful(estimator):
            assert list(out.columns) == ["gene 5", "gene 11"]
        assert isinstance(out, library.DataFrame)
        assert list(out.columns) == list(fitted.get_feature_names_out())
        assert set(fitted.shortlist_.names) == set(out.columns)


def test_always_and_never_are_honoured_by_name_and_number(estimator, table):
    X, y = table
    fitted = estimator(k=3, always=["x30", 31], never=[5, "x11"]).fit(X, y)
    chosen = set(fitted.get_support(indices=True))
    assert {30, 31} <= chosen
    assert not {5, 11} & chosen
    assert len(chosen) == 3


def test_more_always_than_budget_is_refused(estimator, table):
    with pytest.raises(ShortlistError, match="more than the budget k=1"):
        estimator(k=1, always=[1, 2]).fit(*table)


@pytest.mark.parametrize("k", [0, -1, 2.5, "ten", True, None])
def test_a_budget_that_is_no_budget_is_refused(estimator, table, k):
    with pytest.raises(ShortlistError, match="k should be a whole number"):
        estimator(k=k).fit(*table)


@pytest.mark.parametrize("estimator", NO_GROUPS, ids=lambda e: e.__name__)
def test_groups_that_cannot_be_honoured_are_refused(estimator, table):
    with pytest.raises(ShortlistError, match="feature_groups"):
        estimator(k=1, feature_groups=[[0, 1]]).fit(*table)


def test_unknown_losses_and_names_are_refused(estimator, table):
    with pytest.raises(ShortlistError, match="loss should be one of"):
        estimator(loss="cubic").fit(*table)
    with pytest.raises(ShortlistError, match="x999"):
        estimator(never=["x999"]).fit(*table)


def test_a_budget_beyond_the_features_takes_them_all(estimator, table):
    X, y = table
    assert plain(estimator, 500).fit(X, y).shortlist_.n_selected == X.shape[1]


def test_the_same_seed_gives_the_same_bits_and_pickles(estimator, table):
    fitted = estimator(k=4).fit(*table)
    assert clone(fitted).fit(*table).shortlist_ == fitted.shortlist_
    again = pickle.loads(pickle.dumps(fitted))
    assert again.shortlist_ == fitted.shortlist_
    np.testing.assert_array_equal(again.predict(table[0]), fitted.predict(table[0]))


@pytest.mark.parametrize("estimator", ENDLESS, ids=lambda e: e.__name__)
def test_a_feature_space_of_two_to_the_sixty_costs_nothing(estimator):
    rng = np.random.default_rng(0)
    n, told = 400, 2**59 + 17
    columns = rng.integers(0, 2**60, (n, 5))
    columns[:, 0] = np.where(rng.random(n) < 0.5, told, 3)
    y = columns[:, 0] == told
    X = sparse.csr_array(
        (np.ones(5 * n), columns.ravel(), np.arange(0, 5 * n + 1, 5)), shape=(n, 2**60)
    )
    X.sort_indices()
    fitted = estimator(k=2).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [3, told]
    assert fitted.get_feature_names_out().tolist() == ["x3", f"x{told}"]
    assert fitted.transform(X).shape == (n, 2)
    assert fitted.score(X, y) == 1.0
    for name in ("coef_", "support_", "ranking_"):
        assert not hasattr(fitted, name)
    with pytest.raises(AttributeError, match="indices=True"):
        fitted.get_support()
