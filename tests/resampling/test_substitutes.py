"""Substitutes: against refits of every exchange, and in results."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from shortlist import (
    BARDA,
    FoBa,
    Mission,
    OnlineSubstitution,
    Shortlist,
    ShortlistError,
    substitutes,
)
from shortlist.engines import Interrupted
from shortlist.report import summary
from shortlist.resampling import _substitutes
from shortlist.resampling._spanned import SpannedByOthers


@pytest.fixture(scope="module")
def table():
    """Columns 5 and 6 tell what column 3 does, less well; 9 tells what 8 does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 14))
    X[:, 5] = X[:, 3] + 0.3 * rng.normal(size=150)
    X[:, 6] = X[:, 3] + 0.6 * rng.normal(size=150)
    X[:, 9] = X[:, 8] + 0.4 * rng.normal(size=150)
    return X, 2 * X[:, 3] - X[:, 8] + 0.5 * rng.normal(size=150)


def half_mean_square(X, y, columns):
    A = np.column_stack([np.ones(len(y)), X[:, list(columns)]])
    return np.mean((y - A @ np.linalg.lstsq(A, y)[0]) ** 2) / 2


def every_exchange(X, y, chosen, least=0.5):
    """What each exchange of one column by another keeps, the best first for each."""
    with_all = half_mean_square(X, y, chosen)
    kept = {}
    for j in chosen:
        others = set(chosen) - {j}
        without = half_mean_square(X, y, others)
        for i in set(range(X.shape[1])) - set(chosen):
            value = half_mean_square(X, y, others | {i})
            share = (without - value) / (without - with_all)
            if share >= least:
                kept[j, i] = share, (value - with_all) / with_all
    return kept


def test_they_are_those_of_exact_refits(table):
    X, y = table
    found = substitutes(FoBa(k=2).fit(X, y), X, y, n=5).substitutes
    truth = every_exchange(X, y, [3, 8])
    assert {(s.id, s.substitute_id) for s in found} == set(truth)
    assert {(3, 5), (3, 6), (8, 9)} <= set(truth)
    for s in found:
        kept, rise = truth[s.id, s.substitute_id]
        assert s.kept == pytest.approx(kept)
        assert s.loss_increase == pytest.approx(rise)
        assert s.substitute == f"x{s.substitute_id}"
    for_x3 = [s.kept for s in found if s.name == "x3"]
    assert for_x3 == sorted(for_x3, reverse=True)


def test_a_result_carries_them(table, tmp_path):
    X, y = table
    named = pd.DataFrame(X, columns=[f"<b>{j}" for j in range(14)])
    plain = FoBa(k=2).fit(named, y).shortlist_
    assert plain.substitutes == ()
    carried = substitutes(plain, named, y, n=1)
    assert [(s.name, s.substitute) for s in carried.substitutes] == [
        ("<b>3", "<b>5"),
        ("<b>8", "<b>9"),
    ]
    assert "instead of <b>8: <b>9 (94% of its worth)" in str(carried)
    assert "instead of &lt;b&gt;3" in carried._repr_html_()
    assert summary(carried)["substitutes"]["substitute"] == ["<b>5", "<b>9"]
    assert pd.DataFrame(carried.substitutes)["kept"].max() <= 1.0
    carried.save(tmp_path / "it")
    assert Shortlist.load(tmp_path / "it") == carried
    assert [s.name for s in carried.top(1).substitutes] == ["<b>3"]


def test_classes_rows_prepared_and_sparse_tables(table):
    X, _ = table
    y = np.digitize(X[:, 3], [-0.6, 0.6])
    for selector in (Mission(k=1), BARDA(k=1)):
        fitted = selector.fit(X, y)
        found = substitutes(fitted, csr_array(X), y, n=1).substitutes
        assert ("x3", "x5") in [(s.name, s.substitute) for s in found]
    labels = np.array(["low", "high"])[(X[:, 3] > 0).astype(int)]
    found = substitutes(FoBa(k=1).fit(X, labels), X, labels).substitutes
    assert [s.substitute for s in found] == ["x5", "x6"]


def test_what_was_found_by_then_survives_an_interrupt(table, monkeypatch):
    X, y = table
    fitted = FoBa(k=2).fit(X, y)
    told = []

    def stop_at_the_second(*now):
        told.append(now)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        substitutes(fitted, X, y, watch=stop_at_the_second)
    assert {s.name for s in stopped.value.result.substitutes} == {"x3"}
    assert told == [("substitutes", 0, 2), ("substitutes", 1, 2)]


def test_requests_that_make_no_sense_are_refused(table):
    X, y = table
    fitted = FoBa(k=2).fit(X, y)
    with pytest.raises(ShortlistError, match="whole number from 1, got 0"):
        substitutes(fitted, X, y, n=0)
    with pytest.raises(ShortlistError, match="columns that were chosen from, got 5"):
        substitutes(fitted, X[:, :5], y)
    with pytest.raises(ShortlistError, match="150 entries, got 3"):
        substitutes(fitted, X, y[:3])
    labels = np.where(y > 0, "a", "b")
    with pytest.raises(ShortlistError, match=r"classes \['a', 'b'\], got 'c'"):
        substitutes(FoBa(k=2).fit(X, labels), X, np.where(y > 0, "a", "c"))
    assert _substitutes.LEAST_KEPT == 0.5


def test_columns_are_known_by_their_names(table):
    X, y = table
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(14)])
    turned = frame[frame.columns[::-1]]
    fitted = FoBa(k=2).fit(frame, y)
    assert (
        substitutes(fitted, turned, y).substitutes
        == substitutes(fitted, frame, y).substitutes
    )
    message = "in their order: column 3 was 'c3', got 'c10'"
    with pytest.raises(ShortlistError, match=message):
        substitutes(fitted.shortlist_, turned, y)
    with pytest.raises(ShortlistError, match=message):
        substitutes(fitted, turned.rename(columns={"c0": "other"}), y)


def test_weights_have_one_entry_a_row(table):
    X, y = table
    with pytest.raises(ShortlistError, match=r"expected shape \(150,\), got \(3,\)"):
        substitutes(FoBa(k=2).fit(X, y), X, y, sample_weight=np.ones(3))


def copies(n_rows=150):
    """Column 5 tells a little, 6 as much; 7 to 20 are what 0 and 3 add up to."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 21))
    X[:, 6] = X[:, 5] + 0.3 * rng.normal(size=n_rows)
    for j in range(7, 20):
        X[:, j] = (j - 13) * 1e6 * X[:, 0] + (j - 6) * X[:, 3] + j
    X[:, 20] = 1e12 * X[:, 3]
    margin = 2 * X[:, 0] + 2 * X[:, 3] + 0.6 * X[:, 5]
    return X, margin + 0.5 * rng.normal(size=n_rows)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
@pytest.mark.parametrize("form", ["rows", "columns"])
def test_what_the_other_chosen_ones_add_up_to_is_no_substitute(kind, form):
    X, margin = copies()
    y = np.digitize(margin, [0.0] if kind == "two classes" else [-1.5, 1.5])
    never = [*range(1, 3), 4, *range(6, 21)]
    chosen = FoBa(k=3, never=never).fit(X, y).shortlist_
    assert set(chosen.names) == {"x0", "x3", "x5"}
    data = X if form == "rows" else [(f"x{j}", X[:, j]) for j in range(21)]
    if form == "columns":
        names = OnlineSubstitution(k=3, never=[f"x{j}" for j in never])
        chosen = names.fit_columns(data, y).shortlist_
    found = substitutes(chosen, data, y, n=4).substitutes
    by_name = {n: [s.substitute for s in found if s.name == n] for n in chosen.names}
    combined = {f"x{j}" for j in range(7, 21)}
    assert by_name["x5"][0] == "x6"
    assert not combined & set(by_name["x5"])
    assert "x20" in by_name["x3"]  # a copy of the one that left
    assert combined & set(by_name["x0"])


@pytest.mark.parametrize("n_chosen", [1, 3])
def test_columns_that_others_add_up_to_are_those_of_exact_fits(n_chosen):
    X, _ = copies()
    share = np.random.default_rng(1).dirichlet(np.ones(len(X)))
    columns = (X - share @ X).T
    columns /= np.sqrt((columns**2 @ share)[:, np.newaxis])
    chosen = columns[[0, 3, 5][:n_chosen]]
    spanned = SpannedByOthers(chosen, share)(columns)
    assert spanned.any() == (n_chosen > 1)
    for j, row in enumerate(spanned):
        others = np.delete(chosen, j, axis=0).T
        fitted = others @ np.linalg.lstsq(others, columns.T, rcond=None)[0]
        left = np.square(columns.T - fitted).mean(axis=0)
        np.testing.assert_array_equal(row, left < 1e-9)
