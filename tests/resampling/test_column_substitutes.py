"""Substitutes among columns that come by: the same as those of a table, by one reading."""

import numpy as np
import pandas as pd
import pytest

from shortlist import (
    Grafting,
    OnlineSubstitution,
    ShortlistError,
    open_columns,
    select,
    substitutes,
)
from shortlist.engines import Interrupted
from shortlist.resampling import _column_substitutes, _substitutes
from shortlist.sources import ArrayColumns

N, P = 150, 50


def table(kind="numbers"):
    """Columns 5 and 6 tell what column 3 does, less well; 49 tells what 8 does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    X[:, 5] = X[:, 3] + 0.3 * rng.normal(size=N)
    X[:, 6] = 40 * (X[:, 3] + 0.5 * rng.normal(size=N)) + 1000
    X[:, 49] = X[:, 8] + 0.4 * rng.normal(size=N)
    X[:, 20] = 3.0
    margin = 2 * X[:, 3] - X[:, 8] + 0.5 * rng.normal(size=N)
    if kind == "numbers":
        return X, margin
    if kind == "classes":
        return X, np.where(margin > 0.0, "yes", "no")
    return X, np.array(["low", "mid", "high"])[np.digitize(margin, [-1.0, 1.0])]


class Counted(ArrayColumns):
    """Columns that count how often they are read, and may break off."""

    reads, stops_in = 0, None

    def blocks(self):
        self.reads += 1
        for number, block in enumerate(super().blocks()):
            if (self.reads, number) == self.stops_in:
                raise KeyboardInterrupt
            yield block


def told(shortlist):
    return {
        (s.name, s.substitute): pytest.approx((s.kept, s.loss_increase), rel=1e-5)
        for s in shortlist.substitutes
    }


def numbers(shortlist):
    return {
        (s.name, s.substitute): (s.kept, s.loss_increase) for s in shortlist.substitutes
    }


@pytest.mark.parametrize("kind", ["numbers", "classes", "more classes"])
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_those_of_a_table_by_one_more_reading(kind, weighted):
    X, y = table(kind)
    weight = np.random.default_rng(2).integers(0, 3, N) + 0.0 if weighted else None
    fitted = OnlineSubstitution(k=3, always=["x3"], never=["x5", "x6"]).fit(X, y)
    plain = fitted.shortlist_  # knows nothing of what it should leave out
    source = Counted(X, block_columns=7)
    expected = substitutes(plain, X, y, n=4, sample_weight=weight)
    found = substitutes(plain, source, y, n=4, sample_weight=weight)
    assert source.reads == 1
    assert numbers(found) == told(expected)
    assert ("x3", "x5") in numbers(found)
    assert ("x3", "x6") in numbers(found)  # whatever its unit


def test_those_left_out_and_those_chosen_are_no_candidates():
    X, y = table()
    pairs = [(f"g{j}", X[:, j]) for j in range(P)]
    selector = OnlineSubstitution(k=4, always=["g6"], never=["g5"])
    fitted = selector.fit_columns(pairs, y)
    found = substitutes(fitted, pairs, y, n=2)
    others = {s.substitute for s in found.substitutes}
    assert "g49" in others
    assert not others & {"g5", *fitted.shortlist_.names}


def test_select_asks_along_with_the_choice(tmp_path):
    X, y = table("classes")
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(P)]).assign(kind=y)
    path = tmp_path / "genes.parquet"
    frame.to_parquet(path)
    asked = {"k": 2, "columns": True, "stability": 3, "substitutes": 1}
    stages = []
    chosen = select(path, "kind", **asked, observe=lambda now: stages.append(now.stage))
    assert len(chosen.substitutes) == 2
    assert chosen.params["stability"]["pairs"] == 3
    assert list(dict.fromkeys(stages)) == ["select", "substitutes"]
    source = open_columns(path, target="kind")
    alone = OnlineSubstitution(k=2).fit_columns(source)
    assert numbers(chosen) == told(substitutes(alone, source, n=1))


def stop_here(*_, **__):
    raise KeyboardInterrupt


def test_ctrl_c_keeps_the_choice_and_what_was_found(monkeypatch):
    X, y = table()
    fitted = Grafting(k=3).fit(X, y)
    source = Counted(X, block_columns=7)
    source.stops_in = (1, 3)
    with pytest.raises(Interrupted) as stopped:
        substitutes(fitted, source, y)
    assert stopped.value.result == fitted.shortlist_
    original, asked = _substitutes.Search.instead_of, []
    for owner, slow in (
        (_column_substitutes, "slopes_without"),
        (_substitutes, "table_problem"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, slow, stop_here)
            with pytest.raises(Interrupted) as stopped:
                substitutes(fitted, Counted(X), y)
        assert stopped.value.result == fitted.shortlist_

    def instead_of(self, *exchange):
        asked.append(exchange)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return original(self, *exchange)

    monkeypatch.setattr(_substitutes.Search, "instead_of", instead_of)
    with pytest.raises(Interrupted) as stopped:
        substitutes(fitted, Counted(X), y)
    best = fitted.shortlist_.top(1).names[0]
    assert {s.name for s in stopped.value.result.substitutes} == {best}


def test_what_cannot_be_is_refused_before_any_work(monkeypatch):
    X, y = table()
    pairs = [(f"x{j}", X[:, j]) for j in range(P)]
    with pytest.raises(ShortlistError, match="an iterator gives them once"):
        select(iter(pairs), y, k=2, substitutes=1)
    fitted = OnlineSubstitution(k=2).fit_columns(pairs, y)
    with pytest.raises(ShortlistError, match="n should be a whole number from 1"):
        substitutes(fitted, pairs, y, n=0)
    with pytest.raises(ShortlistError, match="y should be given"):
        substitutes(fitted, pairs)
    with pytest.raises(ShortlistError, match="y should have a label for each row"):
        substitutes(OnlineSubstitution(k=2).fit(X, y), X)
    with pytest.raises(ShortlistError, match="expected 140 rows, as there are labels"):
        substitutes(fitted, pairs, y[:140])
    source = Counted(X)
    monkeypatch.setattr(_column_substitutes, "MOST_BYTES", 8 * N * 2 * 9)
    with pytest.raises(ShortlistError, match="ask for fewer, or for a smaller k"):
        select(source, y, k=2, substitutes=3)
    assert source.reads == 0
