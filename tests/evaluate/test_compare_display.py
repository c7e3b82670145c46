"""A comparison is a display of scikit-learn's kind, and takes pipelines."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shortlist import CompareDisplay, FoBa, ShortlistError, compare

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def table():
    """Columns 3 and 8 decide, column 0 hardly varies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    X[:, 0] *= 0.1
    return X, X[:, 3] - X[:, 8] > 0


def test_estimators_are_drawn_at_once_as_displays_of_scikit_learn_are(table):
    display = CompareDisplay.from_estimators(SelectKBest(), *table, ks=[1, 2], cv=3)
    assert display.figure_ is display.ax_.figure
    assert len(display.ax_.containers) == 3  # and the yardsticks
    ax = pyplot.figure().add_subplot()
    drawn = CompareDisplay.from_estimators(SelectKBest(), *table, ax=ax, ks=1, cv=3)
    assert drawn.ax_ is ax


def test_a_notebook_shows_the_verdict_and_the_means(table):
    display = compare(*table, ks=[1], methods={"<b>f": SelectKBest()}, cv=3)
    page = display._repr_html_()
    assert display.verdict().replace("<b>", "&lt;b&gt;") in page
    assert "<b>" not in page
    assert page.count("<tr") == 1 + 3


@pytest.mark.parametrize(
    "pipeline",
    [
        make_pipeline(StandardScaler(), SelectKBest()),
        make_pipeline(VarianceThreshold(0.5), "passthrough", SelectKBest()),
        make_pipeline(SelectKBest(k=8), FoBa(), StandardScaler(), LogisticRegression()),
    ],
)
def test_of_a_pipeline_the_last_selector_chooses(table, pipeline):
    display = compare(*table, ks=[2], methods=pipeline, cv=3)
    assert display.chosen("Pipeline", 2) == {"x3": 3, "x8": 3}


def test_pipelines_that_mix_columns_or_choose_none_are_refused(table):
    mixing = make_pipeline(PCA(5), SelectKBest())
    with pytest.raises(ShortlistError, match="'pca' makes others of them"):
        compare(*table, ks=[2], methods=mixing, cv=3)
    with pytest.raises(ShortlistError, match="should have a selector"):
        compare(*table, ks=[2], methods=make_pipeline(StandardScaler()), cv=3)
