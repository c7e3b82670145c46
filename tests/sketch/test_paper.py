"""MISSION as its paper has it, against a transcription with dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from reference.mission_paper import SlowCount, SlowIdentity, SlowPaper
from reference.sketch import make_block, random_block, split
from shortlist import Mission, ShortlistError
from shortlist._targets import Target
from shortlist.losses import Logistic, Softmax, Squared, SquaredHinge
from shortlist.sketch._example import Steps
from shortlist.sketch._paper import Forgetting, PaperRule, descend

LOSSES = [Logistic(), Squared(), SquaredHinge(), Softmax()]
TARGETS = {"sign": (-1, 1), "class": (0, 1, 2), "real": None}
quick = settings(max_examples=10, deadline=None)
WIDTH = 23
gammas = st.sampled_from([None, 0.99, 0.7, 0.01])
lazies = st.sampled_from([0.0, 0.05, 0.4])


def target_for(loss):
    return Target(loss, TARGETS[loss.target], np.empty(0))


def fresh(loss, k, sketch="count"):
    """State of a sketch with few cells, so that ids collide; or exact ones."""
    target = target_for(loss)
    cells = (3 * WIDTH if sketch == "count" else 10_000) * target.n_margins
    return PaperRule(k, cells, 3, 5, sketch).create(target, None)


def literal(state, k, bias_rate, gamma=None, lazy=0.0, sketch="count"):
    """The transcription, with the hashes of a state."""
    margins = len(state.bias)
    if sketch == "count":
        store = SlowCount(state.sketch.keys, WIDTH, margins)
    else:
        store = SlowIdentity()
    options = {"learning_rate": 0.7, "bias_rate": bias_rate}
    return SlowPaper(store, margins, k=k, gamma=gamma, lazy=lazy, **options)


def learn(loss, state, block, bias_rate=0.3, gamma=None, lazy=0.0):
    steps = Steps(0.7, bias_rate, False, False)
    forgetting = Forgetting(1.0 if gamma is None else gamma, lazy)
    assert descend(loss, steps, forgetting, state, block) == block.n_rows


def assert_same_active(state, slow, k):
    for c, active in enumerate(slow.active):
        n = state.top.count[c]
        assert n == len(active) <= k
        kept = sorted(np.abs(state.top.weights[c, :n]))
        np.testing.assert_allclose(kept, sorted(map(abs, active.values())), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@quick
@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([0.0, 0.3]))
def test_it_equals_the_transcription(loss, seed, k, bias_rate):
    block, state = random_block(seed, loss.target), fresh(loss, k)
    learn(loss, state, block, bias_rate)
    slow = literal(state, k, bias_rate)
    slow.learn(loss, block)
    np.testing.assert_allclose(state.sketch.table, slow.sketch.table, atol=1e-5)
    np.testing.assert_allclose(state.bias, slow.bias, atol=1e-7)
    assert_same_active(state, slow, k)


@pytest.mark.parametrize("sketch", ["count", "identity"])
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12), gammas, lazies)
def test_its_variants_equal_the_transcription(sketch, seed, k, gamma, lazy):
    loss = Logistic()
    block, state = random_block(seed, loss.target), fresh(loss, k, sketch)
    slow = literal(state, k, 0.3, gamma, lazy, sketch)
    for part in split(block, range(0, 40, 5)):
        learn(loss, state, part, gamma=gamma, lazy=lazy)
        slow.learn(loss, part)
        assert_same_active(state, slow, k)
    np.testing.assert_allclose(state.bias, slow.bias, atol=1e-6)
    if sketch == "count":
        cells = state.sketch.table * state.unit[0]
        np.testing.assert_allclose(cells, slow.sketch.table, atol=1e-5)


@quick
@given(st.integers(0, 2**32), st.lists(st.integers(1, 40)), gammas)
def test_blocks_do_not_matter(seed, cuts, gamma):
    block = random_block(seed, "sign")
    whole, parts = fresh(Logistic(), 5), fresh(Logistic(), 5)
    learn(Logistic(), whole, block, gamma=gamma)
    for part in split(block, cuts):
        learn(Logistic(), parts, part, gamma=gamma)
    np.testing.assert_array_equal(whole.sketch.table, parts.sketch.table)
    np.testing.assert_array_equal(whole.top.weights, parts.top.weights)
    np.testing.assert_array_equal(whole.top.ids, parts.top.ids)


def test_cells_are_multiplied_out_before_their_unit_vanishes():
    state = fresh(Squared(), 2)
    block = random_block(3, "real", n_rows=40)
    for _ in range(10):
        learn(Squared(), state, block, 0.0, gamma=1e-3)
    assert state.unit[0] >= 1e-18
    assert np.isfinite(state.sketch.table).all()
    assert state.top.count[0] == 2


def test_an_array_and_a_table_of_exact_weights_hold_the_same():
    rng = np.random.default_rng(1)
    rows = [list(zip(rng.integers(0, 30, 6), rng.normal(size=6), strict=True))] * 50
    block = make_block(rows, rng.choice([-1.0, 1.0], 50))
    target, rule = target_for(Logistic()), PaperRule(4, "1MB", 3, 0, "identity")
    array, table = rule.create(target, 30), rule.create(target, None)
    always = np.array([1, 7, 29], np.uint64)
    for model in (array, table):
        rule.learn(model, target, block)
    assert array.sketch.table.shape == (1, 30, 1)
    found, same = (rule.found(model, target, always) for model in (array, table))
    for one, other in zip(found, same, strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_features_than_exact_weights_have_room_for_are_refused():
    target, rule = target_for(Logistic()), PaperRule(4, "10KB", 3, 0, "identity")
    model = rule.create(target, None)
    room = len(model.addresses.order)
    fits = make_block([[(j, 1.0)] for j in range(room)])
    rule.learn(model, target, fits)
    one_more = make_block([[(0, 1.0)], [(room, 1.0)]])
    with pytest.raises(ShortlistError, match=rf"row 1: .* room for {room:,} features"):
        rule.learn(model, target, one_more)


@pytest.mark.parametrize("n_features", [None, 30, 2**60])
def test_exact_weights_stay_within_their_memory(n_features):
    model = PaperRule(4, "100KB", 3, 0, "identity").create(
        target_for(Softmax()), n_features
    )
    parts = [model.sketch.table, *model.addresses[1:], *model.top]
    assert sum(part.nbytes for part in parts) <= 100_000


def planted(n=3000, p=400):
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, p), density=0.03, format="csr", rng=rng)
    X.data[:] = 1.0
    w = np.zeros(p)
    w[:5] = [3.0, -3.0, 3.0, -3.0, 3.0]
    return X, X @ w + 0.5 * rng.logistic(size=n) > 0.2


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_the_estimator_finds_planted_features_and_keeps_the_budget(how):
    X, y = planted()
    model = Mission(k=5, recipe="paper")
    for start in range(0, 3000, 500):
        if how == "partial_fit":
            rows = slice(start, start + 500)
            model.partial_fit(X[rows], y[rows], classes=[False, True])
            assert len(model.shortlist_.weights) <= 5
    if how == "fit":
        model.fit(X, y)
    assert len(set(range(5)) & set(model.get_support(indices=True).tolist())) >= 4
    assert model.shortlist_.params["recipe"] == "paper"


def test_features_asked_for_always_are_there_with_their_estimates():
    X, y = planted()
    model = Mission(k=5, recipe="paper", always=[77]).fit(X, y)
    support = model.get_support(indices=True)
    assert 77 in support
    assert len(support) == 5


@pytest.mark.parametrize("variant", [{"sketch": "identity"}, {"gamma": 0.999}])
def test_variants_find_planted_features_too(variant):
    X, y = planted()
    model = Mission(k=5, recipe="paper", **variant).fit(X, y)
    assert len(set(range(5)) & set(model.get_support(indices=True).tolist())) >= 4
    assert model.shortlist_.params.items() >= variant.items()


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"gamma": 0.9}, "recipe='paper', got recipe='refit'"),
        ({"sketch": "identity", "recipe": "newton"}, "got recipe='newton'"),
        ({"lazy": 0.1}, "variants of recipe='paper'"),
        ({"gamma": 1.0, "recipe": "paper"}, "gamma should be None or lie between"),
        ({"gamma": "half", "recipe": "paper"}, "gamma should be None or lie between"),
        ({"lazy": -1.0, "recipe": "paper"}, "lazy should be at least 0"),
        ({"sketch": "median", "recipe": "paper"}, "sketch should be"),
        ({"sketch": "identity", "memory": "1%", "recipe": "paper"}, "a size like"),
        ({"sketch": "identity", "memory": "400B", "recipe": "paper"}, "too small"),
    ],
)
def test_variants_that_make_no_sense_are_refused(asked, complaint):
    X, y = planted(n=40)
    with pytest.raises(ShortlistError, match=complaint):
        Mission(k=5, **asked).fit(X, y)
