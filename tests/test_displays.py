"""Pictures of results have their data as frames."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from shortlist import FoBa, ShortlistError
from shortlist_samples import make, single

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 12))
    y = X[:, 3] - 2 * X[:, 8] + 0.3 * X[:, 5] + rng.normal(size=100)
    return FoBa(k=4).fit(X, y)


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_weights_are_drawn_with_errors_and_signs():
    display = make().plot_weights()
    frame = display.frame
    assert frame["name"].tolist() == ["price", "size", "price"]
    assert frame["class"].tolist() == ["a", "b", "b"]
    assert frame["weight"].tolist() == [1.25, 2.0, -0.5]
    assert labels(display.ax_) == ["a: price", "b: size", "b: price"]
    assert [bar.get_width() for bar in display.ax_.patches] == [1.25, 2.0, -0.5]
    assert display.figure_ is display.ax_.figure
    assert len(make().plot_weights(most=1).ax_.patches) == 2  # of each class
    assert repr(display) == "<WeightsDisplay of mission, 3 rows of data>"


def test_scores_are_drawn_where_there_are_no_weights():
    display = single(("a", "$b$"), weights=None).plot_weights()
    assert display.frame.columns.tolist() == ["name", "score"]
    assert labels(display.ax_) == ["a", r"\$b\$"]  # a name is no formula
    assert display.ax_.get_xlabel() == "score"


def test_a_path_has_every_budget(fitted):
    display = fitted.plot_path()
    frame = display.frame
    assert frame.groupby("k").size().tolist() == [1, 2, 3, 4]
    last = frame[frame["k"] == 4].set_index("name")["weight"]
    chosen = fitted.shortlist_.to_frame().set_index("name")["weight"]
    np.testing.assert_allclose(last[chosen.index], chosen, rtol=1e-6)
    named = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert named == set(fitted.shortlist_.names)
    assert len(fitted.plot_path(most=2).ax_.get_legend().get_texts()) == 2
    objective = fitted.plot_path(what="objective", ax=display.ax_)
    assert objective.ax_ is display.ax_
    steps = objective.frame.drop_duplicates("k")["objective"]
    assert (np.diff(steps) < 0).all()
    with pytest.raises(ShortlistError, match="'weight' or 'objective', got 'x'"):
        fitted.plot_path(what="x")
    with pytest.raises(ShortlistError, match="by mission keeps no path"):
        make().plot_path()


def test_selectors_draw_what_they_chose(fitted):
    display = fitted.plot_weights(most=2)
    assert labels(display.ax_) == list(fitted.shortlist_.names[:2])
    with pytest.raises(ShortlistError, match="does not say who was a member"):
        make().plot_membership()


def test_members_have_their_stays_as_a_frame():
    stays = {
        "stay_ids": np.array([7, 9, 7], np.uint64),
        "stay_margin": np.zeros(3, np.int64),
        "stay_entered": np.array([0, 2, 5]),
        "stay_left": np.array([4, 6, 9]),
    }
    one = single(("a",), ids=np.array([7]), trace=stays)
    display = one.plot_membership()
    assert display.frame.to_dict("list") == {
        "name": ["a", "a", "#9"],
        "entered": [0, 5, 2],
        "left": [4, 9, 6],
        "chosen": [True, True, False],
    }
    assert labels(display.ax_) == ["a", "#9"]
