"""Refits are exact while the rows are kept, stream beyond, and blocks do not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from reference.refit import Problem, SlowRefit
from reference.sketch import make_block, random_block, rows_of, split
from shortlist._refit import Refit, coordinates, keep, margins_of
from shortlist._steps import HITS, LOSS, ROWS, WEIGHT
from shortlist._targets import choose_target
from shortlist.losses import Hinge, Logistic, Softmax, Squared, SquaredHingeOvR

quick = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32)
cuts = st.lists(st.integers(1, 40))
SHARE, BIAS_RATE = 0.2, 0.5
# The rest of the losses differ in their formulas only, which other tests go through.
LOSSES = [Logistic(), Hinge(), Softmax()]
LABELS = {"sign": [-1.0, 1.0], "class": [0.0, 1.0, 2.0], "real": [0.5, 1.0]}
by_name = {"ids": lambda loss: loss.name}


def target_for(loss):
    return choose_target(loss, np.array(LABELS[loss.target]))


def some_coordinates(block, loss, seed=0, share=0.4):
    """Random (id, margin, weight) triples, some features at several margins."""
    rng = np.random.default_rng(seed)
    n_margins = target_for(loss).n_margins
    ids, margin = np.meshgrid(np.unique(block.ids), np.arange(n_margins))
    inside = rng.random(ids.shape) < share
    weight = rng.normal(size=inside.sum())
    return coordinates(ids[inside], margin[inside], weight, rng.normal(size=n_margins))


def start(loss, chosen, **options):
    """Refit on copies, so that one set of coordinates can start several."""
    chosen = type(chosen)(*(array.copy() for array in chosen))
    options = {"ridge_share": SHARE, "bias_rate": BIAS_RATE} | options
    return Refit(target_for(loss), chosen, **options)


def refitted(loss, chosen, blocks, **options):
    refit = start(loss, chosen, **options)
    for block in blocks:
        refit.step(refit.restricted(block))
    refit.finish()
    return refit


def pairs_of(chosen):
    return list(zip(chosen.id_of().tolist(), chosen.margin.tolist(), strict=True))


def assert_same_bits(one, other):
    assert one.exact == other.exact
    np.testing.assert_array_equal(one.totals, other.totals)
    for left, right in zip(one.chosen, other.chosen, strict=True):
        np.testing.assert_array_equal(left, right)


def test_coordinates_are_sorted_by_feature_then_margin():
    ids = np.array([9, 2**64 - 1, 9, 0], np.uint64)
    chosen = coordinates(
        ids, np.array([2, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(3)
    )
    assert chosen.ids.tolist() == [0, 9, 2**64 - 1]
    assert chosen.first.tolist() == [0, 1, 3, 4]
    assert pairs_of(chosen) == [(0, 1), (9, 1), (9, 2), (2**64 - 1, 0)]
    assert chosen.weight.tolist() == [4.0, 3.0, 1.0, 2.0]
    assert not chosen.information.any()


def test_keeping_some_coordinates_keeps_what_they_know():
    chosen = some_coordinates(random_block(0), Softmax())
    chosen.information[:] = np.arange(len(chosen.weight))
    which = np.arange(len(chosen.weight)) % 3 == 0
    smaller = keep(chosen, which)
    assert pairs_of(smaller) == pairs_of(chosen)[::3]
    np.testing.assert_array_equal(smaller.weight, chosen.weight[::3])
    np.testing.assert_array_equal(smaller.information, chosen.information[::3])
    np.testing.assert_array_equal(smaller.bias, chosen.bias)


@pytest.mark.parametrize("loss", [Logistic(), Softmax()], **by_name)
def test_margins_are_weights_times_values_plus_bias(loss):
    block = random_block(1, loss.target)
    chosen = some_coordinates(block, loss)
    weights = dict(zip(pairs_of(chosen), chosen.weight, strict=True))
    slow = SlowRefit(loss, weights, chosen.bias, ridge_share=SHARE, bias_rate=BIAS_RATE)
    expected = [slow.margins(ids, x) for ids, x, _, _ in rows_of(block)]
    np.testing.assert_allclose(margins_of(loss, chosen, block), expected, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, **by_name)
@quick
@given(seed=seeds, bias_rate=st.sampled_from([0.0, 0.5]))
def test_streaming_equals_the_reference(loss, seed, bias_rate):
    block = random_block(seed, loss.target)
    chosen = some_coordinates(block, loss, seed)
    weights = dict(zip(pairs_of(chosen), chosen.weight, strict=True))
    refit = refitted(loss, chosen, [block], bias_rate=bias_rate, exact_nnz=0)
    slow = SlowRefit(loss, weights, chosen.bias, ridge_share=SHARE, bias_rate=bias_rate)
    slow.learn(block)
    assert not refit.exact
    # Rounding alone: all is float64, in the same order.
    close = {"rtol": 1e-9, "atol": 1e-9}
    fitted = refit.chosen
    np.testing.assert_allclose(fitted.weight, list(slow.weights.values()), **close)
    known = list(slow.information.values())
    np.testing.assert_allclose(fitted.information, known, **close)
    evidence = list(slow.evidence.values())
    np.testing.assert_allclose(fitted.evidence, evidence, **close)
    np.testing.assert_allclose(fitted.bias, slow.bias, **close)
    np.testing.assert_allclose(fitted.bias_scale, slow.bias_scale, **close)
    totals = slow.totals
    expected = [totals.rows, totals.weight, totals.loss, totals.hits]
    counted = refit.totals[[ROWS, WEIGHT, LOSS, HITS]]
    np.testing.assert_allclose(counted, expected, **close)


@pytest.mark.parametrize(
    "loss", [Logistic(), Squared(), Softmax(), SquaredHingeOvR()], **by_name
)
def test_an_exact_refit_is_the_minimum(loss):
    block = random_block(2, loss.target)
    refit = refitted(loss, some_coordinates(block, loss, share=0.15), [block])
    fitted = refit.chosen
    problem = Problem(loss, pairs_of(fitted), len(fitted.bias), block, SHARE)
    weight, bias = problem.minimum()
    assert refit.exact
    np.testing.assert_allclose(refit.ridges(), problem.ridge)
    # As far as the general-purpose optimiser gets.
    np.testing.assert_allclose(fitted.weight, weight, rtol=1e-4, atol=1e-5)
    shift = (fitted.bias - bias).mean() if loss == Softmax() else 0.0
    np.testing.assert_allclose(fitted.bias - shift, bias, rtol=1e-4, atol=1e-5)
    best = problem.value(weight, bias)
    assert problem.value(fitted.weight, fitted.bias) <= best * (1 + 1e-12)


def test_an_exact_refit_of_the_hinge_has_no_better_neighbour():
    block = random_block(2, "sign")
    fitted = refitted(Hinge(), some_coordinates(block, Hinge()), [block]).chosen
    problem = Problem(Hinge(), pairs_of(fitted), 1, block, SHARE)
    reached = problem.value(fitted.weight, fitted.bias)
    rng = np.random.default_rng(0)
    for size in 10.0 ** rng.uniform(-6, 1, 500):  # convex: near suffices, but be sure
        direction = size * rng.normal(size=len(fitted.weight) + 1)
        there = problem.value(
            fitted.weight + direction[:-1], fitted.bias + direction[-1:]
        )
        assert reached <= there + 1e-7


def test_an_exact_refit_knows_the_information_at_the_minimum():
    block = make_block(
        [[(1, 2.0)], [(1, 1.0), (4, 3.0)], [(4, 1.0)]], [1, 2, 3], [1.0, 2.0, 0.0]
    )
    chosen = coordinates(
        np.array([1, 4], np.uint64), np.zeros(2, int), np.zeros(2), np.zeros(1)
    )
    fitted = refitted(Squared(), chosen, [block]).chosen
    # about the means 4 / 3 and 2
    np.testing.assert_allclose(fitted.information, [6 - 16 / 3, 18 - 36 / 3])
    np.testing.assert_allclose(fitted.evidence, fitted.information)


def test_evidence_is_information_on_the_way_to_the_minimum():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = np.where(3 * x + rng.logistic(size=400) > 0, 1, -1)
    start = coordinates(np.array([1], np.uint64), np.zeros(1), np.zeros(1), np.zeros(1))
    fitted = refitted(Logistic(), start, [make_block([[(1, v)] for v in x], y)]).chosen
    z, bias = fitted.weight * x + fitted.bias, fitted.bias[0]
    at = bias + np.linspace(0, 1, 1001)[:, None] * (z - bias)
    mean = (expit(at) * expit(-at)).mean(axis=0)
    h = np.maximum(mean, expit(z) * expit(-z))
    expected = h @ (x - np.average(x, weights=h)) ** 2
    assert fitted.evidence[0] == pytest.approx(expected, rel=0.1)
    assert fitted.evidence[0] > 1.3 * fitted.information[0]


def test_without_coordinates_only_the_bias_is_fitted():
    none = coordinates(
        np.empty(0, np.uint64), np.empty(0, int), np.empty(0), np.zeros(1)
    )
    block = make_block([[(1, 2.0)], [], [(3, 1.0)]], [1, 2, 6], [1, 1, 2])
    fitted = refitted(Squared(), none, [block]).chosen
    assert fitted.bias[0] == pytest.approx(15 / 4)


@pytest.mark.parametrize(
    "blocks", [[], [random_block(0)._replace(weight=np.zeros(40))]]
)
def test_without_examples_the_coordinates_stay_as_they_were(blocks):
    chosen = some_coordinates(random_block(0), Logistic())
    for exact_nnz in (0, 10**6):
        fitted = refitted(Logistic(), chosen, blocks, exact_nnz=exact_nnz).chosen
        np.testing.assert_array_equal(fitted.weight, chosen.weight)
        np.testing.assert_array_equal(fitted.bias, chosen.bias)


@pytest.mark.parametrize("loss", [Logistic(), Softmax()], **by_name)
@quick
@given(seed=seeds, cuts=cuts, share=st.sampled_from([0, 0.1, 0.5, 0.99, 1, 2]))
def test_block_boundaries_matter_neither_to_the_switch_nor_to_the_fit(
    loss, seed, cuts, share
):
    block = random_block(seed, loss.target)
    chosen = some_coordinates(block, loss, seed)
    nnz = int(np.isin(block.ids, chosen.ids).sum())
    whole, parts = (
        refitted(loss, chosen, blocks, exact_nnz=int(share * nnz))
        for blocks in ([block], split(block, cuts))
    )
    assert whole.exact == (nnz <= int(share * nnz))
    assert_same_bits(whole, parts)


def test_row_order_does_not_matter_to_an_exact_refit():
    block = random_block(4, "sign")
    chosen = some_coordinates(block, Logistic())
    backwards = split(block, range(40))[::-1]
    one, other = (
        refitted(Logistic(), chosen, blocks).chosen for blocks in ([block], backwards)
    )
    np.testing.assert_allclose(one.weight, other.weight, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.bias, other.bias, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", [Logistic(), Softmax()], **by_name)
@pytest.mark.parametrize("finished", [False, True])
@quick
@given(seed=seeds, cuts=cuts)
def test_a_narrowed_refit_equals_a_fresh_one_of_the_smaller_set(
    loss, finished, seed, cuts
):
    block = random_block(seed, loss.target)
    blocks = split(block, cuts)
    large = start(loss, some_coordinates(block, loss, seed))
    for part in blocks:
        large.step(large.restricted(part))
    if finished:
        large.finish()
    which = np.random.default_rng(seed).random(len(large.chosen.weight)) < 0.5
    smaller = keep(large.chosen, which)
    narrowed = large.narrowed(smaller)
    narrowed.finish()
    fresh = refitted(loss, smaller, blocks)
    assert narrowed.exact
    assert_same_bits(narrowed, fresh)


def test_a_loss_without_curvature_is_informed_by_a_parabola():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    start = coordinates(np.array([1], np.uint64), np.zeros(1), np.zeros(1), np.zeros(1))
    target = choose_target("hinge", y)
    refit = Refit(target, start, ridge_share=0.2, bias_rate=0.0)
    refit.step(refit.restricted(make_block([[(1, value)] for value in x], y)))
    refit.finish()
    z = refit.chosen.weight[0] * x + refit.chosen.bias[0]
    missed = y * z < 1
    assert 0 < missed.sum() < 60
    # slope^2 / (2 value), at most slope^2, which is 1
    bend = 1.0 / np.maximum(1.0, 2.0 * (1.0 - y * z)[missed])
    apart = x[missed] - np.average(x[missed], weights=bend)
    np.testing.assert_allclose(refit.chosen.information, [bend @ apart**2])


@pytest.mark.parametrize("shift", [0.0, 50.0, 2000.0])
def test_where_a_column_begins_does_not_matter_to_its_weight(shift):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    y = 3 * x[:, 0] - x[:, 1] + 0.1 * rng.normal(size=200)
    fits = []
    for begin in (0.0, shift):
        rows = [[(1, a + begin), (2, b)] for a, b in x]
        chosen = coordinates(
            np.array([1, 2], np.uint64), np.zeros(2, int), np.zeros(2), np.zeros(1)
        )
        fits.append(refitted(Squared(), chosen, [make_block(rows, y)]))
    plain, shifted = fits
    np.testing.assert_allclose(shifted.chosen.weight, plain.chosen.weight, rtol=1e-2)
    # errors are those of least squares with an intercept, for noise of size 1
    information = ((x - x.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(shifted.chosen.information, information, rtol=1e-6)
