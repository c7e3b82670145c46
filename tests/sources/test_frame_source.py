import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.kernels.name_hash import hash_names
from shortlist.sources import FrameSource, _columns, frames

COLUMNS = {
    "age": [31, 0, 47],
    "city": ["Bonn", "Oslo", "Bonn"],
    "tall": [True, False, True],
    "height": [1.5, 2.5, -0.25],
    "outcome": ["yes", "no", "yes"],
}
LIBRARIES = [pd.DataFrame, pl.DataFrame]
both = pytest.mark.parametrize("make", LIBRARIES, ids=["pandas", "polars"])


def rows(source):
    """Each row as a dictionary of names and values."""
    found = []
    for block in source.blocks():
        assert block.first_row == len(found)
        for i in range(block.n_rows):
            part = slice(block.indptr[i], block.indptr[i + 1])
            names = source.names(block.ids[part])
            found.append(dict(zip(names, block.values[part].tolist(), strict=True)))
        assert block.position == len(found)
    return found


def labels(source):
    return np.concatenate([block.y for block in source.blocks()]).tolist()


@both
@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_numbers_are_values_and_text_makes_features(make, block_rows):
    source = FrameSource(make(COLUMNS), "outcome", block_rows=block_rows)
    assert rows(source) == [
        {"age": 31, "city=Bonn": 1, "tall": 1, "height": 1.5},
        {"city=Oslo": 1, "height": 2.5},
        {"age": 47, "city=Bonn": 1, "tall": 1, "height": -0.25},
    ]
    assert source.label_names == ["no", "yes"]
    assert labels(source) == [1, 0, 1]


@both
def test_ids_do_not_depend_on_the_order_of_columns_or_on_other_values(make):
    first = FrameSource(make(COLUMNS), "outcome")
    backwards = dict(reversed(COLUMNS.items())) | {"city": ["Lima", "Bonn", "Rome"]}
    second = FrameSource(make(backwards), "outcome")
    rows(first), rows(second)
    names = ["age", "city=Bonn", "tall"]
    assert first.ids(names).tolist() == second.ids(names).tolist()
    assert first.ids(names).tolist() == hash_names(names).tolist()


def test_both_libraries_give_the_same_blocks():
    one = next(FrameSource(pd.DataFrame(COLUMNS), "outcome").blocks())
    two = next(FrameSource(pl.DataFrame(COLUMNS), "outcome").blocks())
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", "b"], dtype="str"),
        pd.Series(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype="string[pyarrow]"),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b"])),
    ],
    ids=lambda column: str(column.dtype),
)
def test_every_kind_of_text_column_makes_the_same_features(column):
    library = pd if isinstance(column, pd.Series) else pl
    source = FrameSource(library.DataFrame({"c": column}))
    assert rows(source) == [{"c=b": 1}, {"c=a": 1}, {"c=b": 1}]
    target = FrameSource(library.DataFrame({"c": column}), "c")
    assert (labels(target), target.label_names) == ([1, 0, 1], ["a", "b"])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 0, 3], dtype="int8"),
        pd.Series([1, 0, 3], dtype="Int64"),
        pd.Series([1, 0, 3], dtype="Float32"),
        pd.Series([1, 0, 3], dtype="int64[pyarrow]"),
        pl.Series([1, 0, 3], dtype=pl.UInt8),
        pl.Series([1, 0, 3], dtype=pl.Decimal(10, 2)),
    ],
    ids=lambda column: str(column.dtype),
)
def test_every_kind_of_number_column_keeps_its_values(column):
    library = pd if isinstance(column, pd.Series) else pl
    frame = library.DataFrame({"c": column})
    assert rows(FrameSource(frame)) == [{"c": 1}, {}, {"c": 3}]
    assert labels(FrameSource(frame, "c")) == [1, 0, 3]
    assert next(FrameSource(frame, weight="c").blocks()).weight.tolist() == [1, 0, 3]


def test_values_of_objects_are_named_by_their_text():
    frame = pd.DataFrame({"c": pd.Series([1, 1.0, True, [2]], dtype=object)})
    assert rows(FrameSource(frame)) == [
        {"c=1": 1},
        {"c=1.0": 1},
        {"c=True": 1},
        {"c=[2]": 1},
    ]


MISSING = {
    "numbers": [1.5, None, 2.5],
    "truths": [True, None, True],
    "text": ["a", None, "b"],
}


@both
@pytest.mark.parametrize("kind", MISSING)
def test_missing_values_follow_the_policy(make, kind):
    frame = make({"before": [1, 2, 3], "c": MISSING[kind]})
    if make is pd.DataFrame and kind == "truths":
        frame = frame.astype({"c": "boolean"})
    with pytest.raises(
        DataError, match="table: row 1, column 'c': expected a value, got none"
    ):
        rows(FrameSource(frame, block_rows=1))
    whole = rows(
        FrameSource(frame.iloc[[0, 2]] if make is pd.DataFrame else frame[[0, 2]])
    )
    left_out = rows(FrameSource(frame, missing="zero"))
    assert left_out == [whole[0], {"before": 2}, whole[1]]
    counted = FrameSource(frame, missing="category")
    assert rows(counted) == [whole[0], {"before": 2, "c=missing": 1}, whole[1]]
    assert counted.ids(["c=missing"]).tolist() == hash_names(["c=missing"]).tolist()


def test_not_a_number_is_missing_in_polars_too():
    frame = pl.DataFrame({"c": [1.0, float("nan")]})
    assert rows(FrameSource(frame, missing="zero")) == [{"c": 1}, {}]
    with pytest.raises(DataError, match="row 1, column 'c'"):
        rows(FrameSource(frame))


def test_a_column_of_nothing_is_missing_throughout():
    frame = pl.DataFrame({"c": [None, None]})
    assert rows(FrameSource(frame, missing="category")) == [{"c=missing": 1}] * 2


@both
def test_infinite_values_are_always_errors(make):
    frame = make({"c": [1.0, 2.0, np.inf]})
    with pytest.raises(
        DataError, match="row 2, column 'c': expected a finite number, got inf"
    ):
        rows(FrameSource(frame, missing="zero", block_rows=2))


@both
def test_labels_and_weights_may_come_as_arrays(make):
    frame = make({"a": [1, 2]})
    source = FrameSource(frame, ["u", "v"], weight=np.array([0.5, 2]))
    assert (labels(source), source.label_names) == ([0, 1], ["u", "v"])
    assert next(source.blocks()).weight.tolist() == [0.5, 2]
    assert np.isnan(labels(FrameSource(frame))).all()


@both
def test_a_missing_label_is_an_error_whatever_the_policy(make):
    for column in (["a", None], [1.5, None]):
        with pytest.raises(DataError, match="column 'y': row 1: expected a"):
            FrameSource(make({"x": [1, 2], "y": column}), "y", missing="category")


def test_wide_tables_come_in_small_blocks(monkeypatch):
    monkeypatch.setattr(frames, "_MAX_CELLS", 10)
    source = FrameSource(pd.DataFrame(np.ones((7, 3))))
    assert [block.n_rows for block in source.blocks()] == [3, 3, 1]
    assert rows(source)[0] == {"0": 1, "1": 1, "2": 1}


@both
def test_ids_of_names_need_not_have_been_seen(make):
    source = FrameSource(make(COLUMNS), "outcome")
    assert source.ids(["city=Lima"]).tolist() == hash_names(["city=Lima"]).tolist()
    assert source.names(source.ids(["city=Lima"])) == ["city=Lima"]
    for name in ("town=Bonn", "age=3", "age=missing", "outcome", "hight"):
        with pytest.raises(DataError, match="expected the name of a feature"):
            source.ids([name])
    with pytest.raises(DataError, match="nearest: 'height'"):
        source.ids(["hight"])
    with pytest.raises(DataError, match="expected ids of features seen so far, got 5"):
        source.names(np.array([5], np.uint64))


def test_names_with_the_same_hash_are_refused(monkeypatch):
    monkeypatch.setattr(
        _columns, "hash_bytes", lambda names, seed: np.full(len(names), 7, np.uint64)
    )
    with pytest.raises(DataError, match="'a' and 'b' have the same 64-bit hash"):
        FrameSource(pd.DataFrame({"a": [1], "b": [2]}))
    source = FrameSource(pd.DataFrame({"c": ["u", "v"]}))
    with pytest.raises(DataError, match="'c=u' and 'c=v' have the same 64-bit hash"):
        rows(source)


@pytest.mark.parametrize(
    ("frame", "options", "complaint"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "got 'a' twice"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), {}, "got '1' twice"),
        (
            pd.DataFrame({"t": [pd.Timedelta("1h")]}),
            {},
            "column 't': expected numbers or text",
        ),
        (
            pl.DataFrame({"t": [datetime.timedelta(hours=1)]}),
            {},
            "column 't': expected numbers or text",
        ),
        (pl.DataFrame({"t": [[1, 2]]}), {}, "column 't': expected numbers or text"),
        (
            pd.DataFrame({"a": ["u"], "a=u": [2]}),
            {},
            "column 'a=u': expected a name that no value",
        ),
        (
            pd.DataFrame({"a": [1], "a=missing": [2]}),
            {"missing": "category"},
            "column 'a=missing'",
        ),
        (
            pl.DataFrame({"a": [1]}).lazy(),
            {},
            "expected a DataFrame .* got polars.*LazyFrame",
        ),
        ({"a": [1]}, {}, "expected a DataFrame .* got builtins.dict"),
        (
            pd.DataFrame({"age": [1]}),
            {"target": "aged"},
            "target: .* got 'aged'; nearest: 'age'",
        ),
        (
            pd.DataFrame({"a": [1]}),
            {"weight": [-1]},
            "weight: row 0: expected 0 or more",
        ),
        (pd.DataFrame({"a": [1]}), {"missing": "mean"}, "missing: expected 'error' or"),
        (pd.DataFrame({"a": [1]}), {"block_rows": 0}, "block_rows: expected 1 or more"),
    ],
)
def test_bad_input_is_refused_at_once(frame, options, complaint):
    with pytest.raises(ShortlistError, match=complaint):
        FrameSource(frame, **options)


def test_it_is_a_row_source():
    source = FrameSource(pd.DataFrame(COLUMNS))
    assert isinstance(source, RowSource)
    assert (source.name, source.unit, source.reiterable) == ("table", "rows", True)
    assert (source.size, source.n_features, source.label_names) == (3, None, None)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_dates_and_times_are_text_as_those_of_parquet_are(library, tmp_path):
    from shortlist.sources import ParquetSource

    day = [datetime.date(2020, 1, 2), None]
    then = [datetime.datetime(2020, 1, 2, 3, 4, 5), datetime.datetime(1999, 1, 1)]
    frame = library.DataFrame({"d": day, "t": then, "y": [0, 1]})
    path = tmp_path / "dates.parquet"
    if library is pd:
        frame["n"] = pd.to_datetime([1, 1_000], unit="ns")
        frame["z"] = frame["t"].dt.tz_localize("Europe/Berlin")
        frame.to_parquet(path)
    else:
        frame.write_parquet(path)
    source = FrameSource(frame, "y", missing="zero")
    features = source.names(next(source.blocks()).ids)
    assert {"d=2020-01-02", "t=2020-01-02 03:04:05", "t=1999-01-01 00:00:00"} <= set(
        features
    )
    as_file = ParquetSource(path, "y", missing="zero")
    found = as_file.names(np.concatenate([b.ids for b in as_file.blocks()]))
    assert sorted(found) == sorted(features)
