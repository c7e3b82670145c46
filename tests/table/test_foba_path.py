"""One fit answers every smaller budget, and shows how it got there."""

import numpy as np
import pytest

from shortlist import FoBa, ShortlistError
from shortlist.objectives import GramObjective


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 40))
    X[:, 1:] += (
        0.7 * X[:, :-1]
    )  # neighbours are correlated, so that the walk turns back
    y = X[:, [4, 9, 20, 21, 33]] @ [1.0, -1.0, 1.0, 1.0, -1.0] + rng.normal(size=100)
    return X, y, FoBa(k=8).fit(X, y)


def test_every_size_has_its_best_support_with_refitted_weights(fitted):
    X, y, model = fitted
    objective = GramObjective(X, y)
    for size, point in model.path_.items():
        assert len(point.best.names) == len(point.latest.names) == size
        assert point.best.objective <= point.latest.objective
        for support in point:
            order = np.argsort(support.ids)
            columns = support.ids[order].astype(np.int64)
            fit = objective.refit(columns)
            assert support.objective == pytest.approx(fit.value)
            raw = fit.weights / objective.scale[columns]
            np.testing.assert_allclose(support.weights[order], raw, rtol=1e-8)
            assert support.names == tuple(f"x{j}" for j in support.ids)


def test_the_path_agrees_with_the_results_for_smaller_budgets(fitted):
    *_, model = fitted
    objectives = [point.best.objective for point in model.path_.values()]
    assert objectives == sorted(objectives, reverse=True)
    for k in range(1, 9):
        assert set(model.at(k).names) == set(model.path_[k].best.names)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_the_frame_has_a_row_for_each_weight(fitted, backend):
    *_, model = fitted
    frame = model.path_frame(backend)
    assert list(frame.columns) == [
        "size",
        "kind",
        "objective",
        "name",
        "id",
        "margin",
        "weight",
    ]
    assert len(frame) == 2 * sum(model.path_)
    rows = zip(frame["size"], frame["kind"], frame["name"], strict=True)
    best = [name for size, kind, name in rows if (size, kind) == (3, "best")]
    assert best == list(model.path_[3].best.names)


def test_an_unknown_backend_is_refused(fitted):
    with pytest.raises(ShortlistError, match="pandas"):
        fitted[-1].path_frame("spreadsheet")
