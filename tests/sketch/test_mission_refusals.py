"""What MISSION refuses, and what stays when a run is stopped or breaks off."""

import numpy as np
import pytest
from scipy import sparse

from mission_samples import PassingRows, sparse_regression, sparse_stream
from shortlist import (
    ArraySource,
    DataError,
    Mission,
    ShortlistError,
)
from shortlist.engines import Broken, Interrupted, run
from shortlist.losses import Huber
from shortlist.sketch._mission import mission


def test_a_class_that_nobody_announced_is_refused():
    X, y = sparse_stream(7, n_classes=3)
    selector = Mission(4).partial_fit(X[y < 2], y[y < 2])
    with pytest.raises(ShortlistError, match="name them all in the first call"):
        selector.partial_fit(X[y == 2], y[y == 2])


def test_progress_is_reported_and_ctrl_c_keeps_what_was_learned():
    X, y = sparse_stream(8)
    seen = []

    def observe(progress):
        seen.append(progress)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        run(mission(4), ArraySource(X, y, block_rows=100), observe)
    assert [p.position for p in seen] == [100, 200, 300]
    assert [p.stage for p in seen] == ["explore"] * 3
    assert caught.value.result.n_examples == 300
    assert 1 <= caught.value.result.n_selected <= 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"recipe": "soup"}, "recipe should be one of"),
        ({"budget": "none"}, "budget should be"),
        ({"memory": "4 parsecs"}, "memory should be a size"),
        ({"memory": "1kB"}, "too small"),
        ({"rows": 4}, "rows should be odd"),
        ({"scale": "std"}, "scale should be"),
        ({"scale": "max_abs", "recipe": "paper"}, "knows no scales"),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings, message):
    X, y = sparse_stream(11, n_classes=3)
    with pytest.raises(ValueError, match=message) as caught:
        Mission(4, **settings).fit(X, y)
    assert "\n" not in str(caught.value)


def test_bad_data_in_mid_run_keeps_what_was_learned():
    X, y = sparse_stream(13, n=2000)
    y = y.astype(float)
    y[1900] = 7.0
    with pytest.raises(
        Broken, match="row 1900: expected one of the labels 0, 1"
    ) as stop:
        run(mission(4), PassingRows(X, y, block_rows=100))
    assert stop.value.result.n_examples == 1900
    y[500] = 7.0  # among the first thousand: nothing worth keeping yet
    with pytest.raises(DataError) as early:
        run(mission(4, classes=[0, 1]), PassingRows(X, y, block_rows=100))
    assert not isinstance(early.value, Broken)


def test_a_fit_that_breaks_off_leaves_what_was_learned():
    X, y = sparse_stream(15, n=2000)
    y = y.astype(float)
    y[1990] = 5.0
    selector = Mission(4)
    with pytest.raises(DataError, match="row 1990"):
        selector.fit_source(PassingRows(X, y, block_rows=50))
    assert selector.shortlist_.n_examples == 1950


def test_a_source_without_rows_is_refused(tmp_path):
    path = tmp_path / "empty.svm"
    path.write_text("# nothing\n")
    with pytest.raises(DataError, match="expected rows to learn from, got none"):
        Mission(2, loss="squared").fit_source(path)


@pytest.mark.parametrize(
    "settings", [{"passes": 0}, {"passes": 1.5}, {"seed": 1.5}, {"always": "x3"}]
)
def test_settings_of_the_wrong_kind_are_refused(settings):
    X, y = sparse_stream(16)
    with pytest.raises(ShortlistError, match=r"should be a (whole number|list)"):
        Mission(2, **settings).fit(X, y)
    with pytest.raises(ShortlistError, match="by always and by never"):
        Mission(2, always=[3], never=["x3"]).fit(X, y)


@pytest.mark.parametrize("loss", [Huber(0.0), Huber(float("nan"))])
def test_a_loss_with_parameters_that_make_no_sense_is_refused(loss):
    with pytest.raises(ShortlistError, match=r"Huber.*above 0"):
        Mission(k=2, loss=loss).fit(np.eye(4), np.arange(4.0))


def test_numbers_too_large_for_a_sketch_are_refused_with_their_row():
    y = np.array([0.1, 0.2, 1e31, 0.3])
    with pytest.raises(DataError, match=r"row 2: .* below 1e\+30 in size, got 1e\+31"):
        Mission(k=2, loss="squared").fit(np.eye(4), y)


@pytest.mark.parametrize("recipe", ["newton", "refit", "shards"])
def test_a_value_too_large_is_refused_in_its_row_and_costs_no_block_before(recipe):
    X, y = sparse_stream(13, n=2000)
    X.data[X.indptr[1930]] = -1e39
    source = PassingRows(X, y.astype(float), block_rows=100)
    with pytest.raises(
        Broken, match=r"row 1930: .* below 1e\+30 in size, got -1e\+39"
    ) as stop:
        run(mission(4, recipe=recipe, classes=[0, 1]), source)
    assert stop.value.result.n_examples == 1900
    assert 1 <= stop.value.result.n_selected <= 4


def test_ctrl_c_in_mid_refit_fits_to_the_rows_so_far():
    X, margins, planted = sparse_regression()
    source = ArraySource(X, margins, block_rows=1000)

    def observe(progress):
        if progress.stage == "refit" and progress.rows >= 4000:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        run(mission(10, loss="squared"), source, observe)
    result = stop.value.result
    assert set(result.ids.tolist()) == planted
    np.testing.assert_allclose(np.abs(result.weights), 1.0, atol=0.1)


def test_a_refused_call_leaves_the_model_alone(tmp_path):
    X, margins, _ = sparse_regression(n=500)
    model = Mission(k=3).fit(X, margins)
    before = model.predict(X)
    with pytest.raises(ShortlistError, match="k should be"):
        model.set_params(k=0).fit_source(tmp_path / "rows.svm")
    np.testing.assert_array_equal(model.predict(X), before)


def test_arrays_without_the_features_of_a_source_are_refused_in_one_line(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("1 | a b\n-1 | c b\n" * 20)
    fitted = Mission(2).fit_source(path)
    few = np.zeros((2, 3))
    for X in (few, sparse.csr_array(few), sparse.csc_array(few)):
        for method in (fitted.predict, fitted.transform, fitted.predict_proba):
            with pytest.raises(ShortlistError, match=r"expected a source.*3 columns"):
                method(X)
    numbered = tmp_path / "rows.svm"
    numbered.write_text("1 0:1 1:1\n-1 2:1 1:1\n" * 20)
    by_number = Mission(2).fit_source(numbered)
    assert by_number.predict(np.array([[1.0, 1, 0], [0, 1, 1]])).tolist() == [1, -1]


def test_a_frame_without_a_column_of_the_model_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0] * 20, "b": ["u", "v"] * 20})
    fitted = Mission(2).fit_source((frame, np.tile([0, 1], 20)))
    assert len(fitted.predict(frame)) == 40
    with pytest.raises(
        DataError, match=r"expected a column for 'b=.'.*columns are 'a'"
    ):
        fitted.predict(frame[["a"]])


def test_a_class_without_rows_is_noted():
    X, y = sparse_stream(3, n=300)
    fitted = Mission(4).fit_source(ArraySource(X, y.astype(float)), classes=[0, 1, 2])
    assert fitted.shortlist_.params["empty_classes"] == (2,)
    assert "class 2 has no rows to learn from" in fitted.shortlist_.notes


@pytest.mark.parametrize("factor", [1e-310, 1e-200, 1e-20, 1e20, 1e29])
def test_values_beyond_all_range_are_refused_and_nothing_else_is_said(factor):
    X, y = sparse_stream(5, n=300)
    with pytest.raises(DataError, match="too large, too small or too unequal"):
        Mission(4).fit(X * factor, y)


@pytest.mark.parametrize("weight", [1e300, 1e-300])
def test_weights_of_rows_that_have_no_squares_are_refused(weight):
    X, y = sparse_stream(5, n=300)
    with pytest.raises(DataError, match="expected weights of about 1, got 1e"):
        Mission(4).fit(X, y, sample_weight=np.full(300, weight))
    mixed = np.where(np.arange(300) % 2, 1.0, 1e-300)  # as boosting may have them
    assert len(Mission(4).fit(X, y, sample_weight=mixed).shortlist_)


@pytest.mark.parametrize("rows", [3.0, True, 2, 11, "3"])
def test_rows_of_a_sketch_are_an_odd_whole_number(rows):
    with pytest.raises(ShortlistError, match="rows should be odd"):
        Mission(2, rows=rows).fit(*sparse_stream(5, n=50))
