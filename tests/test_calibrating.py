"""Weights that rows set apart find doubtful are made smaller, and no others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shortlist import BARDA, Mission, ShortlistError, _calibrating, _online, _refit
from shortlist._calibrating import apart, groups_apart, trusted
from shortlist._protocols import knowing_groups
from shortlist._scoring import evaluate
from shortlist.engines import Interrupted, Keeper, load_snapshot, run
from shortlist.kernels.masking import MaskedRows, some_rows
from shortlist.sketch._mission import mission
from shortlist.sources import ArraySource


@pytest.fixture
def early(monkeypatch):
    """Let refits stream, and set rows apart, from the first hundred rows on."""
    for module, name in ((_calibrating, "FIRST"), (_refit, "EXACT_ROWS")):
        monkeypatch.setattr(module, name, 100)


def sparse_noise(seed, n=20_000, p=1000, n_true=10, nnz=8):
    """Rows of a few features each, most of which mean nothing."""
    rng = np.random.default_rng(seed)
    columns = np.argsort(rng.random((n, 40)), axis=1)[:, :nnz] * (p // 40)
    columns += rng.integers(p // 40, size=columns.shape)
    weights = np.zeros(p)
    weights[np.random.default_rng(7).choice(p, n_true, replace=False)] = 2.0
    margin = weights[columns].sum(axis=1) - 0.2
    y = rng.random(n) < 1 / (1 + np.exp(-4 * margin))
    X = csr_array(
        (np.ones(n * nnz), columns.ravel(), np.arange(0, n * nnz + 1, nnz)), (n, p)
    )
    return ArraySource(X, y)


def copies_of_one_signal(seed, n=4000, p=300):
    """Rows of which every feature tells the same, and little."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    X = 0.08 * np.where(y, 1.0, -1.0)[:, np.newaxis] + rng.normal(size=(n, p))
    return ArraySource(X, y)


def chosen(source, k):
    return run(mission(k, memory="1MB", recipe="refit", log1p=False), source)


def test_noise_is_doubted_and_predictions_get_better(early, monkeypatch):
    train, test = sparse_noise(0), sparse_noise(1)
    doubting = chosen(train, 600)
    monkeypatch.setattr(_calibrating, "_DOUBTS", ())
    plain = chosen(train, 600)
    assert doubting.params["doubt"] >= 3.0
    assert "doubt" not in plain.params
    assert set(doubting.names) == set(plain.names)
    ours, theirs = evaluate(doubting, test), evaluate(plain, test)
    assert ours.loss < theirs.loss - 0.01
    # of what is beyond doubt nothing is taken
    sure = doubting.scores > doubting.params["doubt"]
    assert sure.any()
    np.testing.assert_array_equal(doubting.weights[sure], plain.weights[sure])
    shrunk = np.abs(doubting.weights[~sure]) < np.abs(plain.weights[~sure])
    assert shrunk.all()


def test_features_that_go_together_are_believed_though_each_is_uncertain(early):
    result = chosen(copies_of_one_signal(0), 250)
    assert np.median(np.abs(result.weights) / result.errors) < 4.0
    assert "doubt" not in result.params


def test_rows_that_an_exact_refit_can_hold_are_all_learned_from(monkeypatch):
    source = sparse_noise(1, n=3000)
    some = chosen(source, 300)
    monkeypatch.setattr(_calibrating, "_MOST_APART", 0)
    np.testing.assert_array_equal(some.weights, chosen(source, 300).weights)


@given(st.integers(0, 400_000), st.lists(st.integers(0, 5000), max_size=8))
def test_rows_are_set_apart_by_their_numbers_alone(first, sizes):
    whole = _dense(apart(first, sum(sizes)), sum(sizes))
    begins = np.cumsum([first, *sizes])[:-1]
    parts = [
        _dense(apart(int(begin), n), n) for begin, n in zip(begins, sizes, strict=True)
    ]
    np.testing.assert_array_equal(np.concatenate([[], *parts]), whole)


def _dense(which, n_rows):
    return np.zeros(n_rows, bool) if which is None else which


def test_one_row_in_sixteen_is_set_apart_and_never_too_many():
    assert apart(0, _refit.EXACT_ROWS) is None
    which = apart(0, 2_000_000)
    where = np.flatnonzero(which)
    assert where.min() >= _refit.EXACT_ROWS
    assert abs(len(where) - (1 << 14)) < 40
    for period in (2, 3, 7, 16, 100):  # whatever comes in turns is drawn alike
        counts = np.bincount(where % period, minlength=period)
        assert counts.max() - counts.min() < 0.2 * counts.mean() + 4


@given(st.floats(0.5, 10.0), st.floats(0.0, 20.0), st.floats(0.0, 20.0))
def test_trust_rises_with_the_score_up_to_one(doubt, a, b):
    low, high = sorted([a, b])
    trust = trusted(np.array([low, high, doubt / 2, doubt]), doubt)
    assert 0.0 <= trust[0] <= trust[1] <= 1.0
    np.testing.assert_allclose(trust[2:], [0.5, 1.0])
    assert (trusted(np.array([low, high]), 0.0) == 1.0).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=12))
def test_some_rows_are_those_rows(shape):
    lengths = np.array([n for n, _ in shape], np.int64)
    which = np.array([w for _, w in shape], bool)
    n = int(lengths.sum())
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    row = np.arange(len(shape), dtype=float)
    rows = MaskedRows(indptr, np.arange(n, dtype=np.int32), np.arange(n) / 2, row, -row)
    some = some_rows(rows, which)
    assert some.y.tolist() == row[which].tolist()
    assert some.weight.tolist() == (-row[which]).tolist()
    for place, i in enumerate(np.flatnonzero(which)):
        here = slice(some.indptr[place], some.indptr[place + 1])
        there = slice(indptr[i], indptr[i + 1])
        assert some.columns[here].tolist() == rows.columns[there].tolist()
        assert some.values[here].tolist() == rows.values[there].tolist()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3000),
    st.integers(60_000, 400_000),
    st.floats(0.3, 3.0),
)
def test_groups_are_set_apart_whole_and_never_too_many(seed, n_groups, n, tail):
    rng = np.random.default_rng(seed)
    groups = (n_groups * rng.random(n) ** tail).astype(np.int64)
    which = apart(0, n, groups_apart(groups))
    sizes = np.bincount(groups, minlength=n_groups)
    held = np.bincount(groups, which, n_groups)
    assert ((held == 0) | (held == sizes)).all()
    most = max(0, min((n - _calibrating.FIRST) // 16, 1 << 14))
    assert which.sum() <= most
    if most and sizes.max() <= most:  # there is no group that has to stay
        assert which.sum() > most - sizes.max()


@pytest.mark.parametrize("few", [_calibrating.FIRST, 50])
def test_groups_of_rows_that_a_refit_can_hold_change_nothing(few):
    assert not apart(0, few, groups_apart(np.arange(few) // 3)).any()


@pytest.fixture
def learned(monkeypatch):
    """Labels of the rows that a refit learned from, and of those set apart, by pass."""
    seen = []
    real = _online.OnlineLearner._learn_again

    def noted(self, state, rows):
        which = apart(state.rows_in_pass, len(rows.y), state.groups)
        which = np.zeros(len(rows.y), bool) if which is None else which
        seen.append((state.stage, rows.y[~which], rows.y[which]))
        real(self, state, rows)

    monkeypatch.setattr(_online.OnlineLearner, "_learn_again", noted)
    return seen


def grouped_rows(seed=0, n=3000, lacking=False, **how):
    """Rows whose labels tell their number, so that it is seen which were learned from."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    y = X[:, 0] + 1e-3 * np.arange(n)
    groups = rng.integers(0, 300, n)
    if lacking:
        y[rng.random(n) < 0.4] = np.nan
    source = ArraySource(X, y, may_lack_labels=lacking, **how)
    return source, groups, dict(zip(y.tolist(), groups.tolist(), strict=True))


@pytest.mark.parametrize("lacking", [False, True])
@pytest.mark.parametrize("passes", [1, 2])
def test_no_group_is_learned_from_and_set_apart(early, learned, lacking, passes):
    source, groups, group_of = grouped_rows(lacking=lacking, block_rows=170)
    learner = mission(3, recipe="refit", passes=passes, loss="squared")
    run(knowing_groups(learner, groups), source)
    for stage in ("refit", "settle"):
        parts = [part for part in learned if part[0] == stage]
        known, held = (np.concatenate([p[side] for p in parts]) for side in (1, 2))
        assert len(known) + len(held) == sum(not np.isnan(y) for y in group_of)
        sides = [{group_of[y] for y in side.tolist()} for side in (known, held)]
        assert len(sides[1]) > 5
        assert not sides[0] & sides[1]
    learned.clear()
    run(learner, source)  # by row numbers, of groups on both sides
    _, known, held = (
        np.concatenate(parts) for parts in zip(*map(_listed, learned), strict=True)
    )
    assert {group_of[y] for y in known.tolist()} & {group_of[y] for y in held.tolist()}


def _listed(part):
    return (np.zeros(0), *part[1:])


def test_rows_that_turn_out_to_be_few_are_all_learned_from(monkeypatch, learned):
    for module, name in ((_calibrating, "FIRST"), (_refit, "EXACT_ROWS")):
        monkeypatch.setattr(module, name, 2500)
    source, groups, _ = grouped_rows(lacking=True)
    run(knowing_groups(mission(3, recipe="refit", loss="squared"), groups), source)
    assert learned
    assert not any(len(held) for _, _, held in learned)


def test_without_groups_or_without_a_refit_nothing_changes(early):
    source, groups, _ = grouped_rows()
    for recipe in ("newton", "paper"):
        learner = mission(3, recipe=recipe, loss="squared")
        assert run(knowing_groups(learner, groups), source) == run(learner, source)
    learner = mission(3, recipe="refit", loss="squared")
    assert knowing_groups(learner, None) is learner
    torn, whole = run(learner, source), run(knowing_groups(learner, groups), source)
    assert torn.weights.tolist() != whole.weights.tolist()


@pytest.mark.parametrize("estimator", [Mission, BARDA])
def test_fit_takes_groups(early, learned, estimator):
    source, groups, group_of = grouped_rows()
    X, y = source.matrix, source.all_labels
    fitted = estimator(3, loss="squared").fit(X, y, groups=[f"u{g}" for g in groups])
    assert "x0" in fitted.get_feature_names_out()
    for _, known, held in learned:
        here, there = ({group_of[v] for v in side.tolist()} for side in (known, held))
        assert not here & there
    assert sum(len(held) for _, _, held in learned) > 0
    with pytest.raises(ShortlistError, match=r"one entry a row \(3000\), got 2999"):
        estimator(3, loss="squared").fit(X, y, groups=groups[:-1])


def test_groups_are_one_a_row_also_of_what_comes_by(early):
    source, groups, _ = grouped_rows()
    learner = mission(3, recipe="refit", loss="squared")
    for wrong, said in ((groups[:-1], "for more rows"), (np.append(groups, 0), "3000")):
        with pytest.raises(ShortlistError, match=said):
            run(knowing_groups(learner, wrong), source)


def test_a_run_that_knows_groups_is_taken_up_again(early, tmp_path):
    source, groups, _ = grouped_rows(lacking=True, block_rows=400)
    learner = knowing_groups(mission(3, recipe="refit", loss="squared"), groups)
    whole, path = run(learner, source), tmp_path / "checkpoint"
    for n_blocks in (0, 3, 8, 10, 16, 20):
        left = iter(range(n_blocks))
        stops = Keeper(path, {}, wants_stop=lambda left=left: next(left, None) is None)
        with pytest.raises(Interrupted):
            run(learner, source, keeper=stops)
        assert run(learner, source, resume=load_snapshot(path, {})) == whole


def test_groups_that_agree_by_chance_prove_nothing(early, monkeypatch):
    """What two users do many times over is seen twice, not many times."""
    source = sparse_noise(0, n=6000)
    asked = mission(600, memory="1MB", recipe="refit")
    assert run(asked, source).params["doubt"] >= 3.0
    said = []
    real = _calibrating.groups_apart

    def two(groups):
        found = real(groups)
        found.group[found.group >= 0] %= 2
        said.append(np.unique(found.group).tolist())
        return found

    users = np.arange(6000) // 4
    assert run(knowing_groups(asked, users), source).params["doubt"] >= 3.0
    monkeypatch.setattr(_online, "groups_apart", two)
    assert "doubt" not in run(knowing_groups(asked, users), source).params
    assert said == [[-1, 0, 1]]
