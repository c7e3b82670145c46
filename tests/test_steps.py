"""Examples are counted before they teach, and steps shrink as evidence gathers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import sketch as reference
from shortlist._steps import (
    HITS,
    LOSS,
    N_TOTALS,
    NORM_FROZEN_AFTER,
    ROWS,
    WEIGHT,
    balance,
    bias_step,
    count_norm,
    is_cautious,
    is_hit,
    judge,
    mean_norm,
)
from shortlist.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Softmax,
    Squared,
    get_loss,
    value_of,
)

quick = settings(max_examples=50, deadline=None)
moderate = st.floats(-20, 20)
importances = st.floats(0.01, 10)


def judged(loss, examples, n_margins=1):
    """Totals, last pulls and last curvatures after (y, z, importance) triples."""
    totals = np.zeros(N_TOTALS)
    pulls, curvatures = np.empty(n_margins), np.empty(n_margins)
    for y, z, importance in examples:
        judge(loss, y, np.array(z), importance, totals, pulls, curvatures)
    return totals, pulls, curvatures


@pytest.mark.parametrize(
    ("loss", "labels", "n_margins"),
    [
        (Logistic(), [-1.0, 1.0], 1),
        (Huber(), [-9.0, 0.3], 1),
        (Softmax(), [0.0, 2.0], 3),
    ],
    ids=["logistic", "huber", "softmax"],
)
@quick
@given(data=st.data())
def test_judging_equals_the_reference(loss, labels, n_margins, data):
    margins = st.lists(moderate, min_size=n_margins, max_size=n_margins)
    triples = st.tuples(st.sampled_from(labels), margins, importances)
    examples = data.draw(st.lists(triples, min_size=1, max_size=5))
    totals, pulls, curvatures = judged(loss, examples, n_margins)
    slow = reference.Totals()
    for y, z, importance in examples:
        expected = reference.judge(loss, y, np.array(z), importance, slow)
    counted = totals[[ROWS, WEIGHT, LOSS, HITS]]
    counts = [slow.rows, slow.weight, slow.loss, slow.hits]
    # Compiled exponentials may differ in the last bit.
    np.testing.assert_allclose(counted, counts, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(pulls, expected[0], rtol=1e-12)
    np.testing.assert_allclose(curvatures, expected[1], rtol=1e-12)


def test_a_parabola_stands_in_for_a_missing_curvature():
    _, pulls, curvatures = judged(Hinge(), [(1.0, [0.0], 2.0)])
    assert (pulls[0], curvatures[0]) == (2.0, 1.0)  # 2 slope^2 / (2 value)
    _, pulls, curvatures = judged(Hinge(), [(1.0, [5.0], 2.0)])
    assert (pulls[0], curvatures[0]) == (0.0, 0.0)
    _, _, curvatures = judged(Hinge(), [(1.0, [0.999], 2.0)])
    assert curvatures[0] == 2.0  # bounded where the value is small


@pytest.mark.parametrize("unit", [10.0, 1e4])
def test_steps_of_a_robust_loss_have_the_unit_of_the_target(unit):
    labels = unit * np.random.default_rng(0).normal(3.0, 1.0, 2000)
    # A constant that is right half of the time on either side is the median.
    bias, _ = followed(Huber(), labels)
    assert bias == pytest.approx(np.median(labels), abs=0.2 * unit)


@pytest.mark.parametrize(
    ("y", "z", "hit"),
    [
        (1.0, [0.1], True),
        (-1.0, [-0.1], True),
        (1.0, [-0.1], False),
        (1.0, [0.0], False),
        (0.0, [1.0, 0.0, 0.5], True),
        (2.0, [1.0, 0.0, 0.5], False),
        (0.0, [1.0, 1.0, 1.0], True),  # the first of ties
        (1.0, [1.0, 1.0, 1.0], False),
        (2.0, [-3.0, -2.0, -1.0], True),
    ],
)
def test_a_hit_is_the_right_sign_or_the_largest_margin(y, z, hit):
    assert bool(is_hit(y, np.array(z))) is hit


def test_the_mean_norm_is_one_before_there_are_examples_or_nonzeros():
    totals = np.zeros(N_TOTALS)
    assert mean_norm(totals) == 1.0
    count_norm(totals, 0.0, 2.0)
    assert mean_norm(totals) == 1.0


@quick
@given(st.lists(st.tuples(st.floats(0.1, 100), importances), min_size=1))
def test_the_mean_norm_is_weighted(pairs):
    totals = np.zeros(N_TOTALS)
    for norm, importance in pairs:
        count_norm(totals, norm, importance)
    norms, weights = zip(*pairs, strict=True)
    assert mean_norm(totals) == pytest.approx(np.average(norms, weights=weights))


def test_the_mean_norm_is_fixed_after_a_thousand_examples():
    assert NORM_FROZEN_AFTER == 1000
    totals = np.zeros(N_TOTALS)
    for norm in [1.0] * 999 + [1001.0]:
        count_norm(totals, norm, 0.5)
    assert mean_norm(totals) == pytest.approx(2.0)
    count_norm(totals, 1e9, 0.5)
    assert mean_norm(totals) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        (Squared(), 3.0),
        (Huber(), -40.0),
        (Poisson(), 0.0),
        (Poisson(), 1e6),
        (Hinge(), 1.0),
        (EpsilonInsensitive(), 7.0),
        (Logistic(), -1.0),
    ],
    ids=lambda value: getattr(value, "name", value),
)
@quick
@given(
    z=moderate,
    importance=importances,
    stiffness=st.floats(-9, 3).map(lambda power: 10.0**power),
)
def test_an_implicit_step_is_where_pull_and_spring_balance(
    loss, y, z, importance, stiffness
):
    t = balance(loss, y, np.array([z]), importance, stiffness)

    def cost(t):
        loss_there = value_of(loss, y, np.array([z + t]))
        return importance * loss_there + stiffness * t * t / 2

    here = cost(t)
    for step in (1e-4, 1e-2, 1.0):
        for other in (t - step, t + step):
            assert here <= cost(other) + 1e-12 * max(1.0, abs(here))


@pytest.mark.parametrize("rate", [0.0, 0.5])
@pytest.mark.parametrize(
    "loss", [Squared(), Huber(), Poisson()], ids=lambda loss: loss.name
)
@quick
@given(labels=st.lists(st.integers(0, 50), min_size=1))
def test_bias_steps_equal_the_reference(loss, rate, labels):
    bias, scale, totals = np.zeros(1), np.zeros(1), np.zeros(N_TOTALS)
    slow_bias, slow_scale, slow = np.zeros(1), np.zeros(1), reference.Totals()
    pulls, curvatures = np.empty(1), np.empty(1)
    for y in map(float, labels):
        z = bias.copy()
        judge(loss, y, z, 2.0, totals, pulls, curvatures)
        bias_step(loss, (y, 2.0), rate, bias, scale, z, pulls, curvatures)
        slow_z = slow_bias.copy()
        asked = reference.judge(loss, y, slow_z, 2.0, slow)
        asked = reference.bias_step(
            loss, y, 2.0, rate, slow_bias, slow_scale, slow_z, *asked
        )
        np.testing.assert_allclose(z, slow_z, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose((pulls, curvatures), asked, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(bias, slow_bias, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scale, slow_scale, rtol=1e-9)


def followed(loss, labels):
    """Bias after a stream of labels without features, and the last pulls."""
    bias, scale, totals = np.zeros(1), np.zeros(1), np.zeros(N_TOTALS)
    pulls, curvatures = np.empty(1), np.empty(1)
    for y in labels:
        z = bias.copy()
        judge(loss, y, z, 1.0, totals, pulls, curvatures)
        bias_step(loss, (y, 1.0), 0.0, bias, scale, z, pulls, curvatures)
    return bias[0], pulls[0]


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_implicit_steps_of_the_squared_loss_follow_the_mean_in_any_unit(unit):
    y = unit * np.random.default_rng(0).normal(3.0, 1.0, 500)
    assert followed(Squared(), y)[0] == pytest.approx(y.mean(), rel=1e-8)


@pytest.mark.parametrize("loss", [Huber(), EpsilonInsensitive(), Squared()])
def test_the_first_example_is_left_to_the_bias(loss):
    bias, pull = followed(loss, [1e4])
    assert bias == pytest.approx(1e4, abs=0.2)
    assert abs(pull) < 1e-4


def test_implicit_steps_bring_counts_to_their_logarithm():
    y = np.random.default_rng(0).poisson(20.0, 500)
    assert followed(Poisson(), y)[0] == pytest.approx(np.log(20.0), abs=0.1)


@pytest.mark.parametrize("name", ["poisson", "hinge", "epsilon_insensitive"])
def test_losses_of_unbounded_curvature_call_for_caution(name):
    assert is_cautious(get_loss(name))


@pytest.mark.parametrize("name", ["squared", "logistic", "softmax", "huber"])
def test_losses_of_bounded_curvature_do_not(name):
    assert not is_cautious(get_loss(name))
