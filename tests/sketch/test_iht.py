"""SGD-IHT and Batch IHT against a transcription, and what they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference.iht import SlowIht
from reference.sketch import make_block, random_block, split
from shortlist import SGDIHT, BatchIHT, LibsvmSource, Mission, ShortlistError
from shortlist._targets import Target
from shortlist.losses import Logistic, Poisson, Softmax, Squared
from shortlist.sketch._example import Steps
from shortlist.sketch._iht import IhtRule, gather

LOSSES = [Logistic(), Squared(), Softmax(), Poisson()]
TARGETS = {"sign": (-1, 1), "class": (0, 1, 2), "real": None, "count": None}
quick = settings(max_examples=12, deadline=None)
NO_IDS = np.empty(0, np.uint64)


def target_for(loss):
    return Target(loss, TARGETS[loss.target], np.empty(0))


def fresh(loss, k, room=64):
    """State with room for this many features in a batch."""
    target = target_for(loss)
    cells = room * (2 * target.n_margins + 6)
    state = IhtRule(k, 1, cells, damped=False).create(target, None)
    assert len(state.addresses.order) == room
    return state


def kept(state):
    """Weights of each margin by id."""
    return [
        dict(zip(ids[:n].tolist(), weights[:n].tolist(), strict=True))
        for ids, weights, n in zip(
            state.top.ids, state.top.weights, state.top.count, strict=True
        )
    ]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@quick
@given(
    st.integers(0, 2**32),
    st.integers(1, 12),
    st.sampled_from([1, 2, 7, 100]),
    st.sampled_from([8, 16, 64]),
    st.sampled_from([0.0, 0.3]),
)
def test_it_equals_the_transcription_after_every_row(
    loss, seed, k, batch, room, bias_rate
):
    # counts grow beyond all bounds under plain steps
    damped = bool(seed % 2) or loss == Poisson()
    block, state = random_block(seed, loss.target), fresh(loss, k, room)
    cautious = not np.isfinite(loss.smoothness)
    steps = Steps(0.7, bias_rate, damped, cautious)
    options = {"learning_rate": 0.7, "bias_rate": bias_rate, "damped": damped}
    slow = SlowIht(len(state.bias), batch=batch, room=room, k=k, **options)
    for row in split(block, range(40)):
        assert gather(loss, steps, batch, state, row) == 1
        slow.learn(loss, row)
        np.testing.assert_allclose(state.bias, slow.bias, rtol=1e-4, atol=1e-5)
        for fast, active in zip(kept(state), slow.active, strict=True):
            assert len(fast) == len(active) <= k
            sizes = [sorted(map(abs, each.values())) for each in (fast, active)]
            np.testing.assert_allclose(*sizes, rtol=1e-3, atol=1e-5)


@quick
@given(st.integers(0, 2**32), st.lists(st.integers(1, 40)), st.sampled_from([1, 3, 50]))
def test_blocks_do_not_matter(seed, cuts, batch):
    block = random_block(seed, "sign")
    rule, target = IhtRule(5, batch, "1MB", damped=True), target_for(Logistic())
    whole, parts = rule.create(target, None), rule.create(target, None)
    rule.learn(whole, target, block)
    for part in split(block, cuts):
        rule.learn(parts, target, part)
    assert kept(whole) == kept(parts)
    for one, other in zip(
        rule.found(whole, target, NO_IDS),
        rule.found(parts, target, NO_IDS),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_looking_at_an_unfinished_batch_changes_nothing():
    block, target = random_block(4, "sign"), target_for(Logistic())
    rule = IhtRule(5, 30, "1MB", damped=True)
    looked, left_alone = rule.create(target, None), rule.create(target, None)
    for part in split(block, range(0, 40, 4)):
        rule.learn(looked, target, part)
        found = rule.found(looked, target, NO_IDS)
        assert 0 < len(found.ids) <= 5
        rule.learn(left_alone, target, part)
    assert kept(looked) == kept(left_alone)


def test_repeated_features_of_a_row_step_together():
    twice, once = make_block([[(3, 1.0), (3, 2.0)]], [1]), make_block([[(3, 3.0)]], [1])
    target, rule = target_for(Squared()), IhtRule(1, 1, "1MB", damped=False)
    states = [rule.create(target, None) for _ in range(2)]
    steps = Steps(0.1, 0.3, False, False)
    for state, block in zip(states, (twice, once), strict=True):
        state.totals[4:7] = 1e9, 1.0, 1.0  # the mean squared norm, frozen
        gather(Squared(), steps, 1, state, block)
    assert kept(states[0])[0][3] == pytest.approx(kept(states[1])[0][3])


def test_a_row_that_does_not_fit_is_refused_by_its_number():
    rule = IhtRule(2, 1, 64 * 8, damped=False)
    target = target_for(Logistic())
    model = rule.create(target, None)
    room = len(model.addresses.order)
    fits = [(j, 1.0) for j in range(room)]
    block = make_block([fits, [*fits, (room, 1.0)]], [1, -1])
    with pytest.raises(ShortlistError, match=rf"row 1: .* of {room} features"):
        rule.learn(model, target, block)


@pytest.mark.parametrize("n_features", [None, 500, 2**60])
def test_memory_is_kept(n_features):
    model = IhtRule(9, 1, "50KB", damped=True).create(target_for(Softmax()), n_features)
    parts = [model.gradient.table, *model.addresses[1:], *model.top]
    assert sum(part.nbytes for part in parts) <= 50_000


def planted(seed=0, n=3000, p=400, strength=3.0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=0.03, format="csr", rng=rng)
    X.data[:] = 1.0
    w = np.zeros(p)
    w[:5] = strength * np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    return X, X @ w + 0.5 * rng.logistic(size=n) > 0.2


@pytest.mark.parametrize(
    "model", [SGDIHT(k=5), BatchIHT(k=5, batch=300)], ids=["sgd", "batch"]
)
def test_planted_features_are_found_by_the_refit(model):
    X, y = planted()
    model.fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4]
    assert model.shortlist_.params["recipe"] == "refit"


@pytest.mark.parametrize("model", [SGDIHT(k=5), BatchIHT(k=5, batch=300)])
def test_streams_keep_the_budget_with_the_weights_of_the_paper(model):
    X, y = planted()
    for start in range(0, 3000, 500):
        rows = slice(start, start + 500)
        model.partial_fit(X[rows], y[rows], classes=[False, True])
        assert 0 < len(model.shortlist_.weights) <= 5
    assert model.shortlist_.params["recipe"] == "paper"
    assert model.score(X, y) > 0.6


def test_in_one_pass_a_sketch_remembers_what_thresholding_forgets():
    found = {"mission": 0, "sgd": 0}
    for seed in range(4):
        X, y = planted(seed, strength=2.0)
        for name, model in (
            ("mission", Mission(k=5, recipe="paper")),
            ("sgd", SGDIHT(k=5, recipe="paper")),
        ):
            chosen = model.fit(X, y).get_support(indices=True).tolist()
            found[name] += len(set(chosen) & set(range(5)))
    assert found["mission"] >= found["sgd"] + 4


def test_sgd_iht_is_batch_iht_with_batches_of_one():
    X, y = planted(n=600)
    sgd = SGDIHT(k=5, recipe="paper").fit(X, y).shortlist_
    batch = BatchIHT(k=5, batch=1, recipe="paper").fit(X, y).shortlist_
    assert sgd.names == batch.names
    np.testing.assert_array_equal(sgd.weights, batch.weights)


def test_features_asked_for_always_are_published():
    X, y = planted(n=600)
    fitted = SGDIHT(k=5, recipe="paper", always=[399]).fit(X, y)
    assert 399 in fitted.get_support(indices=True)
    assert len(fitted.shortlist_.weights) == 5


def test_text_is_selected_from(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{i % 2} {i % 2 + 7}:1 {100 + i}:1\n" for i in range(200)))
    fitted = SGDIHT(k=2).fit_source(LibsvmSource(path))
    assert sorted(fitted.shortlist_.names) == ["7", "8"]


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (BatchIHT(k=2, batch=0), "batch should be a whole number from 1, got 0"),
        (BatchIHT(k=2, batch=2.5), "batch should be a whole number"),
        (SGDIHT(k=2, recipe="newton"), "recipe should be one of"),
        (SGDIHT(k=2, passes=0), "passes should be"),
        (SGDIHT(k=2, budget="mine"), "budget should be"),
        (SGDIHT(k=2, normalize="l1"), "normalize should be"),
        (SGDIHT(k=2, memory="3B"), "too small"),
        (SGDIHT(k=2, memory="5%"), "a size like"),
    ],
)
def test_what_makes_no_sense_is_refused(model, complaint):
    X, y = planted(n=20)
    with pytest.raises(ShortlistError, match=complaint):
        model.fit(X, y)
