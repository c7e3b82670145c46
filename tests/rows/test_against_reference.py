"""All six methods against dense transcriptions of the papers, after every example."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import rows as slow
from reference.sketch import make_block, split
from shortlist._targets import Target
from shortlist.losses import Hinge, Logistic, Poisson, Softmax, Squared, SquaredHinge
from shortlist.rows._lazy_top import lazy_error
from shortlist.rows._methods import METHODS
from shortlist.rows._rule import RowsRule
from shortlist.rows._state import FADE, N_XI, Method

LOSSES = [SquaredHinge(), Softmax(), Squared()]
TARGETS = {"sign": (-1, 1), "class": (0, 1, 2), "real": None, "count": None}
SLOW = {
    "barda": slow.SlowBarda,
    "bamd": slow.SlowBamd,
    "ofs": slow.SlowOfs,
    "sofs": slow.SlowSofs,
    "l1arda": slow.SlowL1Arda,
    "adafobos": slow.SlowAdaFobos,
}
NO_IDS = np.empty(0, np.uint64)
D = 24
quick = settings(max_examples=8, deadline=None)
seeds, sizes = st.integers(0, 2**32), st.integers(1, 9)


def make_method(name, *, k, eta=0.3, lam=0.0, rho=1.0, naive=False, reserve=2):
    constants = (k, reserve, eta, lam, 0.01, 0.7, rho, naive, 0.0, 0)
    return Method(*METHODS[name], *constants)


def make_slow(name, target, *, k, eta=0.3, lam=0.0, rho=1.0, naive=False):
    options = {"k": k, "bias_rate": 0.3 if target.classes else 0.0}
    options |= {"gamma": 0.7} if name == "sofs" else {"eta": eta, "lam": lam}
    if name in ("barda", "bamd"):
        options |= {"rho": rho, "naive": naive}
    if name == "l1arda":
        options["rho"] = rho
    return SLOW[name](D, target.n_margins, **options)


def draw_rows(seed, kind, n_rows=40, ties=False):
    """Rows with repeated features, none, weight 0; with ties columns come in pairs."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in rng.integers(0, 8, n_rows):
        # ids grow, so that d does
        ids = rng.integers(0, 3 + (D - 3) * (len(rows) + 1) // n_rows, n)
        x = rng.choice([1.0, -1.0, 0.5], n) if ties else rng.normal(size=n)
        row = list(zip(ids, x, strict=True))
        rows.append(row + [(D - 1 - i, value) for i, value in row] * ties)
    y = {
        "real": 50 + 20 * rng.normal(size=n_rows),
        "sign": rng.choice([-1.0, 1.0], n_rows),
        "count": rng.poisson(2.0, n_rows),
        "class": rng.integers(0, 3, n_rows),
    }[kind]
    return make_block(rows, y, rng.choice([0.0, 0.5, 1.0, 2.0], n_rows))


def check(name, loss, seed, *, ties=False, scatter=1, **constants):
    """Compare weights, and so supports, after every row; return fast and slow."""
    target = Target(loss, TARGETS[loss.target], np.empty(0))
    reference = make_slow(name, target, **constants)
    rule = RowsRule(make_method(name, **constants))
    model = rule.create(target, None)
    block = draw_rows(seed, loss.target, ties=ties)
    for row in split(block, range(block.n_rows)):
        reference.learn(loss, row)
        rule.learn(model, target, row._replace(ids=row.ids * np.uint64(scatter)))
        found = rule.found(model, target, NO_IDS)
        for c, expected in enumerate(reference.unit(loss)[1] * reference.weights):
            here = found.margin == c
            weights = np.zeros(D)
            weights[(found.ids[here] // np.uint64(scatter)).astype(int)] = found.weight[
                here
            ]
            assert np.array_equal(weights != 0, expected != 0), (row.first_row, c)
            np.testing.assert_allclose(weights, expected, rtol=1e-7, atol=1e-12)
            assert np.count_nonzero(weights) <= constants["k"]
        np.testing.assert_allclose(model.state.bias, reference.bias, rtol=1e-6)
    return model, reference


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", ["barda", "bamd"])
@quick
@given(seeds, sizes, st.sampled_from([0.0, 0.05]), st.booleans(), st.booleans())
def test_truncation_is_exact_at_every_step(name, loss, seed, k, lam, naive, ties):
    check(name, loss, seed, k=k, lam=lam, naive=naive, ties=ties)


@pytest.mark.parametrize("name", ["barda", "bamd", "l1arda"])
@quick
@given(seeds, sizes, st.sampled_from([0.0, 0.05]), st.sampled_from([0.9, 0.999]))
def test_forgetting_is_discounting(name, seed, k, lam, rho):
    k = D if name == "l1arda" else k
    check(name, SquaredHinge(), seed, k=k, lam=lam, rho=rho)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", ["ofs", "sofs", "l1arda", "adafobos"])
@quick
@given(seeds, sizes, st.sampled_from([0.0, 0.05, 0.5]))
def test_peers_equal_their_transcriptions(name, loss, seed, k, lam):
    if name in ("l1arda", "adafobos"):
        k = D  # as many weights as there are
    check(name, loss, seed, k=k, lam=lam)


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Poisson()], ids=lambda x: x.name)
@pytest.mark.parametrize("name", SLOW)
def test_other_losses_step_alike(name, loss):
    for seed in range(3):
        check(name, loss, seed, k=D if "1" in name or name == "adafobos" else 4)


@quick
@given(seeds, sizes)
def test_scattered_ids_give_the_same(seed, k):
    # beyond what an array could hold: ids are then led to slots by a table
    check("barda", SquaredHinge(), seed, k=k, lam=0.01, scatter=2**58 + 3)


def test_sums_that_fade_are_written_anew_in_time():
    rng = np.random.default_rng(0)
    rows = [[(int(i), 1.0)] for i in rng.integers(0, D, 400)]
    block = make_block(rows, rng.choice([-1.0, 1.0], 400))
    target = Target(SquaredHinge(), (-1, 1), np.empty(0))
    for name in ("barda", "bamd", "l1arda"):
        k = D if name == "l1arda" else 5
        rule = RowsRule(make_method(name, k=k, rho=0.5))
        model, reference = (
            rule.create(target, D),
            make_slow(name, target, k=k, rho=0.5),
        )
        for row in split(block, range(400)):
            rule.learn(model, target, row)
            reference.learn(SquaredHinge(), row)
        found = rule.found(model, target, NO_IDS)
        weights = np.zeros(D)
        weights[found.ids.astype(int)] = found.weight
        expected = reference.weights[0]
        largest = np.abs(expected).max()
        # what has faded to nothing may be in or out
        np.testing.assert_allclose(weights, expected, rtol=1e-6, atol=1e-6 * largest)
        assert model.state.clock[FADE] > 1e-100


@pytest.mark.parametrize("lam", [0.0, 0.05])
def test_the_truncation_error_is_the_paper_s(lam):
    for seed in range(5):
        model, reference = check("barda", SquaredHinge(), seed, k=3, lam=lam)
        error = lazy_error(model.method, model.state, model.ids)
        assert error == pytest.approx(reference.xi, rel=1e-9)
        marks = model.state.xi[: int(model.state.clock[N_XI])]
        assert marks[:10, 0].tolist() == list(range(1, 11))
        assert marks[0, 1] <= marks[-1, 1]


def test_the_error_of_mirror_descent_is_a_mean_since_the_last_mark():
    block = draw_rows(3, "sign")
    target = Target(SquaredHinge(), (-1, 1), np.empty(0))
    rule = RowsRule(make_method("bamd", k=2))
    model, reference = rule.create(target, D), make_slow("bamd", target, k=2)
    errors = []
    for row in split(block, range(block.n_rows)):
        rule.learn(model, target, row)
        before = reference.totals.rows
        reference.learn(SquaredHinge(), row)
        errors += [reference.xi] * int(reference.totals.rows - before)
    marks = model.state.xi[: int(model.state.clock[N_XI])]
    begin = 0
    for rows, xi in marks:
        expected = np.mean(errors[begin : int(rows)])
        assert xi == pytest.approx(expected, rel=1e-9, abs=1e-15)
        begin = int(rows)


@quick
@given(seeds, st.lists(st.integers(1, 40)), st.sampled_from(sorted(SLOW)))
def test_blocks_do_not_matter(seed, cuts, name):
    block = draw_rows(seed, "sign")
    target = Target(SquaredHinge(), (-1, 1), np.empty(0))
    rule = RowsRule(make_method(name, k=4, lam=0.01))
    whole, parts = rule.create(target, None), rule.create(target, None)
    rule.learn(whole, target, block)
    for part in split(block, cuts):
        rule.learn(parts, target, part)
    one, other = (rule.history(model, target) for model in (whole, parts))
    assert one.keys() == other.keys()
    for key in one:
        np.testing.assert_array_equal(one[key], other[key])
