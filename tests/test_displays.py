"""Pictures of results have their data as frames."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from shortlist import FoBa, FoBaCV, ShortlistError, select
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
    with pytest.raises(ShortlistError, match="'objective' or 'held_out', got 'x'"):
        fitted.plot_path(what="x")
    with pytest.raises(ShortlistError, match="by mission keeps no path"):
        make().plot_path()


@pytest.mark.parametrize("method", ["foba", "mission"])
def test_scores_of_budgets_are_drawn_with_their_errors_where_k_was_found(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    chosen = select(X, X[:, 3] - X[:, 8] > 0, "auto", method, budgets=(1, 2, 4))
    display = chosen.plot_path()
    scores = display.held_out
    assert scores["k"].tolist() == [1, 2, 4]
    metric = chosen.params["k_auto"]["metric"]
    np.testing.assert_array_equal(scores[metric], chosen.trace["budget_score"])
    np.testing.assert_array_equal(scores["error"], chosen.trace["budget_error"])
    alone = chosen.plot_path(what="held_out").ax_
    assert (display.ax_.get_ylabel() == "weight") == (method == "foba")
    for ax in (display.figure_.axes[-1], alone):
        (bars,) = ax.containers
        assert bars.lines[0].get_ydata().tolist() == scores[metric].tolist()
        assert ax.get_ylabel() == f"{metric}, held out"
    if method == "mission":
        assert display.frame.equals(scores)
        with pytest.raises(ShortlistError, match="keeps no path over budgets, only"):
            chosen.plot_path(what="objective")


def test_losses_of_cross_validation_are_drawn_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 8))
    display = FoBaCV(4, cv=3).fit(X, X[:, 3] - X[:, 5]).plot_path()
    assert display.held_out.columns.tolist() == ["k", "loss", "error"]
    assert display.figure_.axes[-1].get_ylabel() == "loss, held out"


def test_scores_that_nobody_knows_are_not_drawn(fitted):
    assert fitted.plot_path().held_out is None
    assert len(fitted.plot_path().figure_.axes) == 1
    with pytest.raises(ShortlistError, match="k='auto' does"):
        fitted.plot_path(what="held_out")


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
