"""Halves of the rows that choose from columns, all fed by the same reading."""

import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from shortlist import (
    FoBa,
    Grafting,
    OnlineSubstitution,
    ShortlistError,
    open_columns,
    select,
    stability,
)
from shortlist.engines import Broken, Interrupted
from shortlist.resampling import _columns
from shortlist.resampling._halves import complementary_halves
from shortlist.sources import ArrayColumns

N, P = 120, 60


def table(kind="numbers"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    margin = 2 * X[:, 3] - X[:, 8] + rng.normal(size=N)
    if kind == "numbers":
        return X, margin
    if kind == "classes":
        return X, np.where(margin > 0.0, "yes", "no")
    return X, np.array(["low", "mid", "high"])[np.digitize(margin, [-1.0, 1.0])]


class Counted(ArrayColumns):
    """Columns that count how often they are read, and may break off."""

    reads, stops_in, stops_by = 0, None, KeyboardInterrupt

    def __init__(self, X, **options):
        options = {"block_columns": 20, **options}
        super().__init__(X, **options)

    def blocks(self):
        self.reads += 1
        for number, block in enumerate(super().blocks()):
            if (self.reads, number) == self.stops_in:
                raise self.stops_by
            yield block


def shares_of(found):
    return {n: s for n, s in zip(found.names, found.shares.tolist(), strict=True) if s}


def slowly(selector, X, y, n_pairs, classes=None, groups=None, weight=None):
    """A fresh estimator on each half, from columns with its rows only; and its passes."""
    counts, passes = {}, []
    cuts = complementary_halves(len(y), n_pairs, classes=classes, groups=groups)
    for cut in cuts:
        for rows in cut:
            fitted = clone(selector).fit_columns(
                Counted(np.ascontiguousarray(X[rows])),
                y[rows],
                sample_weight=None if weight is None else weight[rows],
            )
            passes.append(len(fitted.shortlist_.trace["loss"]))
            for name in set(fitted.shortlist_.names):
                counts[name] = counts.get(name, 0) + 1
    return {name: n / (2 * n_pairs) for name, n in counts.items()}, passes


@pytest.mark.parametrize(
    ("selector", "kind"),
    [
        (OnlineSubstitution(k=4), "numbers"),
        (OnlineSubstitution(k=4, exchange="gradient"), "numbers"),
        (OnlineSubstitution(k=4), "classes"),
        (OnlineSubstitution(k=4), "more classes"),
        (OnlineSubstitution(k=4, always=["x50"], never=["x3"]), "numbers"),
        (Grafting(k=4), "numbers"),
        (Grafting(k=4), "classes"),
    ],
    ids=[
        "exact",
        "gradient",
        "parabolas",
        "softmax",
        "lists",
        "graft",
        "graft classes",
    ],
)
def test_shares_are_those_of_estimators_that_have_the_rows_of_a_half(selector, kind):
    X, y = table(kind)
    classes = None if kind == "numbers" else y
    expected, passes = slowly(selector, X, y, 4, classes)
    source, alone = Counted(X), Counted(X)
    whole = clone(selector).fit_columns(alone, y).shortlist_
    found = stability(selector, source, y, n_resamples=4)
    assert shares_of(found) == expected
    assert len(expected) > 4  # halves differ: there is something to get wrong
    # once a pass of whoever wants most passes, however many halves there are
    assert source.reads == max(alone.reads, *passes)
    assert source.reads < sum(passes)
    assert found.shortlist.names == whole.names
    np.testing.assert_array_equal(found.shortlist.weights, whole.weights)
    assert found.n_features == P - len(selector.never or ())
    assert found.mean_chosen == pytest.approx(sum(expected.values()))


def test_groups_stay_whole_and_weights_count():
    X, y = table()
    people = np.repeat(np.arange(N // 3), 3)
    weight = np.random.default_rng(1).integers(0, 3, size=N).astype(float)
    selector = OnlineSubstitution(k=3)
    expected, _ = slowly(selector, X, y, 5, groups=people, weight=weight)
    given = {"n_resamples": 5, "groups": people, "sample_weight": weight}
    found = stability(selector, Counted(X), y, **given)
    assert shares_of(found) == expected
    assert shares_of(stability(selector, Counted(X), y, n_resamples=5)) != expected
    light = np.zeros(N)
    light[:2] = 1.0
    with pytest.raises(
        ShortlistError, match="some rows of each half should have weight"
    ):
        stability(selector, Counted(X), y, n_resamples=9, sample_weight=light)


def test_an_iterator_gives_its_columns_to_all_halves_at_once():
    X, y = table()
    expected, _ = slowly(OnlineSubstitution(k=3, passes=1), X, y, 4)
    pairs = ((f"x{j}", X[:, j]) for j in range(P))
    found = stability(OnlineSubstitution(k=3), pairs, y, n_resamples=4)
    assert shares_of(found) == expected
    assert found.n_features == P
    assert any("one pass, not 4" in note for note in found.shortlist.notes)


def test_halves_that_are_too_large_together_follow_each_other(monkeypatch):
    X, y = table()
    selector, side_by_side = OnlineSubstitution(k=3), Counted(X)
    at_once = stability(selector, side_by_side, y, n_resamples=5)
    monkeypatch.setattr(_columns, "MOST_BYTES", 2 * 8 * N * (3 + 4 + 1))
    told, source = [], Counted(X)
    found = stability(
        selector, source, y, n_resamples=5, watch=lambda *now: told.append(now)
    )
    assert shares_of(found) == shares_of(at_once)
    assert found.shortlist == at_once.shortlist
    stages = list(dict.fromkeys(stage for stage, *_ in told))
    assert stages == ["select", "pairs 3 to 4 of 5", "pairs 5 to 5 of 5"]
    assert told[:3] == [("select", 20 * i, P) for i in (1, 2, 3)]
    assert side_by_side.reads < source.reads <= 3 * side_by_side.reads
    once = ((f"x{j}", X[:, j]) for j in range(P))
    with pytest.raises(ShortlistError, match="gives its columns once: ask for 2 pairs"):
        stability(selector, once, y, n_resamples=5)
    assert next(once)[0] == "x0"  # nothing was read in vain


def test_ctrl_c_keeps_the_pairs_that_were_done(monkeypatch):
    X, y = table()
    selector = OnlineSubstitution(k=3, passes=2)
    monkeypatch.setattr(_columns, "MOST_BYTES", 2 * 8 * N * (3 + 4 + 1))
    whole = clone(selector).fit_columns(Counted(X), y).shortlist_
    expected, _ = slowly(selector, X, y, 2)
    source = Counted(X)
    source.stops_in = (3, 1)  # two passes for two pairs, then the next two
    with pytest.raises(Interrupted) as stopped:
        stability(selector, source, y, n_resamples=6)
    found = stopped.value.result
    assert (found.n_pairs, found.asked) == (2, 6)
    assert shares_of(found) == expected
    assert found.shortlist.names == whole.names
    assert "partial: 2 of 6 pairs of halves were fitted" in found.shortlist.notes


def test_where_no_pair_is_done_it_says_so():
    X, y = table()
    source = Counted(X)
    source.stops_in = (1, 2)
    with pytest.raises(KeyboardInterrupt, match="none of 3 pairs of halves was fitted"):
        stability(OnlineSubstitution(k=3), source, y, n_resamples=3)
    source = Counted(X, names=[f"c{j}" for j in range(P)])
    source.stops_in = (1, 2)
    with pytest.raises(Interrupted) as stopped:
        select(source, y, k=3, stability=3)
    chosen = stopped.value.result
    assert "partial: none of 3 pairs of halves was fitted: no shares" in chosen.notes
    assert "c3" in chosen.names
    assert "stability" not in chosen.params


def test_ctrl_c_does_not_wait_for_all_halves(monkeypatch):
    stepped, original = [], _columns.HalfRun.step

    def step(self, block):
        stepped.append(block.position)
        if len(stepped) == 8:
            signal.raise_signal(signal.SIGINT)
        original(self, block)

    X, y = table()
    monkeypatch.setattr(_columns.HalfRun, "step", step)
    with pytest.raises(Interrupted) as stopped:
        select(Counted(X), y, k=3, stability=3)
    assert stepped == [20] * 6 + [40] * 2
    # the run over all rows comes before the halves, so it has seen this block
    assert stopped.value.result.n_features == 40
    whole = OnlineSubstitution(k=3).fit_columns(Counted(X[:, :40], block_columns=40), y)
    assert set(stopped.value.result.names) == set(whole.shortlist_.names)


def test_data_that_break_off_leave_what_was_chosen():
    X, y = table()
    X[5, 45] = np.nan
    with pytest.raises(Broken, match="row 5, column 'x45'") as stopped:
        stability(OnlineSubstitution(k=3), Counted(X), y, n_resamples=2)
    assert "x3" in stopped.value.result.names


def test_paths_tables_and_targets_among_the_columns_will_do(tmp_path):
    X, y = table()
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(P)]).assign(age=y)
    path = tmp_path / "genes.parquet"
    frame.to_parquet(path)
    np.save(tmp_path / "table.npy", X)
    selector = OnlineSubstitution(k=3)
    expected = shares_of(stability(selector, X, y, n_resamples=3))
    by_path = stability(selector, tmp_path / "table.npy", y, n_resamples=3)
    mapped = stability(
        selector, np.load(tmp_path / "table.npy", mmap_mode="r"), y, n_resamples=3
    )
    named = stability(selector, open_columns(path, target="age"), n_resamples=3)
    assert shares_of(by_path) == shares_of(mapped) == expected
    renamed = {name.replace("g", "x"): s for name, s in shares_of(named).items()}
    assert renamed == expected
    asked = {"k": 3, "stability": 3, "seed": 0}
    for chosen in (
        select(path, "age", columns=True, **asked),
        select(frame, "age", columns=True, **asked),
        select([(n, frame[n]) for n in frame.columns[:-1]], y, **asked),
    ):
        shares = chosen.to_frame().set_index("name")["stability"].to_dict()
        assert shares == {
            n: shares_of(named).get(n, 0.0) for n in named.shortlist.names
        }
        assert chosen.params["stability"]["features"] == P


def test_an_array_has_its_columns_gone_through_by_a_method_that_needs_them():
    X, y = table()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    found = stability(Grafting(k=3), X, y, n_resamples=2, random_state=0)
    for data in (X, frame):
        chosen = select(data, y, k=3, method="grafting", stability=2, substitutes=1)
        assert chosen.names == found.shortlist.names
        shares = chosen.to_frame().set_index("name")["stability"].to_dict()
        assert shares == {
            name: shares_of(found).get(name, 0.0) for name in chosen.names
        }


def test_rows_without_a_label_are_in_no_half():
    X, y = table()
    y = y.copy()
    y[[7, 50]] = np.nan
    known = ~np.isnan(y)
    people = np.repeat(np.arange(N // 2), 2)
    pairs = [(f"x{j}", X[:, j]) for j in range(P)]
    chosen = select(
        pairs, y, k=3, method="grafting", stability=4, groups=people, trial=False
    )
    expected, _ = slowly(Grafting(k=3), X[known], y[known], 4, groups=people[known])
    shares = chosen.to_frame().set_index("name")["stability"].to_dict()
    assert shares == {name: expected.get(name, 0.0) for name in chosen.names}
    assert chosen.n_examples == N - 2


@pytest.mark.parametrize(
    ("selector", "columns", "message"),
    [
        (
            OnlineSubstitution(k=3, n_workers=2),
            "all",
            "stability goes with n_workers=1",
        ),
        (OnlineSubstitution(k=3), "short", "expected 120 rows, as there are labels"),
        (OnlineSubstitution(k=3, never=["z"]), "all", "columns that come, got 'z'"),
        (FoBa(k=3), "all", "FoBa needs rows, and array has columns"),
    ],
)
def test_what_cannot_be_is_refused(selector, columns, message):
    X, y = table()
    source = Counted(X if columns == "all" else X[:100])
    with pytest.raises(ShortlistError, match=message):
        stability(selector, source, y, n_resamples=2)


@pytest.mark.parametrize("form", [iter, list, dict])
def test_columns_are_refused_by_who_needs_rows_however_they_come(form):
    X, y = table()
    columns = form([(f"g{j}", X[:, j]) for j in range(5)])
    with pytest.raises(ShortlistError, match=r"FoBa needs rows, and .* has columns"):
        stability(FoBa(k=3), columns, y, n_resamples=2)


def test_several_workers_have_no_stability_in_select_either():
    X, y = table()
    with pytest.raises(ShortlistError, match="stability and substitutes go with"):
        select(
            *(X, y, 3, "online_substitution"), columns=True, stability=2, n_workers=2
        )
