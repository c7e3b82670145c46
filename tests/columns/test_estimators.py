"""OnlineSubstitution as users meet it."""

import pickle

import numpy as np
import pandas as pd
import pytest

from shortlist import DataError, ShortlistError
from shortlist.columns import OnlineSubstitution
from shortlist.engines.serial import Broken, Interrupted
from shortlist.sources import ArrayColumns, ParquetColumns, StreamColumns


def draw(n=300, p=400, s=5, seed=0, rho=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p if rho else 0):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    support = np.sort(rng.choice(p, s, replace=False))
    y = X[:, support] @ rng.choice([-1.0, 1.0], s) + 0.1 * rng.normal(size=n) + 7
    return X, y, support


def test_the_design_of_the_paper_is_recovered_untuned():
    s, p = 20, 400
    n = int(1.2 * s * np.log2(p))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    support = rng.choice(p, s, replace=False)
    y = X[:, support] @ rng.normal(size=s) + 0.1 * rng.normal(size=n)
    for exchange in ("exact", "gradient"):
        found = OnlineSubstitution(s, exchange=exchange).fit(X, y)
        chosen = set(found.get_support(indices=True))
        assert len(chosen & set(support)) >= 0.9 * s


def test_exact_exchanges_find_correlated_columns_that_gradient_steps_miss():
    X, y, support = draw(n=400, p=600, s=30, rho=0.9)
    exact = OnlineSubstitution(30).fit(X, y)
    steps = OnlineSubstitution(30, exchange="gradient").fit(X, y)
    assert exact.get_support(indices=True).tolist() == support.tolist()
    assert len(set(steps.get_support(indices=True)) & set(support)) < 28


def test_the_trace_tells_who_came_and_who_left():
    X, y, support = draw()
    trace = OnlineSubstitution(5).fit(X, y).shortlist_.trace
    inside = set()
    for entered, left in zip(trace["entered"], trace["left"], strict=True):
        if left:
            inside.remove(left)
        assert entered not in inside
        inside.add(entered)
        assert len(inside) <= 5
    assert inside == {f"x{j}" for j in support}
    assert trace["entered_in_pass"].sum() == len(trace["entered"])
    assert (np.diff(trace["loss"]) <= 0).all()
    assert (np.diff(trace["pass"]) >= 0).all()


def test_a_pass_that_changes_nothing_is_the_last():
    X, y, _ = draw()
    trace = OnlineSubstitution(5, passes=50).fit(X, y).shortlist_.trace
    assert trace["entered_in_pass"][-1] == 0
    assert len(trace["entered_in_pass"]) < 6


def test_weights_are_those_of_least_squares_on_the_columns_as_they_are():
    X, y, support = draw()
    X = X * 100 + 50
    selector = OnlineSubstitution(5).fit(X, y)
    A = np.column_stack([X[:, support], np.ones(len(y))])
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(selector.coef_[support], expected[:-1], rtol=1e-8)
    assert selector.intercept_ == pytest.approx(expected[-1], rel=1e-8)


def test_without_a_refit_gradient_steps_are_published_as_they_are():
    X, y, _ = draw()
    kept = OnlineSubstitution(50, exchange="gradient", refit=False, passes=1).fit(X, y)
    fitted = OnlineSubstitution(50, exchange="gradient", passes=1).fit(X, y)
    assert set(kept.shortlist_.names) == set(fitted.shortlist_.names)
    assert kept.shortlist_.params["objective"] > fitted.shortlist_.params["objective"]


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_an_iterator_is_read_once_and_gives_what_one_pass_gives(loss):
    X, y, _ = draw()
    y = y if loss == "squared" else y > y.mean()
    pairs = [(f"c{j}", column) for j, column in enumerate(X.T)]
    once = OnlineSubstitution(5, loss=loss).fit_columns(iter(pairs), y)
    listed = OnlineSubstitution(5, loss=loss, passes=1).fit_columns(pairs, y)
    assert once.shortlist_.names == listed.shortlist_.names
    assert once.shortlist_.n_features == X.shape[1]
    assert len(once.shortlist_.trace["loss"]) == 1
    assert once.shortlist_.notes == (
        "one pass, not 4: the columns can be read only once",
    )
    assert not listed.shortlist_.notes
    once.add_columns((f"day 2, {j}", column) for j, column in enumerate(X[:, :9].T))
    assert set(once.shortlist_.trace["pass"]) <= {1, 2}


def test_models_of_named_columns_predict_tables(tmp_path):
    X, y, support = draw(p=60)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(60)])
    frame["y"] = y
    frame.to_parquet(tmp_path / "genes.parquet")
    source = ParquetColumns(tmp_path / "genes.parquet", "y", block_columns=7)
    selector = OnlineSubstitution(5).fit_columns(source)
    assert set(selector.shortlist_.names) == {f"gene {j}" for j in support}
    shuffled = frame[frame.columns[::-1]].drop(columns="y")
    expected = OnlineSubstitution(5).fit(X, y).predict(X)
    np.testing.assert_allclose(selector.predict(shuffled), expected, rtol=1e-8)


def test_numbered_columns_leave_an_estimator_for_arrays(tmp_path):
    X, y, support = draw(p=60)
    np.save(tmp_path / "X.npy", X)
    selector = OnlineSubstitution(5).fit_columns(tmp_path / "X.npy", y)
    assert selector.get_support(indices=True).tolist() == support.tolist()
    assert selector.predict(X).shape == y.shape


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_of_later_days_compete_with_those_that_are_in(loss):
    X, y, support = draw(s=6)
    y = y if loss == "squared" else np.where(y > y.mean(), 1, 0)
    selector = OnlineSubstitution(6, loss=loss).fit(X[:, :200], y)
    selector = pickle.loads(pickle.dumps(selector))
    selector.add_columns(X[:, 200:])
    assert selector.n_features_in_ == selector.shortlist_.n_features == 400
    assert set(selector.get_support(indices=True)) >= set(support[support >= 200])
    assert selector.shortlist_.n_selected == 6
    assert selector.predict(X).shape == y.shape


def test_added_columns_of_frames_have_names_of_their_own():
    X, y, support = draw()
    names = [f"gene {j}" for j in range(400)]
    frame = pd.DataFrame(X, columns=names)
    selector = OnlineSubstitution(5).fit(frame.iloc[:, :200], y)
    with pytest.raises(DataError, match="'gene 199', which had come before"):
        selector.add_columns(frame.iloc[:, 199:])
    selector = OnlineSubstitution(5).fit(frame.iloc[:, :200], y)
    selector.add_columns(frame.iloc[:, 200:])
    assert selector.get_feature_names_out().tolist() == [names[j] for j in support]
    assert selector.predict(frame).shape == y.shape
    with pytest.raises(ShortlistError, match="should have names"):
        selector.add_columns(X)


def test_bad_data_in_mid_run_leave_what_was_found():
    X, y, _ = draw()

    def columns():
        for j, column in enumerate(X.T):
            yield f"c{j}", column
        yield "late", np.full(len(y), np.nan)

    source = StreamColumns(columns, block_columns=50)
    selector = OnlineSubstitution(5)
    with pytest.raises(Broken, match="column 'late'"):
        selector.fit_columns(source, y)
    assert selector.shortlist_.n_selected == 5


def test_an_interrupt_leaves_what_was_found():
    X, y, _ = draw()

    def observe(progress):
        assert progress.unit == "columns"
        if progress.position >= 200:
            raise KeyboardInterrupt

    selector = OnlineSubstitution(5)
    source = ArrayColumns(X, block_columns=100)
    with pytest.raises(Interrupted):
        selector.fit_columns(source, y, observe=observe)
    assert selector.shortlist_.n_features == 200
    assert selector.shortlist_.n_selected == 5


def test_constant_columns_are_no_candidates_unless_wanted():
    X, y, _ = draw(p=20)
    X[:, [3, 8]] = 4.2
    chosen = OnlineSubstitution(20).fit(X, y).get_support(indices=True)
    assert len(chosen) == 18
    for exchange in ("exact", "gradient"):
        kept = OnlineSubstitution(3, always=[3], exchange=exchange).fit(X, y)
        assert 3 in kept.get_support(indices=True)
        assert kept.shortlist_.n_selected == 3


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"exchange": "gradient"},
        {"loss": "logistic"},
        {"loss": "logistic", "exchange": "gradient"},
        {"loss": "softmax"},
    ],
    ids=str,
)
def test_copies_of_a_column_do_not_fill_the_budget(settings):
    X, y, _ = draw(n=200, p=9, s=3)
    target = y if not {"loss"} & set(settings) else np.digitize(y, [7])
    if settings.get("loss") == "softmax":
        target = np.digitize(y, [6, 8])
    copies = np.hstack([X, -3 * X, X])
    fitted = OnlineSubstitution(9, **settings).fit(copies, target)
    chosen = fitted.get_support(indices=True)
    assert len(chosen) == len(set(chosen % 9)) == 9
    wanted = {"always": [0, 9], "k": 9, **settings}
    fitted = OnlineSubstitution(**wanted).fit(copies, target)
    assert {0, 9} <= set(fitted.get_support(indices=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eta": 0}, "eta should be a number above 0"),
        ({"m": np.inf}, "m should be a number above 0"),
        ({"refit": "no"}, "refit should be True or False, got 'no'"),
        ({"standardize": None}, "standardize should be True or False, got None"),
        ({"m": "large"}, "m should be a number above 0"),
        ({"passes": 0}, "passes should be a whole number"),
        ({"exchange": "swap"}, "exchange should be"),
        ({"tol": -1}, "tol should be"),
        ({"n_workers": 0}, "n_workers should be"),
        ({"n_workers": 11}, "n_workers should be from 1 to 10"),
        ({"staleness": -1}, "staleness should be"),
        ({"exchange": "exact", "n_workers": 2, "loss": "huber"}, "goes with loss='squ"),
        ({"always": [1], "never": [1]}, "named by always= and by never="),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    X, y, _ = draw(n=30, p=20)
    with pytest.raises(ShortlistError, match=message):
        OnlineSubstitution(**settings).fit(X, y)


def test_labels_and_rows_have_to_agree():
    X, y, _ = draw(n=30, p=20)
    for n_workers in (1, 2):
        with pytest.raises(
            DataError, match="expected 29 rows, as there are labels, got 30"
        ):
            OnlineSubstitution(2, n_workers=n_workers).fit_columns(X, y[1:])
    with pytest.raises(ShortlistError, match="y should be given"):
        OnlineSubstitution(2).fit_columns(X)
    with pytest.raises(ShortlistError, match="got 'x99'"):
        OnlineSubstitution(2, always=["x99"]).fit_columns(X, y)
    with pytest.raises(DataError, match="expected columns to choose from, got none"):
        OnlineSubstitution(2).fit_columns(iter([]), y)


def test_a_signal_between_weights_and_columns_waits(monkeypatch):
    import os
    import signal

    from shortlist.columns._retained import Retained

    X, y, _ = draw(p=300, s=20)
    calls, follow = [], Retained.follow

    def struck(self, *words, **options):
        calls.append(1)
        if (
            len(calls) == 5
        ):  # the kernel has moved its weights, the columns are still there
            os.kill(os.getpid(), signal.SIGINT)
        return follow(self, *words, **options)

    monkeypatch.setattr(Retained, "follow", struck)
    model = OnlineSubstitution(20)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(Interrupted) as stop:
            model.fit_columns(ArrayColumns(X, block_columns=30), y)
    finally:
        signal.signal(signal.SIGINT, before)
    chosen = stop.value.result
    assert 5 <= len(calls) < 40
    A = X[:, chosen.ids.astype(int)]
    A = A - A.mean(axis=0)
    best = np.linalg.lstsq(A, y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(chosen.weights, best, rtol=1e-6)


def test_a_loss_below_zero_ends_passes_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    y = rng.poisson(np.exp(3 + 0.5 * X[:, 3]))
    history = OnlineSubstitution(3, loss="poisson", passes=30).fit(X, y)
    loss = history.shortlist_.trace["loss"]
    assert loss[-1] < 0
    assert len(loss) < 10


def test_arrays_of_later_days_are_not_taken_for_those_of_earlier_ones():
    X, *_ = draw(p=40)
    y = X[:, 3] - 2 * X[:, 30]
    named = [(f"a{j}", X[:, 10 + j]) for j in range(5)]
    model = OnlineSubstitution(3).fit_columns(named, y)
    model.add_columns(X[:, :5])
    model.add_columns(X[:, 27:32])
    assert {"x8", "x13"} <= set(model.shortlist_.names)  # after five names, after ten


def test_columns_that_break_off_count_as_far_as_they_came():
    X, y, _ = draw(p=60, s=5)
    more = np.random.default_rng(1).normal(size=(len(X), 40))
    more[:, 2] = y
    more[7, 39] = np.nan
    model = OnlineSubstitution(5).fit(X, y)
    with pytest.raises(Broken):
        model.add_columns(ArrayColumns(more, block_columns=10))
    assert model.n_features_in_ == 90
    assert 62 in model.shortlist_.ids
    assert model.predict(np.hstack([X, more[:, :30]])).shape == y.shape


def test_a_row_without_a_label_is_named():
    labels = np.array(["a", None, "b", "a"], dtype=object)
    with pytest.raises(ShortlistError, match="None in row 2"):
        OnlineSubstitution(1).fit_columns(np.eye(4), labels)
