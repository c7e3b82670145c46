"""Shares of halves: of selectors, in results, after Ctrl-C."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from shortlist import FoBa, Shortlist, ShortlistError, stability
from shortlist.engines import Interrupted
from shortlist.report import summary

matplotlib.use("agg")


@pytest.fixture(scope="module")
def table():
    """Numbers that the columns c3 and c8 decide."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 20)), columns=[f"c{j}" for j in range(20)])
    return X, (X["c3"] - X["c8"] + rng.normal(size=120)).to_numpy()


@pytest.fixture(scope="module")
def found(table):
    return stability(FoBa(k=4), *table, n_resamples=10, random_state=5)


def test_planted_features_are_stable_and_others_are_not(table, found):
    assert set(found.stable()) == {"c3", "c8"}
    assert found.shares[:2].min() == 1.0
    assert found.mean_chosen == 4.0
    assert found.n_features == 20
    assert found.n_pairs == found.asked == 10
    # a half each: shares add up to what halves choose
    assert found.shares.sum() == pytest.approx(4.0)
    assert set(found.stable(0.9)) <= set(found.stable(0.6))
    assert found.expected_false(0.9) < found.expected_false(0.6)
    assert found.expected_false() < found.expected_false(assume="nothing")
    frame = found.frame
    assert frame["share"].is_monotonic_decreasing
    assert set(frame[frame["chosen"]]["name"]) == set(found.shortlist.names)
    assert repr(found).startswith("<stability: 2 features in 75% of 20 halves or more")


def test_the_shortlist_is_that_of_all_rows_with_shares(table, found, tmp_path):
    alone = FoBa(k=4).fit(*table).shortlist_
    carried = found.shortlist
    assert carried.names == alone.names
    np.testing.assert_array_equal(carried.weights, alone.weights)
    shares = dict(zip(found.names, found.shares.tolist(), strict=True))
    frame = carried.to_frame()
    assert frame["stability"].tolist() == [shares[n] for n in carried.names]
    text = str(carried)
    assert "chosen in" in text
    assert "100%" in text
    assert "chosen in" in carried._repr_html_()
    assert carried.to_csv_text().splitlines()[0].endswith(",error,stability")
    assert carried.to_dict()["entries"][0]["stability"] == 1.0
    told = summary(carried)
    assert told["stability"]["stable"] == 2
    assert told["stability"]["unimodal"] == found.expected_false()
    others = {o["name"] for o in told["stability"]["others"]}
    assert others
    assert not others & set(carried.names)
    assert "stability" not in [s["name"] for s in told["asked"]["settings"]]
    carried.save(tmp_path / "it")
    assert Shortlist.load(tmp_path / "it") == carried
    assert "stability" in summary(carried.top(1))["entries"]


def test_the_same_seed_gives_the_same_shares(table, found):
    again = stability(FoBa(k=4), *table, n_resamples=10, random_state=5)
    pd.testing.assert_frame_equal(again.frame, found.frame)
    other = stability(FoBa(k=4), *table, n_resamples=10, random_state=6)
    assert not other.frame.equals(found.frame)


class Spy(BaseEstimator):
    """Chooses the first two columns, or stops; the rows it saw are in column 0."""

    seen: list = []  # noqa: RUF012
    stops_at = None

    def fit(self, X, y, sample_weight=None):
        if len(Spy.seen) == Spy.stops_at:
            raise KeyboardInterrupt
        Spy.seen.append((X[:, 0].astype(int), y, sample_weight))
        return self

    def get_support(self, indices=False):
        return np.array([0, 1])


@pytest.fixture
def spy():
    Spy.seen, Spy.stops_at = [], None
    return Spy()


def test_groups_classes_and_weights_reach_the_fits(spy):
    X = np.column_stack([np.arange(40), np.ones(40)])
    y, groups = np.array(["a", "b"] * 20), np.repeat(np.arange(10), 4)
    weight = np.arange(40.0)
    stability(spy, X, y, n_resamples=3, groups=groups, sample_weight=weight)
    every, *halves = Spy.seen
    assert len(halves) == 6
    assert len(every[0]) == 40
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        assert sorted([*one[0], *other[0]]) == list(range(40))
        assert not set(groups[one[0]]) & set(groups[other[0]])
        assert set(one[1]) == {"a", "b"}
        np.testing.assert_array_equal(one[2], weight[one[0]])


def test_what_is_done_counts_after_an_interrupt(spy):
    X, y = np.column_stack([np.arange(30), np.ones(30)]), np.linspace(0, 1, 30)
    told = []
    Spy.stops_at = 6  # all rows, two pairs, one half
    with pytest.raises(KeyboardInterrupt) as stopped:
        stability(spy, X, y, n_resamples=9, watch=lambda *now: told.append(now))
    assert isinstance(stopped.value, Interrupted)
    found = stopped.value.result
    assert (found.n_pairs, found.asked) == (2, 9)
    assert found.shares.tolist() == [1.0, 1.0]
    assert told[0] == ("all rows", 0, 19)
    assert told[-1] == ("pair 3 of 9", 6, 19)
    Spy.seen, Spy.stops_at = [], 2
    with pytest.raises(KeyboardInterrupt) as stopped:
        stability(spy, X, y, n_resamples=9)
    assert not isinstance(stopped.value, Interrupted)


def test_a_picture_shows_shares_and_the_threshold(found):
    drawn = found.plot(most=3)
    assert drawn is found
    assert len(found.ax_.patches) == 3
    assert [t.get_text() for t in found.ax_.get_yticklabels()] == list(found.names[:3])
    matplotlib.pyplot.close(found.figure_)


def test_requests_that_make_no_sense_are_refused(table):
    X, y = table
    cases = [
        ({"n_resamples": 0}, "whole number from 1, got 0"),
        ({"threshold": 0.4}, "above 0.5"),
        ({"groups": [1, 2]}, "one entry a row"),
    ]
    for settings, said in cases:
        with pytest.raises(ShortlistError, match=said):
            stability(FoBa(k=2), X, y, **({"n_resamples": 1} | settings))
    with pytest.raises(ShortlistError, match="120 entries"):
        stability(FoBa(k=2), X, y[:5])
    with pytest.raises(ShortlistError, match="FoBa needs all rows at once"):
        stability(FoBa(k=2), "rows.svm")


def test_features_that_are_left_out_are_none_to_choose_from(table):
    X, y = table
    found = stability(FoBa(k=3, never=[0, 1]), X, y, n_resamples=2)
    assert found.n_features == X.shape[1] - 2


def test_no_more_are_stable_by_chance_than_are_stable(table):
    """A half that chooses all of three features tells nothing, and says so."""
    X, y = table
    found = stability(FoBa(k=3), X.iloc[:, :3], y, n_resamples=3)
    assert found.expected_false(assume="nothing") == len(found.stable()) == 3
    assert found.facts.unimodal == 3


def test_weights_have_one_entry_a_row(table):
    X, y = table
    message = r"sample_weight: expected shape .*, got \(3,\)"
    with pytest.raises(ShortlistError, match=message):
        stability(FoBa(k=3), X, y, sample_weight=np.ones(3))
