"""Stability and substitutes that come along with a choice, groups of rows included."""

import numpy as np
import pandas as pd
import pytest

from shortlist import BARDA, FoBa, ShortlistError, select, stability
from shortlist._registry import selector
from shortlist.engines import run
from shortlist.resampling import _tables
from shortlist.resampling._second_look import SecondLook
from shortlist.resampling._streams import Resampled
from shortlist.sources import ArraySource


@pytest.fixture(scope="module")
def table():
    """Forty people of five visits each; column 3 and its twin 20, and 8 decide."""
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(40), 5)
    X = rng.normal(size=(200, 30))
    X[:, 20] = X[:, 3] + 0.4 * rng.normal(size=200)
    y = X[:, 3] - X[:, 8] + rng.normal(size=40)[people]
    return X, y, people


@pytest.mark.parametrize("grouped", [False, True])
def test_select_tells_the_shares_that_stability_does(table, grouped):
    X, y, people = table
    groups = people if grouped else None
    chosen = select(X, y, k=3, method="foba", stability=6, groups=groups)
    found = stability(FoBa(k=3), X, y, n_resamples=6, groups=groups)
    expected = found.shortlist.to_frame()[["name", "stability"]]
    told = chosen.to_frame()[["name", "stability"]]
    assert sorted(map(tuple, told.to_numpy())) == sorted(
        map(tuple, expected.to_numpy())
    )
    assert 0.0 < told["stability"].min() < 1.0  # shares that halves could change


def test_select_tells_substitutes_as_well(table):
    X, y, _ = table
    chosen = select(X, y, k=2, stability=3, substitutes=1)
    told = {(s.name, s.substitute) for s in chosen.substitutes}
    assert ("x3", "x20") in told or ("x20", "x3") in told
    assert chosen.params["stability"]["pairs"] == 3


def test_a_stream_throws_its_coin_for_groups(table):
    X, y, people = table
    shuffled = np.random.default_rng(1).permutation(people)
    asked = BARDA(k=3, loss="squared")._learner()
    look = SecondLook(asked, n_pairs=4, groups=shuffled)
    seen = {}

    class Listening:
        """Remembers which rows the half learns from, by their labels."""

        def __init__(self, half, number):
            self.half, self.number = half, number

        def step(self, state, block):
            seen.setdefault(self.number, []).extend(block.y.tolist())
            self.half.step(state, block)

        def __getattr__(self, name):
            return getattr(self.half, name)

    assert isinstance(look.learner, Resampled)
    look.learner._halves = [
        Listening(half, n) for n, half in enumerate(look.learner._halves)
    ]
    result = run(look.learner, ArraySource(X, y, block_rows=23))
    assert result.params["stability"]["pairs"] == 4
    group_of = dict(zip(y.tolist(), shuffled.tolist(), strict=True))
    for pair in range(4):
        one, other = ({group_of[v] for v in seen[2 * pair + side]} for side in (0, 1))
        assert not one & other
        assert one | other == set(range(40))
        assert 5 < len(one) < 35


def test_groups_skip_rows_that_a_bad_label_left_out(table, monkeypatch):
    X, y, people = table
    codes = np.where(y > 0, 1.0, 0.0)
    codes[:7] = 9.0
    source = ArraySource(X, codes, block_rows=50)
    source.on_error = "skip"
    halves = []
    original = _tables.complementary_halves

    def listening(n, pairs, **asked):
        halves.append(asked["groups"])
        return original(n, pairs, **asked)

    monkeypatch.setattr(_tables, "complementary_halves", listening)
    learner = selector("foba").load("algorithm")(3, classes=[0.0, 1.0])
    look = SecondLook(learner, n_pairs=2, groups=people)
    result = run(look.learner, source)
    look.finish(result, source, lambda *now: None)
    np.testing.assert_array_equal(halves[0], people[7:])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"stability": 0}, "stability should be None or a whole number from 1, got 0"),
        ({"stability": True}, "stability should be None or a whole number"),
        ({"substitutes": "x"}, "substitutes should be None or a whole number"),
        (
            {"substitutes": 1, "method": "mission"},
            "substitutes need all rows in memory",
        ),
        (
            {"substitutes": 2, "columns": True, "k": 3, "n_workers": 2}
            | {"method": "online_substitution"},
            "stability and substitutes go with n_workers=1",
        ),
        (
            {"stability": 2, "sequence": np.zeros(200)},
            "stability does not go with sequence=",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(table, asked, message):
    X, y, _ = table
    with pytest.raises(ShortlistError, match=message):
        select(X, y, **{"k": 2, **asked})


def test_groups_that_are_too_few_for_the_rows_are_refused(table):
    X, y, people = table
    look = SecondLook(BARDA(k=2)._learner(), n_pairs=1, groups=people[:150])
    with pytest.raises(ShortlistError, match="one entry a row, and there are 150"):
        run(look.learner, ArraySource(X, y, block_rows=64))


def test_where_substitutes_are_asked_for_no_method_that_streams_is_picked():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 400)) < 0.03, 1.0, 0.0)
    X[:, 7] = rng.random(300) < 0.5
    y = np.array(["no", "yes", "maybe"])[
        (X[:, 7] + (rng.random(300) < 0.3)).astype(int)
    ]
    assert select(X, y, k=3, trial=False).room == "sketch"
    assert select(X, y, k=3, trial=False, substitutes=1).room == "table"


@pytest.mark.parametrize("method", ["foba", "mission"])
@pytest.mark.parametrize("n", [12, 250])
def test_groups_have_one_entry_a_row(table, method, n):
    X, y, _ = table
    with pytest.raises(ShortlistError, match="groups should have one entry a row"):
        select(X, y, k=2, method=method, stability=2, groups=np.arange(n))


@pytest.mark.parametrize("lonely", ["a", "z"])
def test_a_class_that_only_one_half_can_have_goes_by_its_name(table, lonely):
    """The rarest of two classes, whose code is a sign, and of three."""
    X, y, people = table
    labels = np.where(y > 0, "m", "n").astype(object)
    labels[5] = "z"
    if lonely == "a":
        labels = np.where(people == 1, "a", "m")
    message = f"only one {'row' if lonely == 'z' else 'group'} has '{lonely}'"
    with pytest.raises(ShortlistError, match=message):
        select(
            X,
            labels,
            k=2,
            method="foba",
            stability=2,
            groups=people if lonely == "a" else None,
        )


@pytest.mark.parametrize("method", ["foba", "barda"])
def test_features_that_are_left_out_are_none_to_choose_from(table, method):
    X, y, _ = table
    asked = {"k": 2, "method": method, "stability": 2}
    alone = select(X[:, 2:], y, **asked).params["stability"]
    barred = select(X, y, never=["x0", "x1"], **asked).params["stability"]
    assert alone["features"] == barred["features"] == 28


@pytest.fixture(scope="module")
def triples():
    """Thirty columns in threes, of which one three decides a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=200)
    names = [f"f{j}" for j in range(30)]
    return X, y, names, {name: f"g{j // 3}" for j, name in enumerate(names)}


@pytest.mark.parametrize("method", ["foba", "gsr"])
def test_halves_choose_whole_groups_of_features(triples, method):
    X, y, names, groups = triples
    told = []
    frame = pd.DataFrame(X, columns=names)
    for data, target in [(X, y), (frame.assign(y=y), "y")]:
        own = {} if data is not X else {"feature_names": names}
        asked = {"k": 1, "method": method, "feature_groups": groups, "stability": 3}
        chosen = select(data, target, **asked, **own)
        table = chosen.to_frame()
        assert dict(zip(table["name"], table["stability"], strict=True)) == {
            "f0": 1.0,
            "f1": 1.0,
            "f2": 1.0,
        }
        told.append(chosen.params["stability"])
    facts = told[0]
    assert facts == told[1]
    assert (facts["unit"], facts["stable"]) == ("group", 1)
    assert (facts["mean_chosen"], facts["features"]) == (1.0, 10)
    assert "stability: 1 group in 75% of 6 halves" in str(chosen)
    barred = select(X, y, never=["f29"], feature_names=names, **asked)
    assert barred.params["stability"]["features"] == 9


def test_bounds_of_an_estimator_count_groups_too(triples):
    X, y, _, _ = triples
    found = stability(FoBa(2, feature_groups=np.arange(30) // 3), X, y, n_resamples=4)
    assert (found.mean_chosen, found.n_features, found.unit) == (2.0, 10, "group")
    assert found.shares[:3].tolist() == [1.0] * 3
    assert found.facts.stable == 1
    assert found.expected_false() <= 1.0
