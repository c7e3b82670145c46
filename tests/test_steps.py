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
    bias_step,
    caution_with,
    count_norm,
    is_hit,
    judge,
    mean_norm,
)
from shortlist.losses import (
    Hinge,
    Huber,
    Logistic,
    Softmax,
    Squared,
    get_loss,
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


def test_the_squared_slope_stands_in_for_a_missing_curvature():
    _, pulls, curvatures = judged(Hinge(), [(1.0, [0.0], 2.0)])
    assert (pulls[0], curvatures[0]) == (2.0, 2.0)
    _, pulls, curvatures = judged(Hinge(), [(1.0, [5.0], 2.0)])
    assert (pulls[0], curvatures[0]) == (0.0, 0.0)


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


@pytest.mark.parametrize("rate", [0.0, 0.5])
@quick
@given(steps=st.lists(st.tuples(moderate, st.floats(0, 5)), min_size=1))
def test_bias_steps_equal_the_reference(rate, steps):
    bias, scale = np.zeros(2), np.zeros(2)
    slow_bias, slow_scale = np.zeros(2), np.zeros(2)
    for pull, curvature in steps:
        pulls, curvatures = np.array([pull, -pull / 2]), np.array([curvature, 1.0])
        bias_step(rate, bias, scale, pulls, curvatures)
        reference.bias_step(rate, slow_bias, slow_scale, pulls, curvatures)
    np.testing.assert_allclose(bias, slow_bias, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scale, slow_scale, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e6])
def test_newton_steps_of_the_squared_loss_follow_the_mean_in_any_unit(unit):
    y = unit * np.random.default_rng(0).normal(3.0, 1.0, 500)
    bias, scale, totals = np.zeros(1), np.zeros(1), np.zeros(N_TOTALS)
    pulls, curvatures = np.empty(1), np.empty(1)
    for label in y:
        judge(Squared(), label, bias, 1.0, totals, pulls, curvatures)
        bias_step(0.0, bias, scale, pulls, curvatures)
    assert bias[0] == pytest.approx(y.mean(), rel=1e-4)


@pytest.mark.parametrize("name", ["poisson", "hinge", "epsilon_insensitive"])
def test_losses_of_unbounded_curvature_call_for_caution(name):
    assert caution_with(get_loss(name)) == 1.0


@pytest.mark.parametrize("name", ["squared", "logistic", "softmax", "huber"])
def test_losses_of_bounded_curvature_do_not(name):
    assert caution_with(get_loss(name)) == 0.0
