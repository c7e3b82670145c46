"""Whatever select splits, it splits as it is told to, and no side knows the other."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneOut, TimeSeriesSplit

from shortlist import ShortlistError, select, stability
from shortlist.evaluate import _choose_k
from shortlist.front import _trial
from shortlist.sketch import Mission
from shortlist.sources import FastaSource


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(240, 12))


@pytest.fixture(scope="module")
def y(X):
    noise = 0.3 * np.random.default_rng(1).normal(size=240)
    return np.where(2 * X[:, 3] - X[:, 8] + noise > 0, "yes", "no")


@pytest.fixture
def judged(monkeypatch):
    """Pairs of rows that something was judged by: of trials, and to find k."""
    seen = {"trial": [], "k": []}
    for name, module in (("trial", _trial), ("k", _choose_k)):

        def spying(*words, _real=module.one_fold, _seen=seen[name], **options):
            _seen.append(words[3])
            return _real(*words, **options)

        monkeypatch.setattr(module, "one_fold", spying)
    return seen


def as_lists(pairs):
    return {(tuple(train.tolist()), tuple(test.tolist())) for train, test in pairs}


@pytest.mark.parametrize("k", ["auto", 2])
@pytest.mark.parametrize("once", [False, True])
def test_trial_and_budget_go_by_the_splits_asked_for(X, y, judged, k, once):
    splitter = TimeSeriesSplit(4)
    cv = iter(list(splitter.split(X))) if once else splitter
    select(X, y, k, cv=cv, budgets=(1, 2))
    expected = as_lists(splitter.split(X))
    assert as_lists(judged["trial"]) == expected
    assert as_lists(judged["k"]) == (expected if k == "auto" else set())


def test_pairs_mean_rows_of_the_data_where_some_have_no_label(X, y, judged, tmp_path):
    known = np.flatnonzero(np.arange(240) % 10)
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame["y"] = pd.Series(y).where(np.arange(240) % 10 > 0)
    frame.to_csv(tmp_path / "some.csv", index=False)
    pair = np.arange(0, 120), np.arange(120, 240)
    asked = {"cv": [pair], "budgets": (1, 2), "read": {"on_error": "skip"}}
    select(tmp_path / "some.csv", "y", "auto", "foba", **asked)
    ((train, test),) = judged["k"]
    assert known[train].max() < 120 <= known[test].min()
    assert len(train) + len(test) == len(known)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"k": 2, "method": "foba", "cv": "nonsense"},
            "cv should be a number of folds",
        ),
        ({"cv": "nonsense"}, "cv should be a number of folds"),
        ({"k": "auto", "cv": 1}, "cv should be from 2"),
        ({"k": 2, "method": "foba", "cv": 5}, "nothing is split, as k is a number"),
        ({"k": 2, "trial": False, "cv": 5}, "nothing is split, as k is a number"),
        ({"k": 2, "cv": 5, "sequence": [0]}, "cv does not go with sequence="),
        ({"k": 2, "groups": [1], "sequence": [0]}, "groups does not go with sequence="),
        (
            {"k": 2, "method": "foba", "groups": [1, 2]},
            r"one entry a row \(240\), got 2",
        ),
        ({"k": 2, "groups": np.full(240, np.nan)}, "got none: row 0"),
        (
            {"k": 2, "columns": True, "groups": [1, 2]},
            r"one entry a row \(240\), got 2",
        ),
        (
            {"k": 2, "columns": True, "groups": "x1"},
            "it is an array, a group for each row",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(X, y, asked, message):
    with pytest.raises(ShortlistError, match=message) as caught:
        select(X, y, **asked)
    assert "\n" not in str(caught.value)


def rows_of(X, y):
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        yield {f"x{j}": value for j, value in enumerate(row)} | {"y": label}


def test_streams_take_a_number_of_folds_and_nothing_else(X, y, monkeypatch):
    seen, real = [], _choose_k.folds
    monkeypatch.setattr(
        _choose_k,
        "folds",
        lambda *words, **o: seen.append(words[1]) or real(*words, **o),
    )
    asked = {"k": "auto", "budgets": (1, 2, 4)}
    chosen = select(rows_of(X, y), "y", cv=3, **asked)
    assert seen == [3]
    assert {"x3"} <= set(chosen.names)
    with pytest.raises(
        ShortlistError, match=r"expected a number of these, got TimeSer"
    ):
        select(rows_of(X, y), "y", cv=TimeSeriesSplit(3), **asked)


def test_rows_that_stream_by_are_held_out_by_groups(X, y, monkeypatch):
    from shortlist.front import _budgets

    seen, real = [], _budgets.judge_chosen
    monkeypatch.setattr(
        _budgets, "judge_chosen", lambda *w, **o: seen.append((w, o)) or real(*w, **o)
    )
    users = np.repeat(np.arange(40), 6)
    chosen = select(rows_of(X, y), "y", "auto", budgets=(1, 2, 4), groups=users)
    (((_, labels, _), told),) = seen
    assert len(labels) == 48  # eight of forty users, with all their rows
    assert set(np.bincount(told["groups"]).tolist()) <= {0, 6}
    assert chosen.n_examples == 240 - 48
    for wrong in (users[:-1], np.append(users, 40)):
        with pytest.raises(ShortlistError, match="one entry a row"):
            select(rows_of(X, y), "y", 2, groups=wrong)
    with pytest.raises(ShortlistError, match="needs 4 groups, got 3"):
        select(rows_of(X, y), "y", "auto", groups=np.arange(240) % 3)


def test_columns_are_chosen_from_anew_in_every_fold_asked_for(X, y, monkeypatch):
    from shortlist.front import _from_columns

    seen, real = [], _from_columns._run

    def spying(source, order, k, observe):
        seen.append((len(source.y), k))
        return real(source, order, k, observe)

    monkeypatch.setattr(_from_columns, "_run", spying)
    target = 2 * X[:, 3] - X[:, 8]
    asked = {"columns": True, "budgets": (1, 2, 4)}
    chosen = select(X, target, "auto", cv=TimeSeriesSplit(3), **asked)
    assert seen == [(60, 4), (120, 4), (180, 4), (240, 2)]
    assert set(chosen.names) == {"x3", "x8"}
    seen.clear()
    select(X, target, "auto", **asked)
    assert seen == [(192, 4), (240, 2)]
    assert chosen.trace["budget_score"][1] > 0.99


def test_a_column_of_groups_is_named_also_where_columns_are_read(X, y, tmp_path):
    frame = pd.DataFrame(X).add_prefix("x")
    frame["y"] = np.where(y == "yes", 1.0, 0.0)
    frame["user"] = np.repeat([f"u{i}" for i in range(40)], 6)
    frame.to_parquet(tmp_path / "visits.parquet")
    folder = tmp_path / "columns"
    folder.mkdir()
    for name in frame:
        np.save(
            folder / f"{name}.npy",
            frame[name].to_numpy().astype("U8" if name == "user" else float),
        )
    asked = {"columns": True, "budgets": (1, 2, 4), "cv": GroupKFold(4)}
    for path in (tmp_path / "visits.parquet", folder):
        chosen = select(path, "y", "auto", groups="user", **asked)
        assert {"x3", "x8"} <= set(chosen.names)
        unnamed = {**asked, "read": {"leave_out": ["user"]}}
        with pytest.raises(ShortlistError, match="cannot split these rows"):
            select(path, "y", "auto", **unnamed)


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_a_row_without_a_group_is_named_and_group_0_is_one(X, y, tmp_path, form, kind):
    users = np.repeat(np.arange(40), 6)
    words = [f"u{u}" for u in users] if kind == "words" else users
    frame = pd.DataFrame(X[:, [3, 8, 1]], columns=list("abc")).assign(y=y, user=words)
    whole = write(frame, tmp_path / f"whole.{form}")
    asked = {"k": "auto", "method": "foba", "budgets": (1, 2)}
    chosen = select(whole, "y", groups="user", **asked)
    again = select(X[:, [3, 8, 1]], y, groups=words, feature_names=list("abc"), **asked)
    assert chosen.names == again.names
    np.testing.assert_allclose(
        chosen.trace["budget_score"], again.trace["budget_score"], rtol=1e-6
    )
    gaps = frame.assign(user=frame["user"].where(np.arange(240) != 33))
    with pytest.raises(ShortlistError, match=r"(row 33|:34|:35), column") as caught:
        select(write(gaps, tmp_path / f"gaps.{form}"), "y", groups="user", **asked)
    assert "column 'user'" in str(caught.value)
    with pytest.raises(ShortlistError, match="got none: row 33"):
        select(gaps, "y", groups="user", **asked)


def test_weights_say_what_a_budget_is_worth(X, y):
    rng = np.random.default_rng(7)
    noise = rng.normal(size=(240, 12)), rng.permutation(y)
    rows, labels = np.vstack([X, noise[0]]), np.concatenate([y, noise[1]])
    asked = {"k": "auto", "method": "foba", "budgets": (1, 2, 5)}

    def best(weight):
        read = {} if weight is None else {"sample_weight": weight}
        found = select(rows, labels, read=read, **asked)
        return float(found.trace["budget_score"].max())

    weight = np.repeat([1.0, 1e-6], 240)
    assert best(None) < 0.8 < 0.9 < best(weight)
    alone = select(X, y, **asked).trace["budget_score"]
    absent = select(
        rows, labels, read={"sample_weight": np.repeat([1.0, 0.0], 240)}, **asked
    )
    np.testing.assert_allclose(absent.trace["budget_score"], alone)


def test_few_rows_of_numbers_are_judged_together(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 3))
    y = X[:, 0] + 0.1 * X[:, 1]
    asked = {"k": "auto", "method": "foba", "budgets": (1, 2)}
    chosen = select(X, y, **asked)
    assert np.isfinite(chosen.trace["budget_score"]).all()
    for cv in (None, LeaveOneOut()):
        frame = pd.DataFrame(rng.normal(size=(6, 3)), columns=list("abc"))
        frame["y"] = frame["a"]
        frame.to_csv(tmp_path / "few.csv", index=False)
        found = select(tmp_path / "few.csv", "y", cv=cv, **asked)
        assert found.trace["budget_score"].max() > 0.5


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """Two genomes that nothing tells apart but their letters themselves."""
    folder = tmp_path_factory.mktemp("alike")
    for seed, name in enumerate("ab"):
        letters = np.random.default_rng(seed).choice(list("ACGT"), 12_000)
        (folder / f"{name}.fa").write_text(f">{name}\n{''.join(letters)}\n")
    return [folder / "a.fa", folder / "b.fa"]


def test_fragments_are_judged_by_stretches_they_share_nothing_with(alike, judged):
    read = {"k": 4, "fragment": 200, "coverage": 4.0}
    chosen = select(alike, k="auto", read=read, budgets=(5, 20))
    assert chosen.trace["budget_score"].max() < 0.65
    assert "in a trial" in chosen.notes[-2] + chosen.notes[-1]
    groups = FastaSource(alike, **read).apart()[1]
    for train, test in judged["trial"] + judged["k"]:
        assert not set(groups[train]) & set(groups[test])
    assert len(judged["k"]) == 5


def test_the_rows_to_choose_from_stay_those_of_the_seed(alike):
    read = {"k": 4, "fragment": 200, "coverage": 4.0}
    found = select(alike, k="auto", method="foba", read=read, budgets=(3,))
    plain = select(alike, k=3, method="foba", read=read)
    assert found.names == plain.names
    np.testing.assert_array_equal(found.weights, plain.weights)


@pytest.mark.parametrize("method", ["foba", "mission"])
def test_halves_of_fragments_share_no_letter(alike, method):
    """Halves that overlap would agree on what is nothing but chance."""
    read = {"k": 4, "fragment": 200, "coverage": 8.0}
    n_rows = FastaSource(alike, **read).size

    def mean_share(**asked):
        found = select(alike, k=5, method=method, read=read, stability=5, **asked)
        own = np.isin(found.trace["stability_ids"], found.support)
        return found.trace["stability"][own].mean()

    # rows that are groups of their own are dealt one by one, as any others
    assert mean_share() + 0.2 < mean_share(groups=np.arange(n_rows))


def test_stability_of_a_source_deals_stretches(alike, monkeypatch):
    from shortlist.resampling import _streams

    seen, real = [], _streams.Resampled
    monkeypatch.setattr(
        _streams, "Resampled", lambda *words: seen.append(words[4]) or real(*words)
    )
    source = FastaSource(alike, k=4)
    stability(Mission(5), source, n_resamples=2)
    np.testing.assert_array_equal(seen[0], source.apart()[1])


def test_streams_of_fragments_are_held_out_by_stretches(alike, monkeypatch):
    from shortlist.front import _budgets, _facts

    monkeypatch.setattr(_facts, "free_memory", lambda: 10_000)
    seen, real = [], _budgets._held_out
    monkeypatch.setattr(
        _budgets, "_held_out", lambda *words: seen.append(real(*words)) or seen[-1]
    )
    read = {"k": 4, "fragment": 200, "coverage": 4.0}
    select(alike, k="auto", method="mission", read=read, budgets=(2, 5))
    ((train, test, drawn),) = seen
    n_rows = [sum(b.n_rows for b in part.blocks()) for part in (train, test)]
    assert n_rows == [(~drawn).sum(), drawn.sum()]
    every = FastaSource(alike, **read).apart()[1]
    assert sum(n_rows) == len(every)
    assert not set(every[drawn]) & set(every[~drawn])
