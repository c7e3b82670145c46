"""Every registered loss obeys the same rules; registering one is enough to test it."""

import pickle

import numpy as np
import pytest
from numba import njit

from shortlist._protocols import ShortlistError
from shortlist.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Softmax,
    Squared,
    SquaredVector,
    curvature,
    curvature_into,
    get_loss,
    loss_class,
    loss_names,
    n_margins,
    register,
    response,
    response_into,
    slope,
    slope_into,
    spell,
    value,
    value_of,
)
from shortlist.losses.arrays import (
    curvature_product_into,
    curvature_products_into,
    curvatures_into,
    loss_along,
    mean_loss,
    slopes_into,
    total_loss,
)

LOSSES = [loss_class(name)() for name in loss_names()]
N_OUTPUTS = 3


def examples(loss, n=40, seed=0, spread=2.0):
    """Targets that the loss takes, and margins for them, of shape (n, C)."""
    rng = np.random.default_rng(seed)
    kind, C = type(loss), n_margins(loss, N_OUTPUTS)
    Z = spread * rng.normal(size=(n, C))
    if isinstance(loss, SquaredVector):
        return rng.normal(size=(n, C)), Z
    y = {
        "real": rng.normal(size=n),
        "sign": rng.choice([-1.0, 1.0], size=n),
        "count": rng.poisson(2.0, size=n).astype(float),
        "class": rng.integers(0, N_OUTPUTS, size=n).astype(float),
    }[kind.target]
    return y, Z


def slopes_of(loss, y, z):
    out = np.empty_like(z)
    slope_into(loss, y, z, out)
    return out


def curvatures_of(loss, y, z):
    out = np.empty_like(z)
    curvature_into(loss, y, z, out)
    return out


def steps(z, h):
    """Each margin in turn, moved up and down by h."""
    for c in range(len(z)):
        up, down = z.copy(), z.copy()
        up[c] += h
        down[c] -= h
        yield c, up, down


every_loss = pytest.mark.parametrize("loss", LOSSES, ids=spell)


@every_loss
def test_slope_is_the_derivative_of_the_value(loss):
    checked = 0
    for y, z in zip(*examples(loss), strict=True):
        exact = slopes_of(loss, y, z)
        for c, up, down in steps(z, 1e-6):
            left, right = slopes_of(loss, y, down)[c], slopes_of(loss, y, up)[c]
            if abs(right - left) > 1e-3 * (1.0 + abs(left)):
                continue  # a kink lies between
            rise = (value_of(loss, y, up) - value_of(loss, y, down)) / 2e-6
            assert rise == pytest.approx(exact[c], rel=1e-6, abs=1e-7)
            checked += 1
    assert checked > 30


@every_loss
def test_curvature_is_the_derivative_of_the_slope(loss):
    checked = 0
    for y, z in zip(*examples(loss), strict=True):
        exact = curvatures_of(loss, y, z)
        for c, up, down in steps(z, 1e-6):
            left = curvatures_of(loss, y, down)[c]
            right = curvatures_of(loss, y, up)[c]
            if abs(right - left) > 1e-3 * (1.0 + abs(left)):
                continue
            rise = (slopes_of(loss, y, up)[c] - slopes_of(loss, y, down)[c]) / 2e-6
            assert rise == pytest.approx(exact[c], rel=1e-6, abs=1e-7)
            checked += 1
    assert checked > 30


@every_loss
def test_curvature_product_is_the_derivative_of_the_slopes_along_a_direction(loss):
    rng = np.random.default_rng(1)
    for y, z in zip(*examples(loss), strict=True):
        v = rng.normal(size=len(z))
        exact = np.empty_like(z)
        curvature_product_into(loss, y, z, v, exact)
        up, down = slopes_of(loss, y, z + 1e-6 * v), slopes_of(loss, y, z - 1e-6 * v)
        np.testing.assert_allclose((up - down) / 2e-6, exact, rtol=1e-5, atol=1e-6)


@every_loss
def test_loss_is_convex(loss):
    y, A = examples(loss, seed=2)
    _, B = examples(loss, seed=3)
    for target, a, b in zip(y, A, B, strict=True):
        middle = value_of(loss, target, (a + b) / 2)
        ends = (value_of(loss, target, a) + value_of(loss, target, b)) / 2
        assert middle <= ends + 1e-12 * (1.0 + abs(ends))
        rise = (slopes_of(loss, target, a) - slopes_of(loss, target, b)) @ (a - b)
        assert rise >= -1e-12
        assert (curvatures_of(loss, target, a) >= 0.0).all()


@every_loss
def test_smoothness_bounds_the_curvature(loss):
    y, Z = examples(loss, n=200, seed=4)
    largest = max(curvatures_of(loss, t, z).max() for t, z in zip(y, Z, strict=True))
    assert largest <= type(loss).smoothness


@every_loss
def test_far_margins_stay_finite(loss):
    y, Z = examples(loss, seed=5, spread=1e3)
    for target, z in zip(y, Z, strict=True):
        assert np.isfinite(value_of(loss, target, z))
        assert np.isfinite(slopes_of(loss, target, z)).all()
        assert np.isfinite(curvatures_of(loss, target, z)).all()


@every_loss
def test_compiled_loops_equal_python(loss):
    y, Z = examples(loss)
    rng = np.random.default_rng(6)
    weight, V = rng.random(len(Z)), rng.normal(size=Z.shape)
    weight[::7] = 0.0
    values = [value_of(loss, t, z) for t, z in zip(y, Z, strict=True)]
    total = float(weight @ values)
    assert total_loss(loss, y, Z, weight) == pytest.approx(total, rel=1e-13)

    out, expected = np.empty_like(Z), np.empty_like(Z)
    slopes_into(loss, y, Z, weight, out)
    for i in range(len(Z)):
        slope_into(loss, y[i], Z[i], expected[i])
    np.testing.assert_allclose(out, weight[:, None] * expected, rtol=1e-13, atol=1e-15)
    curvatures_into(loss, y, Z, weight, out)
    for i in range(len(Z)):
        curvature_into(loss, y[i], Z[i], expected[i])
    np.testing.assert_allclose(out, weight[:, None] * expected, rtol=1e-13, atol=1e-15)
    curvature_products_into(loss, y, Z, V, weight, out)
    for i in range(len(Z)):
        curvature_product_into(loss, y[i], Z[i], V[i], expected[i])
    np.testing.assert_allclose(out, weight[:, None] * expected, rtol=1e-13, atol=1e-15)


@every_loss
def test_loss_along_a_line_is_the_loss_there_and_its_slope(loss):
    y, Z = examples(loss)
    rng = np.random.default_rng(7)
    weight, dZ = rng.random(len(Z)), rng.normal(size=Z.shape)
    total, rate = loss_along(loss, y, Z, dZ, 0.7, weight)
    there = Z + 0.7 * dZ
    slopes = np.empty_like(Z)
    slopes_into(loss, y, there, weight, slopes)
    assert total == pytest.approx(total_loss(loss, y, there, weight), rel=1e-13)
    assert rate == pytest.approx(float((slopes * dZ).sum()), rel=1e-12)


@every_loss
def test_an_example_of_weight_zero_may_hold_anything(loss):
    y, Z = examples(loss)
    weight, out = np.ones(len(Z)), np.empty_like(Z)
    weight[3], Z[3] = 0.0, np.inf
    assert np.isfinite(total_loss(loss, y, Z, weight))
    slopes_into(loss, y, Z, weight, out)
    assert (out[3] == 0.0).all()
    assert np.isfinite(out).all()


@njit
def responses(loss, Z, out):
    for i in range(len(Z)):
        response_into(loss, Z[i], out[i])


@every_loss
def test_response_is_the_same_compiled_and_a_probability_where_it_says_so(loss):
    _, Z = examples(loss)
    out, expected = np.empty_like(Z), np.empty_like(Z)
    responses(loss, Z, out)
    for z, row in zip(Z, expected, strict=True):
        response_into(loss, z, row)
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    if type(loss).has_probability:
        assert (out > 0.0).all()
        assert (out < 1.0).all()
    if type(loss).has_probability and type(loss).is_vector:
        np.testing.assert_allclose(out.sum(axis=1), 1.0)


@every_loss
def test_spelling_reads_back(loss):
    assert get_loss(spell(loss)) == loss
    assert get_loss(loss) is loss
    assert get_loss(type(loss).name.upper().replace("_", "-")) == type(loss)()


@every_loss
def test_losses_survive_pickling(loss):
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert type(again) is type(loss)


@every_loss
def test_losses_are_true_and_differ_by_type(loss):
    assert bool(loss)
    assert loss == type(loss)(*loss)
    assert hash(loss) == hash(type(loss)(*loss))
    assert loss != tuple(loss)
    others = [other for other in LOSSES if type(other) is not type(loss)]
    assert loss not in others
    assert len({hash(other) for other in LOSSES}) == len(LOSSES)


def test_pointwise_calls_equal_the_formulas():
    assert value(Squared(), 1.0, 3.0) == 2.0
    assert slope(Squared(), 1.0, 3.0) == 2.0
    assert value(Hinge(), -1.0, 0.5) == 1.5
    assert value(Logistic(), 1.0, 0.0) == pytest.approx(np.log(2.0))
    assert curvature(Logistic(), 1.0, 0.0) == 0.25
    assert response(Poisson(), 0.0) == 1.0
    assert slope(Huber(0.5), 0.0, 9.0) == 0.5
    assert value(EpsilonInsensitive(1.0), 0.0, 0.5) == 0.0


def test_squared_vector_sums_the_squared_losses_of_its_outputs():
    y, z = np.array([1.0, -1.0]), np.array([3.0, 0.0])
    assert value_of(SquaredVector(), y, z) == value(Squared(), 1.0, 3.0) + 0.5
    np.testing.assert_array_equal(slopes_of(SquaredVector(), y, z), [2.0, 1.0])
    np.testing.assert_array_equal(curvatures_of(SquaredVector(), y, z), [1.0, 1.0])


def test_mean_loss_divides_by_the_weights():
    y, Z, weight = np.array([0.0, 1.0]), np.array([[2.0], [1.0]]), np.array([1.0, 3.0])
    assert mean_loss(Squared(), y, Z, weight) == 2.0 / 4.0


def test_softmax_ignores_a_constant_added_to_all_margins():
    z = np.array([0.3, -1.0, 2.0])
    assert value_of(Softmax(), 1.0, z) == pytest.approx(
        value_of(Softmax(), 1.0, z + 500.0)
    )
    assert slopes_of(Softmax(), 1.0, z).sum() == pytest.approx(0.0, abs=1e-15)


def test_two_class_softmax_is_the_logistic_loss_of_the_difference():
    z = np.array([0.4, -0.9])
    expected = value(Logistic(), -1.0, z[1] - z[0])
    assert value_of(Softmax(), 0.0, z) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("ls", Squared()),
        ("LOG", Logistic()),
        ("l2-svm", loss_class("squared_hinge")()),
        ("huber:1.5", Huber(1.5)),
        ("svr:0", EpsilonInsensitive(0.0)),
        ("cross_entropy", Softmax()),
        ("squared_vector", SquaredVector()),
    ],
)
def test_names_aliases_and_parameters_are_understood(text, loss):
    assert get_loss(text) == loss


def test_parameters_tell_losses_of_a_kind_apart():
    assert Huber(1.0) != Huber(2.0)
    assert {Huber(1.0): "a", Huber(2.0): "b"}[Huber(2.0)] == "b"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("absolute", r"loss should be one of .*logistic.*, got 'absolute'"),
        ("huber:wide", r"loss should read huber:delta, got 'huber:wide'"),
        ("squared:1", r"loss should read squared, got 'squared:1'"),
        (3, r"loss should be a name or a loss, got 3"),
    ],
)
def test_a_wrong_loss_gets_one_clear_line(given, message):
    with pytest.raises(ShortlistError, match=message):
        get_loss(given)


def test_registering_half_a_loss_says_what_is_missing():
    class Half(tuple):
        _fields = ()

        @staticmethod
        def value(loss, y, z):
            return 0.0

    with pytest.raises(ShortlistError, match="Half lacks slope, curvature, response"):
        register("half", target="real")(Half)
    with pytest.raises(ShortlistError, match="target should be one of"):
        register("half", target="money")
    assert "half" not in loss_names()
