"""Models of halves that learn side by side from one stream."""

import numpy as np
import pytest

from shortlist import BARDA, Mission, ShortlistError, stability
from shortlist.engines import Interrupted, run
from shortlist.kernels.csr import draw_rows
from shortlist.resampling import _streams
from shortlist.resampling._streams import Resampled
from shortlist.sources import ArraySource


def table(n=600, p=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 3] - X[:, 8] + 0.5 * rng.normal(size=n) > 0, 1.0, 0.0)


class Counted(ArraySource):
    """A source that counts how often it is read, and may break off."""

    reads, stops_in = 0, None

    def blocks(self):
        self.reads += 1
        for number, block in enumerate(super().blocks()):
            if (self.reads, number) == self.stops_in:
                raise KeyboardInterrupt
            yield block


@pytest.mark.parametrize(
    "selector", [Mission(k=3), BARDA(k=3)], ids=["mission", "barda"]
)
def test_each_half_is_what_it_would_be_alone(selector):
    X, y = table()
    source = Counted(X, y, block_rows=128)
    learner = selector._learner()
    resampled = Resampled(learner, 3, 0.75, seed=4)
    carried = run(resampled, source)
    found = resampled.found
    alone_source = Counted(X, y, block_rows=128)
    alone = run(learner, alone_source)
    assert source.reads == alone_source.reads  # however many models there are
    assert carried.names == alone.names
    np.testing.assert_array_equal(carried.weights, alone.weights)
    counts = {}
    for pair, coin in enumerate(resampled._coins):
        heads = draw_rows(0, len(y), coin, 0.5)
        assert 230 < heads.sum() < 370
        for side, rows in enumerate([~heads, heads]):
            half = run(
                resampled._halves[2 * pair + side], ArraySource(X[rows], y[rows])
            )
            for name in half.names:
                counts[name] = counts.get(name, 0) + 1
    shares = dict(zip(found.names, found.shares.tolist(), strict=True))
    assert {n: s for n, s in shares.items() if s} == {
        n: c / 6 for n, c in counts.items()
    }
    assert shares["x3"] == shares["x8"] == 1.0
    assert carried.params["stability"]["features"] == 40


def test_blocks_do_not_matter_and_seeds_do():
    X, y = table()
    by_blocks = [
        stability(Mission(k=4), ArraySource(X, y, block_rows=n), n_resamples=4)
        for n in (50, 600)
    ]
    assert by_blocks[0].names == by_blocks[1].names
    np.testing.assert_array_equal(by_blocks[0].shares, by_blocks[1].shares)
    assert by_blocks[0].shortlist == by_blocks[1].shortlist
    other = stability(Mission(k=4), ArraySource(X, y), n_resamples=4, random_state=1)
    assert other.names != by_blocks[0].names


def test_ctrl_c_keeps_what_was_learned_by_then():
    X, y = table()
    source = Counted(X, y, block_rows=100)
    source.stops_in = (2, 4)  # its beginning is looked at first, then it is read
    told = []
    with pytest.raises(Interrupted) as stopped:
        stability(Mission(k=2), source, n_resamples=3, watch=lambda *n: told.append(n))
    assert told == [("explore", 100 * i, 600) for i in range(1, 5)]
    found = stopped.value.result
    assert found.shortlist.n_examples == 400
    assert set(found.stable()) == {"x3", "x8"}


def test_too_many_models_for_the_memory_are_refused(monkeypatch):
    X, y = table()
    monkeypatch.setattr(_streams, "_free_memory", lambda: 1e5)
    with pytest.raises(
        ShortlistError, match=r"are free: try \d+ pairs, or less memory"
    ):
        stability(Mission(k=2), ArraySource(X, y), n_resamples=500)


def test_a_source_has_labels_of_its_own():
    X, y = table()
    with pytest.raises(ShortlistError, match="a source of rows goes without groups"):
        stability(Mission(k=2), ArraySource(X, y), groups=y)
