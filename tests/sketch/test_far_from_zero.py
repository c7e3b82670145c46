"""One pass over columns far from zero: ids that grow, ages beside categories."""

import numpy as np
import pytest

from shortlist._scoring import evaluate
from shortlist.engines import Interrupted, Keeper, load_snapshot, run
from shortlist.sketch._merging import Alike, merged
from shortlist.sketch._mission import mission
from shortlist.sources import ArraySource

N_ROWS, N_TEST = 20_000, 5_000
one_pass = pytest.mark.parametrize("recipe", ["newton", "shards"])


def table(kind="id"):
    """Two kinds and a number count, an id does not, and an age does."""
    rng = np.random.default_rng(0)
    n = N_ROWS + N_TEST
    kinds = np.eye(4)[rng.integers(0, 4, n)]
    number, z = rng.normal(size=n), kinds @ [1.0, 0.0, -1.0, 0.0]
    if kind == "id":
        column = np.r_[np.arange(N_ROWS), rng.integers(0, N_ROWS, N_TEST)].astype(float)
        y = (z + number + rng.logistic(size=n) > 0).astype(int)
    else:
        column = rng.integers(18, 80, n).astype(float)
        y = rng.poisson(np.exp(0.5 * z + 0.1 * number + 0.02 * (column - 45) + 0.3))
    return np.column_stack([column, kinds, number]), y


def rows(kind="id", **options):
    """Rows to learn from, and others."""
    X, y = table(kind)
    train = ArraySource(X[:N_ROWS], y[:N_ROWS], **options)
    return train, ArraySource(X[N_ROWS:], y[N_ROWS:])


@one_pass
def test_a_column_that_grows_is_neither_chosen_nor_harmful(recipe):
    train, test = rows()
    refitted = evaluate(run(mission(3), train), test)
    found = run(mission(3, recipe=recipe), train)
    assert set(found.names) == {"x1", "x3", "x5"}
    assert evaluate(found, test).loss < refitted.loss + 0.01
    everything = run(mission(6, recipe=recipe), train)
    assert evaluate(everything, test).loss < refitted.loss + 0.01
    assert everything.scores[everything.names.index("x0")] < 3.0


@one_pass
def test_counts_are_followed_beside_an_age(recipe):
    train, test = rows("age")
    settings = {"loss": "poisson", "recipe": recipe}
    found = run(mission(3, **settings), train)
    assert "x0" in found.names
    weight = dict(zip(found.names, found.weights, strict=True))
    assert weight["x0"] == pytest.approx(0.02, abs=0.002)
    refitted = evaluate(run(mission(3, loss="poisson"), train), test)
    assert evaluate(found, test).loss < refitted.loss + 0.02


@one_pass
def test_blocks_and_stops_do_not_change_a_bit(recipe, tmp_path):
    learner = mission(3, recipe=recipe)
    expected = run(learner, rows()[0])
    train, _ = rows(block_rows=777)
    path, left = tmp_path / "checkpoint", iter(range(11))
    keeper = Keeper(path, {}, wants_stop=lambda: next(left, None) is None)
    with pytest.raises(Interrupted):
        run(learner, train, keeper=keeper)
    assert run(learner, train, resume=load_snapshot(path, {})) == expected


class Learned:
    """A learner whose last state can be looked at."""

    def __init__(self, learner):
        self.learner = learner

    def __getattr__(self, name):
        return getattr(self.learner, name)

    def result(self, state, source):
        self.state = state
        return self.learner.result(state, source)


def test_shards_of_a_column_that_grows_add_up():
    train, test = rows()
    (X, y), half = table(), N_ROWS // 2
    learner = mission(3, recipe="shards")
    first = Learned(learner)
    run(first, ArraySource(X[:half], y[:half]))
    second = Learned(Alike(learner, first.state))
    run(second, ArraySource(X[half:N_ROWS], y[half:N_ROWS]))
    both = merged(learner, [first.state, second.state])
    assert both.model.centres.weight[0] == N_ROWS
    found = learner.result(both, train)
    assert set(found.names) == {"x1", "x3", "x5"}
    whole = evaluate(run(learner, train), test)
    assert evaluate(found, test).loss < whole.loss + 0.01
