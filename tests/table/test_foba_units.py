"""What is selected as a whole: groups, the margins of a softmax; always and never."""

import numpy as np
import pandas as pd
import pytest

from reference.foba import correlated
from shortlist import FoBa, ShortlistError
from shortlist._targets import choose_target
from shortlist.table._foba import Settings
from shortlist.table._foba_select import foba_path
from shortlist.table._problem import table_problem

GROUPS = {
    "mapping": {"left": ["x0", "x1", "x2"], "right": [3, 4, 5]},
    "lists": [["x0", "x1", "x2"], (3, 4, 5)],
    "labels": ["left"] * 3 + ["right"] * 3 + [f"x{j}" for j in range(6, 12)],
}


@pytest.fixture
def table():
    """Features 0 to 2 say most, 4 a little, 8 less."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = X[:, :3] @ [1.0, 1.0, 1.0] + 0.5 * X[:, 4] + 0.2 * X[:, 8]
    return X, y + 0.1 * rng.normal(size=200)


def chosen(fitted):
    return fitted.get_support(indices=True).tolist()


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_groups_come_whole_and_are_what_k_counts(table, groups, criterion):
    fitted = FoBa(3, feature_groups=groups, criterion=criterion).fit(*table)
    assert chosen(fitted) == [0, 1, 2, 3, 4, 5, 8]
    assert fitted.at(2).support.tolist() == [0, 1, 2, 3, 4, 5]
    assert fitted.at(1).support.tolist() == [0, 1, 2]
    assert "k = 3 counts groups; they hold 7 features" in fitted.shortlist_.notes
    A = np.column_stack([table[0][:, chosen(fitted)], np.ones(200)])
    expected = np.linalg.lstsq(A, table[1])[0]
    np.testing.assert_allclose(fitted.coef_[chosen(fitted)], expected[:-1], rtol=1e-8)


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_a_feature_to_keep_or_to_leave_out_speaks_for_its_group(table, groups):
    kept = FoBa(1, feature_groups=groups, always=[4]).fit(*table)
    assert chosen(kept) == [3, 4, 5]
    assert chosen(FoBa(2, feature_groups=groups, always=["x3"]).fit(*table)) == [
        *range(6)
    ]
    barred = FoBa(2, feature_groups=groups, never=["x1"]).fit(*table)
    assert chosen(barred) == [3, 4, 5, 8]
    with pytest.raises(ShortlistError, match="always= and by never="):
        FoBa(2, feature_groups=groups, always=["x3"], never=["x4"]).fit(*table)
    with pytest.raises(ShortlistError, match="more than the budget k=1"):
        FoBa(1, feature_groups=groups, always=[0, 3]).fit(*table)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": ["nobody"]}, "no feature is called 'nobody'"),
        ({"a": [99]}, "no feature is called 99"),
        ({"a": [-1]}, "no feature is called -1"),
        ([["x0"], ["x1", "nobody"]], "no feature is called 'nobody'"),
        ({"a": [0], "b": ["x0"]}, "'x0' is in 'a' and in 'b'"),
        ({"a": [0, "x0"]}, "'x0' is named twice in 'a'"),
        ({"a": []}, "'a' has no features"),
        ([[0, 1], []], "'group 1' has no features"),
        (["a", "b"], "one label for each of the 12 features, got 2 items"),
        (["a"] * 13, "one label for each of the 12 features, got 13 items"),
        ([["x0"], "x1"], "one label for each of the 12 features"),
    ],
)
def test_groups_that_make_no_sense_are_refused(table, groups, message):
    with pytest.raises(ShortlistError, match=message):
        FoBa(2, feature_groups=groups).fit(*table)


def test_groups_of_constant_columns_are_never_chosen(table):
    X, y = table
    X[:, [6, 7]] = 1.0
    fitted = FoBa(12, feature_groups=[[6, 7], [0, 1, 2]]).fit(X, y)
    assert chosen(fitted) == [0, 1, 2, 3, 4, 5, 8, 9, 10, 11]


def test_what_is_always_in_counts_and_stays_on_the_whole_path(table):
    fitted = FoBa(4, always=["x10", 11]).fit(*table)
    assert {10, 11} < set(chosen(fitted))
    assert len(chosen(fitted)) == 4
    for k in (2, 3):
        assert {10, 11} <= set(fitted.at(k).support.tolist())
    with pytest.raises(ShortlistError, match="from 2 to 4, got 1"):
        fitted.at(1)
    with pytest.raises(ShortlistError, match="'x3' is named by always= and by never="):
        FoBa(4, always=[3], never=["x3"]).fit(*table)


def mask_of(*columns):
    mask = np.zeros(12, bool)
    mask[list(columns)] = True
    return mask


WAYS = {
    "array": lambda *columns: np.array(columns),
    "small integers": lambda *columns: np.array(columns, np.uint8),
    "array of names": lambda *columns: np.array([f"x{j}" for j in columns]),
    "index": lambda *columns: pd.Index(columns),
    "index of names": lambda *columns: pd.Index([f"x{j}" for j in columns]),
    "series": lambda *columns: pd.Series(columns),
    "set": lambda *columns: set(columns),
    "mask": mask_of,
    "list of booleans": lambda *columns: mask_of(*columns).tolist(),
}


@pytest.mark.parametrize("way", WAYS)
def test_features_to_keep_and_to_leave_out_may_come_in_any_form(table, way):
    X, y = table
    for some in ((10,), (0,), (10, 11)):
        listed = FoBa(4, always=list(some), never=[1, 5]).fit(X, y)
        asked = {"always": WAYS[way](*some), "never": WAYS[way](1, 5)}
        assert chosen(FoBa(4, **asked).fit(X, y)) == chosen(listed)
        framed = FoBa(4, **asked).fit(pd.DataFrame(X, columns=listed_names()), y)
        assert chosen(framed) == chosen(listed)
    nothing = FoBa(2, always=np.array([], int), never=np.zeros(12, bool)).fit(X, y)
    assert chosen(nothing) == chosen(FoBa(2).fit(X, y))


def listed_names():
    return [f"x{j}" for j in range(12)]


def test_forms_that_make_no_sense_are_refused(table):
    with pytest.raises(
        ShortlistError, match=r"one entry for each of them \(12\), got 3"
    ):
        FoBa(2, always=np.array([True, False, True])).fit(*table)
    with pytest.raises(
        ShortlistError, match="always should be a list of features, got 3"
    ):
        FoBa(2, always=3).fit(*table)
    with pytest.raises(ShortlistError, match=r"from 'x0' to 'x11', got '0\.0'"):
        FoBa(2, always=np.array([0.0])).fit(*table)
    with pytest.raises(ShortlistError, match=r"no feature is called 1\.7"):
        FoBa(2, feature_groups=[[0, 1.7]]).fit(*table)
    with pytest.raises(ShortlistError, match="no feature is called True"):
        FoBa(2, feature_groups=[[True, 2]]).fit(*table)


def test_numpy_numbers_and_names_make_groups(table):
    expected = chosen(FoBa(1, feature_groups=[[0, 1, 2]]).fit(*table))
    for members in (np.arange(3), np.array(["x0", "x1", "x2"])):
        assert chosen(FoBa(1, feature_groups=[members]).fit(*table)) == expected


@pytest.mark.parametrize("criterion", ["gradient", "objective"])
def test_classes_share_the_features_of_a_softmax(criterion):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 20)) + 5.0
    y = np.argmax(X[:, [3, 8, 15]] + 0.2 * rng.normal(size=(300, 3)), axis=1)
    fitted = FoBa(3, criterion=criterion).fit(X, y)
    assert chosen(fitted) == [3, 8, 15]
    assert fitted.coef_.shape == (3, 20)
    assert (fitted.coef_[:, [3, 8, 15]] != 0).all()
    assert fitted.score(X, y) > 0.9
    assert fitted.at(1).n_selected == 1


def problems():
    """Least squares in groups of correlated columns; a softmax: units of several."""
    X, y, _ = correlated(3, n=150, p=24, s=8)
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.arange(24) // 3)
    squared = table_problem(X, y, choose_target("squared", y))
    codes = np.digitize(y, [-1.0, 1.0]).astype(float)
    target = choose_target("softmax", codes)
    softmax = table_problem(X[:, :10], codes, target, l2=1e-3)
    return {"groups": (squared, groups, 1e-9), "softmax": (softmax, None, 0.05)}


@pytest.mark.parametrize("name", ["groups", "softmax"])
def test_elimination_drops_the_unit_that_a_refit_misses_least(name):
    problem, unit_of, close = problems()[name]
    path = foba_path(problem, Settings(4, overshoot=0.5), unit_of=unit_of)
    own = np.arange(10) if unit_of is None else unit_of
    own = np.repeat(own, problem.n_outputs)
    for size in range(5, 0, -1):
        units = path.latest[size + 1].units if size < 5 else path.latest[6].units
        rests = [tuple(v for v in units if v != u) for u in units]
        values = [
            problem.objective.refit(np.flatnonzero(np.isin(own, rest))).value
            for rest in rests
        ]
        rise = path.latest[size].fit.value - path.latest[size + 1].fit.value
        assert path.latest[size].units in rests
        least = min(values) - path.latest[size + 1].fit.value
        assert rise <= least * (1 + close) + 1e-12


def test_a_group_is_judged_without_its_neighbours_as_one_feature_would_be():
    """A path over groups of one is the path over features."""
    X, y, _ = correlated(5, p=20, s=6)
    for loss, t in (("squared", y), ("logistic", np.sign(y))):
        problem = table_problem(X, t, choose_target(loss, t), l2=1e-3)
        for overshoot in (0.0, 0.5):
            asked = Settings(8, overshoot=overshoot)
            alone = foba_path(problem, asked)
            grouped = foba_path(problem, asked, unit_of=np.arange(20))
            assert alone.n_backward == grouped.n_backward
            for size, step in alone.latest.items():
                assert grouped.latest[size].units == step.units
                np.testing.assert_allclose(
                    grouped.latest[size].fit.value, step.fit.value, rtol=1e-9
                )
