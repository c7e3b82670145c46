"""Columns far from zero are learned from as if they were not, also where rows stream."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.refit import SlowRefit
from reference.sketch import random_block, rows_of, split
from shortlist import Mission, _calibrating, _refit
from shortlist._centring import Centres, centres_of, completed
from shortlist._refit import Refit, coordinates, margins_of
from shortlist._targets import choose_target
from shortlist.engines import Interrupted, Keeper, load_snapshot, run
from shortlist.kernels.masking import mask_of, restrict
from shortlist.losses import Logistic, Softmax, Squared
from shortlist.sketch._mission import mission
from shortlist.sources import ArraySource

quick = settings(max_examples=15, deadline=None)
LABELS = {"sign": [-1.0, 1.0], "class": [0.0, 1.0, 2.0], "real": [0.5, 1.0]}
N_EXACT, N_ROWS = 4_000, 16_000
KINDS = ("time", "year", "row")


@pytest.fixture
def early(monkeypatch):
    """Let refits stream from a few thousand rows on."""
    for module, name in ((_calibrating, "FIRST"), (_refit, "EXACT_ROWS")):
        monkeypatch.setattr(module, name, N_EXACT)


def table(kind, n=N_ROWS, seed=0):
    """Columns that count, x3 that does not, an age that does, and a time that does not."""
    rng = np.random.default_rng(seed)
    age = rng.normal(45, 12, n)
    time = {
        "time": 1.7e9 + 3 * np.arange(n),
        "year": rng.integers(1990, 2025, n),
        "row": np.arange(n),
    }[kind]
    X = np.column_stack([rng.normal(size=(n, 4)), age, time.astype(float)])
    z = X[:, :3] @ [1.0, -1.0, 0.5] + 0.05 * (age - 45) + 1.0
    return X, z, rng


def restricted_rows(block, ids):
    return restrict(mask_of(ids), block)


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Softmax()], ids=str)
@quick
@given(seed=st.integers(0, 2**32))
def test_steps_about_running_means_equal_the_reference(loss, seed):
    block, rng = random_block(seed, loss.target), np.random.default_rng(seed)
    target = choose_target(loss, np.array(LABELS[loss.target]))
    ids = np.unique(block.ids)[:12].copy()
    at, margin = map(np.ravel, np.meshgrid(ids, np.arange(target.n_margins)))
    chosen = coordinates(
        at, margin, rng.normal(size=len(at)), np.zeros(target.n_margins)
    )
    pairs = zip(chosen.id_of().tolist(), chosen.margin.tolist(), strict=True)
    weights = dict(zip(pairs, chosen.weight.tolist(), strict=True))
    share = rng.random(len(ids))
    refit = Refit(target, chosen, ridge_share=0.2, bias_rate=0.3, exact=False)
    place = np.full(len(ids), -1, np.int32)
    place[[1, 4]] = 0, 1
    columns = np.array([1, 4], np.int32)
    refit.centres = Centres(place, columns, np.zeros(2), np.zeros(1))
    refit.share = share
    refit.step(refit.restricted(block))
    slow = SlowRefit(
        loss,
        weights,
        np.zeros(target.n_margins),
        ridge_share=0.2,
        bias_rate=0.0,
        centred=ids[columns].tolist(),
        share=dict(zip(ids.tolist(), share.tolist(), strict=True)),
    )
    slow.learn(block)
    close = {"rtol": 1e-8, "atol": 1e-8}
    known = list(slow.information.values())
    np.testing.assert_allclose(refit.chosen.information, known, **close)
    np.testing.assert_allclose(
        refit.chosen.weight, list(slow.weights.values()), **close
    )
    np.testing.assert_allclose(refit.chosen.bias, slow.bias, **close)
    # margins of values as they come are those of values about the means
    plain = refit.weighing(refit.chosen.weight)
    for i, (at, x, _, _) in enumerate(rows_of(block)):
        gone = sum(
            slow.weights[number, c] * mean * np.eye(target.n_margins)[c]
            for number, mean in slow.means.items()
            for c in range(target.n_margins)
        )
        expected = slow.margins(at, x) - gone
        np.testing.assert_allclose(margins_of(loss, plain, block)[i], expected, **close)


def test_rows_are_completed_with_zeros():
    block = random_block(3)
    ids = np.unique(block.ids)[:8].copy()
    rows = restricted_rows(block, ids)
    place = np.array([-1, 1, -1, 0, -1, -1, -1, -1], np.int32)
    centres = Centres(place, np.array([3, 1], np.int32), np.zeros(2), np.zeros(1))
    full = completed(centres, rows)
    for i in range(len(rows.y)):
        old, new = np.zeros(8), np.zeros(8)
        for which, out in ((rows, old), (full, new)):
            part = slice(which.indptr[i], which.indptr[i + 1])
            np.add.at(out, which.columns[part], which.values[part])
        np.testing.assert_array_equal(old, new)
        assert full.columns[full.indptr[i] : full.indptr[i] + 2].tolist() == [3, 1]


def test_columns_around_zero_and_sparse_ones_are_left_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[:, 1] = rng.random(500) < 0.3
    (block,) = ArraySource(X, rng.normal(size=500)).blocks()
    assert centres_of(restricted_rows(block, np.arange(3, dtype=np.uint64)), 3) is None
    X[:, 2] += 10
    (block,) = ArraySource(X, rng.normal(size=500)).blocks()
    centres = centres_of(restricted_rows(block, np.arange(3, dtype=np.uint64)), 3)
    assert centres.columns.tolist() == [2]
    assert centres.mean[0] == pytest.approx(X[:, 2].mean())


@pytest.mark.parametrize("kind", KINDS)
def test_where_columns_begin_does_not_matter_to_refits_that_stream(kind, early):
    X, z, rng = table(kind)
    y = z + rng.logistic(size=len(z)) > 0
    few = Mission(k=3).fit(X, y)
    assert set(few.get_feature_names_out()) == {"x0", "x1", "x4"}
    streamed = Mission(k=6).fit(X, y).shortlist_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_refit, "EXACT_ROWS", N_ROWS)
        patch.setattr(_calibrating, "FIRST", N_ROWS)
        exact = Mission(k=6).fit(X, y).shortlist_
    weight, other = (s.weights[np.argsort(s.names)] for s in (streamed, exact))
    error, expected = (s.errors[np.argsort(s.names)] for s in (streamed, exact))
    assert (np.abs(weight - other) < 1.5 * expected).all()
    np.testing.assert_allclose(error, expected, rtol=0.25)
    assert streamed.names[np.argmin(streamed.scores)] in ("x3", "x5")


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_numbers_and_counts_are_followed_beside_a_time(loss, early):
    X, z, rng = table("time")
    y = z + rng.normal(size=len(z))
    if loss == "poisson":
        y = rng.poisson(np.exp(0.5 * z - 0.5)).astype(float)
    model = Mission(k=4, loss=loss).fit(X, y)
    assert set(model.get_feature_names_out()) == {"x0", "x1", "x2", "x4"}
    scale = 0.5 if loss == "poisson" else 1.0
    np.testing.assert_allclose(
        model.coef_.ravel()[:5], scale * np.array([1, -1, 0.5, 0, 0.05]), atol=0.05
    )


@pytest.mark.parametrize("loss", [Logistic(), Softmax()], ids=str)
@quick
@given(
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(1, 120)),
    share=st.sampled_from([0.6, 0.9]),
)
def test_block_boundaries_do_not_matter_to_centred_columns(loss, seed, cuts, share):
    block = random_block(seed, loss.target, n_rows=120)
    target = choose_target(loss, np.array(LABELS[loss.target]))
    ids = np.unique(block.ids)
    values = np.where(np.isin(block.ids, ids[:10]), block.values + 50.0, block.values)
    # one id in every row, so that there is something to centre
    first = block.indptr[:-1][np.diff(block.indptr) > 0]
    moved = block.ids.copy()
    moved[first] = np.uint64(2**63)
    values[first] = 1000.0 + np.arange(len(first))
    block = block._replace(ids=moved, values=values)
    ids = np.unique(moved)
    at, margin = map(np.ravel, np.meshgrid(ids, np.arange(target.n_margins)))
    fits = []
    for blocks in ([block], split(block, cuts)):
        chosen = coordinates(at, margin, np.zeros(len(at)), np.zeros(target.n_margins))
        n = int(share * len(values))
        refit = Refit(target, chosen, ridge_share=0.2, bias_rate=0.3, exact_nnz=n)
        for part in blocks:
            refit.step(refit.restricted(part))
        refit.finish()
        fits.append(refit)
    one, other = fits
    assert one.centres is not None
    for left, right in zip(
        (*one.chosen, *one.centres, one.totals),
        (*other.chosen, *other.centres, other.totals),
        strict=True,
    ):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("n_blocks", [17, 28, 44])
def test_a_refit_that_centres_goes_on_from_a_checkpoint(n_blocks, early, tmp_path):
    X, z, rng = table("row", 8_000)
    y = (z + rng.logistic(size=len(z)) > 0).astype(int)
    source = ArraySource(X, y, block_rows=500)  # sixteen blocks in each of three passes
    path, left = tmp_path / "checkpoint", iter(range(n_blocks))
    keeper = Keeper(path, {}, wants_stop=lambda: next(left, None) is None)
    with pytest.raises(Interrupted):
        run(mission(4), source, keeper=keeper)
    resumed = run(mission(4), source, resume=load_snapshot(path, {}))
    assert resumed == run(mission(4), source)
