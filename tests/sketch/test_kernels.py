"""MISSION's inner loop equals the slow one, whatever the loss, rule and blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.sketch import (
    GRADIENT,
    NEWTON,
    SlowBlocks,
    SlowMission,
    make_block,
    random_block,
    split,
)
from shortlist._centring import centred_ids, led_by
from shortlist._steps import (
    HITS,
    LOSS,
    N_TOTALS,
    ROWS,
    WEIGHT,
    is_cautious,
    mean_norm,
)
from shortlist.kernels.block_sketch import block_sketch
from shortlist.kernels.heavy_hitters import candidates, listed
from shortlist.losses import (
    Hinge,
    Logistic,
    Poisson,
    Softmax,
    Squared,
)
from shortlist.sketch import _step_rules as rules
from shortlist.sketch._kernels import (
    Scratch,
    SketchState,
    explore,
    nominate,
    pass_threshold,
    prune,
    rescore,
)
from shortlist.sketch._step_rules import StepRule

quick = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 2**32)
bias_rates = st.sampled_from([0.0, 0.5])
STEPS = {GRADIENT: rules.GRADIENT, NEWTON: rules.NEWTON}
# Each is compiled for each way to step. The rest of the losses differ from these in their
# formulas only, which other tests go through.
LOSSES = [Logistic(), Squared(), Hinge(), Poisson(), Softmax()]
EXPONENTIAL = [Logistic(), Poisson(), Softmax()]
every_rule = pytest.mark.parametrize("step", STEPS)
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)

scales = pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])

# Few blocks, so that ids collide, and little room, so that sets are cut.
BLOCKS, ROOM, RIDGE = 6, 4, 0.2


def margins_of(loss):
    return 3 if loss.is_vector else 1


def fresh(step, n_margins=1, *, rows=3, n_blocks=BLOCKS, room=ROOM, **extras):
    informed = step == NEWTON
    return SketchState(
        block_sketch(rows, n_blocks, n_margins, seed=5, informed=informed, **extras),
        candidates(room, n_margins),
        np.zeros(n_margins),
        np.zeros(n_margins),
        np.zeros(N_TOTALS),
    )


def explored(loss, step, blocks, bias_rate=0.5, **size):
    state = fresh(step, margins_of(loss), **size)
    for block in blocks:
        rule = StepRule(STEPS[step], RIDGE, bias_rate, is_cautious(loss))
        explore(loss, rule, state, block)
    return state


def slowly_explored(loss, step, block, like, bias_rate=0.5, **more):
    sketch = like.sketch
    slow = SlowMission(
        SlowBlocks(
            sketch.keys,
            sketch.n_blocks,
            sketch.rows,
            sketch.n_margins,
            is_direct=sketch.is_direct,
        ),
        step=step,
        ridge=RIDGE,
        bias_rate=bias_rate,
        room=like.found.room,
        scaled=sketch.scaled,
        n_margins=sketch.n_margins,
        **more,
    )
    slow.explore(loss, block)
    return slow


def parts_of(sketch):
    """Weights, information and scales, as the slow sketch has them."""
    blocks = sketch.cells.reshape(sketch.n_blocks, sketch.stride)
    ends = np.cumsum(
        [
            sketch.rows * 4 * sketch.n_margins,
            sketch.informed * 4 * sketch.n_margins,
            sketch.scaled * 4,
        ]
    )
    return np.split(blocks, ends[:-1], axis=1)


def assert_equal(state, slow, loss=None):
    # The order of operations is the same, so bits are too; only an exponential may
    # differ in its last place where compiled code takes it from another library.
    rtol = 1e-5 if loss in EXPONENTIAL else 0.0

    def close(one, other, rtol=rtol):
        scale = max(1.0, np.abs(other).max(initial=0.0))
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * scale / 10)

    expected = (slow.sketch.weights, slow.sketch.information, slow.sketch.scales)
    for part, whole in zip(parts_of(state.sketch), expected, strict=True):
        if part.size:
            close(part.ravel(), whole.ravel())
    close(state.bias, slow.bias)
    close(state.bias_scale, slow.bias_scale)
    totals = slow.totals
    assert state.totals[ROWS] == totals.rows
    assert state.totals[WEIGHT] == totals.weight
    assert state.totals[HITS] == totals.hits
    close(state.totals[LOSS], totals.loss)
    close(mean_norm(state.totals), totals.mean_norm)
    for c, members in enumerate(slow.found):
        assert set(listed(state.found, c)) == set(members.listed())
        assert state.found.count[c] == len(members.listed())
        close(state.found.tau[c], members.tau, rtol=1e-5)  # fourth powers round freely


def assert_same_bits(one, other):
    for left, right in zip(flat(one), flat(other), strict=True):
        np.testing.assert_array_equal(left, right)


def flat(state):
    return [*state.sketch, *state.found, *state[2:]]


@every_rule
@every_loss
@quick
@given(seed=seeds, bias_rate=bias_rates, scaled=st.booleans())
def test_exploring_equals_the_reference(loss, step, scaled, seed, bias_rate):
    block = random_block(seed, loss.target)
    state = explored(loss, step, [block], bias_rate, scaled=scaled)
    assert_equal(state, slowly_explored(loss, step, block, state, bias_rate), loss)


@pytest.mark.parametrize("loss", [Squared(), Softmax()], ids=lambda loss: loss.name)
@quick
@given(seed=seeds, scaled=st.booleans())
def test_steps_about_running_means_equal_the_reference(loss, scaled, seed):
    block = random_block(seed, loss.target)
    far = np.unique(block.ids)[1:7:2].copy()
    state = fresh(NEWTON, margins_of(loss), scaled=scaled)
    state = state._replace(centres=centred_ids(far))
    led, rule = led_by(state.centres, block), StepRule(STEPS[NEWTON], RIDGE, 0.0, False)
    explore(loss, rule, state, led, np.empty(len(far)))
    slow = slowly_explored(loss, NEWTON, block, state, 0.0, centred=far.tolist())
    assert_equal(state, slow, loss)
    np.testing.assert_allclose(state.centres.mean, list(slow.means.values()))


@every_rule
@scales
def test_cells_of_ones_own_equal_the_reference(step, scaled):
    block = random_block(4)
    block = block._replace(ids=block.ids % np.uint64(23))
    state = explored(Squared(), step, [block], n_ids=23, scaled=scaled)
    assert state.sketch.is_direct
    assert_equal(state, slowly_explored(Squared(), step, block, state))


@every_rule
@scales
@pytest.mark.parametrize("rows", [1, 5, 7, 9])
def test_any_number_of_rows_equals_the_reference(rows, step, scaled):
    block = random_block(rows)
    state = explored(Squared(), step, [block], rows=rows, scaled=scaled)
    assert_equal(state, slowly_explored(Squared(), step, block, state))


@every_rule
def test_one_block_and_room_for_one_equal_the_reference(step):
    block = random_block(0)
    state = explored(Squared(), step, [block], n_blocks=1, room=1)
    assert_equal(state, slowly_explored(Squared(), step, block, state))


@every_rule
def test_the_random_blocks_do_fill_and_cut_the_sets(step):
    for loss in (Squared(), Softmax()):
        state = explored(loss, step, [random_block(0, loss.target)])
        assert (state.found.tau > 0).all()
        assert (state.found.count <= 2 * ROOM).all()


@every_rule
def test_the_mean_norm_stays_as_it_is_after_a_thousand_examples(step):
    rng = np.random.default_rng(0)
    rows = [[(i % 7, x)] for i, x in enumerate(rng.normal(size=1100))]
    rows[1080:] = [[(i, 100.0 * x) for i, x in row] for row in rows[1080:]]
    weight = rng.choice([0.0, 1.0, 3.0], 1100, p=[0.05, 0.5, 0.45])
    block = make_block(rows, rng.normal(size=1100), weight)
    state = explored(Squared(), step, [block])
    assert_equal(state, slowly_explored(Squared(), step, block, state))
    assert mean_norm(state.totals) < 10


@every_rule
@pytest.mark.parametrize("loss", [Logistic(), Softmax()], ids=lambda loss: loss.name)
@quick
@given(seed=seeds, cuts=st.lists(st.integers(1, 40)))
def test_block_boundaries_do_not_matter(loss, step, seed, cuts):
    block = random_block(seed, loss.target)
    parts = explored(loss, step, split(block, cuts))
    assert_same_bits(parts, explored(loss, step, [block]))


@every_rule
@quick
@given(seed=seeds)
def test_rows_of_weight_zero_are_as_good_as_absent(step, seed):
    block = random_block(seed)
    block.y[block.weight == 0] = 1e6
    without = [part for part in split(block, range(40)) if part.weight[0] > 0]
    whole = explored(Squared(), step, [block])
    assert_same_bits(whole, explored(Squared(), step, without))


@every_rule
def test_examples_without_nonzeros_move_only_the_bias(step):
    block = make_block([[], [], []], [1.0, 2.0, 3.0])
    state = explored(Squared(), step, [block], bias_rate=0.0)
    assert not state.sketch.cells.any()
    assert state.found.count[0] == 0
    assert state.bias[0] == pytest.approx(2.0, rel=1e-3)  # the mean
    assert mean_norm(state.totals) == 1.0


@every_rule
@pytest.mark.parametrize("loss", [Squared(), Softmax()], ids=lambda loss: loss.name)
def test_scores_weights_and_information_are_read_back(loss, step):
    block = random_block(3, loss.target)
    state = explored(loss, step, [block])
    slow = slowly_explored(loss, step, block, state)
    ids = np.unique(block.ids)
    for c in range(margins_of(loss)):
        rule = StepRule(STEPS[step], RIDGE, 0.5, 0.0)
        weight, score, information, _ = rescore(rule, state, c, ids)
        expected = [slow.sketch.estimate(number, c) for number in ids]
        np.testing.assert_allclose(weight, expected, rtol=1e-5, atol=1e-6)
        expected = [slow.score(number, c) for number in ids]
        np.testing.assert_allclose(score, expected, rtol=1e-4, atol=1e-6)
        if step == NEWTON:
            expected = [slow.sketch.known(number)[c] for number in ids]
            np.testing.assert_allclose(information, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("tau", "everyone", "entered"),
    [(0.0, True, {2, 3, 4, 5}), (1.0, True, {3, 4, 5}), (1.0, False, {3, 4})],
)
def test_scores_enter_as_they_rise_to_the_threshold_but_never_at_zero(
    tau, everyone, entered
):
    state = fresh(GRADIENT)
    state.found.tau[0] = tau
    ids = np.arange(1, 6, dtype=np.uint64)
    row, table = np.zeros(5, np.float32), np.zeros((1, 5), np.float32)
    before = np.array([0.0, 0.0, 0.5, 0.9, 1.0], np.float32)
    scores = np.array([0.0, 0.5, 1.0, 2.0, 2.0], np.float32)
    passing = np.zeros(5, np.int64)
    places = np.zeros((2, 5), np.uint64)
    room = Scratch(
        row, row, row, row, table, table, row, before, scores, passing, places
    )
    n = pass_threshold(tau, everyone, room, len(ids))
    nominate(StepRule(STEPS[GRADIENT], RIDGE, 0.5, 0.0), state, 0, ids, room, n)
    assert set(listed(state.found, 0).tolist()) == entered
    assert state.found.count[0] == len(entered)


@every_rule
def test_pruning_keeps_the_best_by_their_scores_now(step):
    rule = StepRule(STEPS[step], RIDGE, 0.5, 0.0)
    state = explored(Squared(), step, [random_block(1)], n_blocks=250, room=30)
    assert state.found.tau[0] == 0
    ids = listed(state.found, 0)
    scores = rescore(rule, state, 0, ids)[1]
    prune(rule, state, 0)
    best = np.sort(scores)[-30:]
    assert set(listed(state.found, 0)) == set(ids[scores >= best[0]])
    assert state.found.tau[0] == best[0]
