import datetime
import json
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.kernels.name_hash import hash_names
from shortlist.sources import (
    FrameSource,
    JsonlSource,
    ParquetSource,
    open_columns,
    open_source,
    parquet,
)


def rows(source):
    """Each row as label, weight and a dictionary; values of an id add up."""
    found = []
    for block in source.blocks():
        assert block.first_row == len(found)
        for i in range(block.n_rows):
            features = {}
            part = slice(block.indptr[i], block.indptr[i + 1])
            names = source.names(block.ids[part])
            for name, value in zip(names, block.values[part].tolist(), strict=True):
                features[name] = features.get(name, 0.0) + value
            found.append((block.y[i].item(), block.weight[i].item(), features))
    return found


def same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a[:2], b[:2])
        assert a[2] == b[2]


def write(path, table, form="parquet", **options):
    table = table if isinstance(table, pa.Table) else pa.table(table)
    if form == "parquet":
        pq.write_table(table, path, **options)
    else:
        new = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
        with new(path, table.schema) as file:
            file.write_table(table, **options)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.parquet"


CELL = st.one_of(st.none(), st.sampled_from(["Bonn", "Oslo, N", 'a "b"', "é\nu", "1"]))
NUMBER = st.one_of(
    st.none(), st.floats(-1e9, 1e9).map(lambda x: x if abs(x) > 1e-3 else 0.0)
)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            CELL,
            NUMBER,
            st.booleans(),
            st.integers(-(2**40), 2**40),
            st.sampled_from(["no", "yes"]),
            st.floats(0, 100),
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["zero", "category"]),
    st.integers(1, 5),
)
def test_a_frame_and_its_files_give_the_same_rows(
    tmp_path_factory, cells, missing, block_rows
):
    folder = tmp_path_factory.mktemp("tables")
    columns = ["city", "height", "tall", "count", "buys", "w"]
    frame = pd.DataFrame(cells, columns=columns).astype({"height": float})
    # whatever else is drawn, the column is of text in the CSV file too
    frame.loc[len(frame)] = ["Rome", 0.5, True, 1, "no", 1.0]
    frame = frame.astype({"tall": bool, "count": int})
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet", row_group_size=3)
    frame.to_feather(folder / "t.feather")
    options = {"target": "buys", "weight": "w", "missing": missing}
    expected = FrameSource(frame, **options)
    for name, size in (
        ("t.csv", {}),
        ("t.parquet", {"block_rows": block_rows}),
        ("t.feather", {"block_rows": block_rows}),
    ):
        source = open_source(folder / name, **options, **size)
        same(rows(source), rows(expected))
        assert source.label_names == expected.label_names
        ids = [
            np.sort(np.concatenate([b.ids for b in s.blocks()]))
            for s in (source, expected)
        ]
        np.testing.assert_array_equal(*ids)


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream"])
@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_lists_maps_and_pairs_make_features(path, form, block_rows):
    pair = pa.struct([("id", pa.int64()), ("value", pa.float32())])
    table = pa.table(
        {
            "ids": pa.array([[1, 2, 1], None, []], pa.list_(pa.int32())),
            "words": pa.array(
                [["a"], ["b", None], ["a", "a"]], pa.large_list(pa.string())
            ),
            "pairs": pa.array(
                [[{"id": 7, "value": 2.5}, {"id": 8, "value": 0}], [None], None],
                pa.list_(pair),
            ),
            "map": pa.array(
                [[("k", 1.5)], [], None], pa.map_(pa.string(), pa.float64())
            ),
            "two": pa.array([[1, 2], [3, 3], None], pa.list_(pa.int64(), 2)),
        }
    )
    source = ParquetSource(write(path, table, form), block_rows=block_rows)
    assert [row[2] for row in rows(source)] == [
        {"ids=1": 2, "ids=2": 1, "words=a": 1, "pairs=7": 2.5, "map=k": 1.5}
        | {"two=1": 1, "two=2": 1},
        {"words=b": 1, "two=3": 2},
        {"words=a": 2},
    ]
    counting = ParquetSource(path, missing="category", block_rows=block_rows)
    assert rows(counting)[2][2] == {
        name: 2.0 if name == "words=a" else 1.0
        for name in ("words=a", "pairs=missing", "map=missing", "two=missing")
    }
    assert rows(counting)[1][2] == {"ids=missing": 1, "words=b": 1, "two=3": 2}


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["b", "a", None], pa.large_string()),
        pa.array(["b", "a", None], pa.string_view()),
        pa.array(["b", "a", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["b", "a", None])),
    ],
    ids=lambda array: str(array.type)[:20],
)
def test_every_kind_of_text_makes_the_same_features(path, array):
    write(path, {"c": array}, "arrow")
    assert [row[2] for row in rows(ParquetSource(path))] == [{"c=b": 1}, {"c=a": 1}, {}]
    target = ParquetSource(path, "c")
    np.testing.assert_array_equal([row[0] for row in rows(target)], [1, 0, np.nan])
    assert target.label_names == ["a", "b"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 0, None], pa.uint8()),
        pa.array([1, 0, None], pa.int64()),
        pa.array([1, 0, None], pa.float16()),
        pa.array([1, 0, None], pa.decimal128(5, 2)),
        pa.array([True, False, None]),
    ],
    ids=lambda array: str(array.type),
)
def test_every_kind_of_number_keeps_its_value(path, array):
    write(path, {"c": array}, "arrow")
    assert [row[2] for row in rows(ParquetSource(path))] == [{"c": 1}, {}, {}]
    labels = [row[0] for row in rows(ParquetSource(path, "c"))]
    np.testing.assert_array_equal(labels, [1, 0, np.nan])


def test_codes_can_be_declared_text_and_columns_of_nothing_are_missing(path):
    write(path, {"zip": [1234, None], "n": pa.nulls(2)})
    source = ParquetSource(path, text=["zip"], missing="category")
    assert [row[2] for row in rows(source)] == [
        {"zip=1234": 1, "n=missing": 1},
        {"zip=missing": 1, "n=missing": 1},
    ]


@pytest.mark.parametrize(
    ("columns", "options", "complaint"),
    [
        (
            {"a": [1.0, np.inf]},
            {},
            "row 1: column 'a': expected a finite number, got inf",
        ),
        (
            {"a": [1.0, None]},
            {"missing": "error"},
            "row 1: column 'a': expected a value",
        ),
        (
            {"a": ["u", None]},
            {"missing": "error"},
            "row 1: column 'a': expected a value",
        ),
        ({"a": [1.0, -1.0]}, {"weight": "a"}, "row 1: column 'a': expected a weight"),
        ({"a": [1.0, np.inf]}, {"target": "a"}, "row 1: .* finite number as label"),
        (
            {"a": ["u", "v"]},
            {"target": "a", "labels": ["u"]},
            "row 1: .* one of the labels .* got v",
        ),
        (
            {
                "a": pa.array(
                    [[("k", 1.0)], [("k", np.inf)]], pa.map_(pa.string(), pa.float64())
                )
            },
            {},
            "row 1: column 'a': expected finite numbers",
        ),
    ],
)
@pytest.mark.parametrize("block_rows", [1, 100])
def test_a_bad_row_is_placed_or_skipped(path, columns, options, complaint, block_rows):
    write(path, columns)
    options = options | {"block_rows": block_rows}
    source = ParquetSource(path, **options)
    seen = []
    with pytest.raises(DataError, match=complaint):
        seen.extend(block.n_rows for block in source.blocks())
    assert sum(seen) == 1
    skipping = ParquetSource(path, on_error="skip", **options)
    assert len(rows(skipping)) == 1
    assert skipping.skipped == 1


@pytest.mark.parametrize(
    ("columns", "options", "complaint"),
    [
        (
            {"t": [b"bytes"]},
            {},
            "'t': expected numbers or text, got binary",
        ),
        ({"t": [[{"a": 1}]]}, {}, "got list<.*struct.*; convert it or"),
        ({"t": [[1.5]]}, {}, "got list<.*double>; convert it or leave it out"),
        ({"t": [b"x"]}, {}, "got binary"),
        ({"t": [[1]]}, {"target": "t"}, "'t': expected numbers or text"),
        ({"age": [1]}, {"target": "aged"}, "of a column, got 'aged'; nearest: 'age'"),
        ({"a": ["u"], "a=u": [2]}, {}, "column 'a=u': expected a name that no value"),
        ({"a": [1]}, {"missing": "mean"}, "missing: expected"),
        ({"a": [1]}, {"on_error": "stop"}, "on_error: expected"),
        ({"a": [1]}, {"block_rows": 0}, "block_rows: expected 1 or more"),
    ],
)
def test_bad_input_is_refused_at_once(path, columns, options, complaint):
    with pytest.raises(ShortlistError, match=complaint):
        ParquetSource(write(path, columns), **options)


def test_files_share_columns_and_rows_are_located(tmp_path):
    write(tmp_path / "a.parquet", {"x": [1.0, np.inf], "y": [0, 1]})
    write(tmp_path / "b.parquet", {"y": [1], "x": [3]})
    source = open_source(tmp_path / "*.parquet", target="y", on_error="skip")
    assert rows(source) == [(0, 1, {"x": 1}), (1, 1, {"x": 3})]
    assert source.locate(1) == f"{tmp_path}/b.parquet: row 0"
    last = list(source.blocks())[-1]
    assert last.position == source.size
    write(tmp_path / "b.parquet", {"x": ["3"], "y": [1]})
    with pytest.raises(
        DataError, match=r"b.parquet: column 'x': expected double .* str"
    ):
        open_source(tmp_path / "*.parquet")
    write(tmp_path / "b.parquet", {"y": [1]})
    with pytest.raises(DataError, match=r"b.parquet: expected a column 'x'"):
        open_source(tmp_path / "*.parquet")


def test_broken_files_and_pipes_are_refused(path, monkeypatch):
    write(path, {"a": list(range(1000))})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(
        DataError, match=r"expected a whole and sound Parquet file, got"
    ):
        ParquetSource(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(
        DataError, match=r"sound Parquet file, got: one that does not begin with PAR1"
    ):
        ParquetSource(path)
    with pytest.raises(DataError, match="a pipe cannot be read"):
        ParquetSource("-")


def test_without_pyarrow_it_says_what_to_install(path, monkeypatch):
    write(path, {"a": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ShortlistError, match=r"pip install shortlist\[parquet\]"):
        ParquetSource(path)


def test_names_that_are_not_kept_are_looked_up(path, monkeypatch):
    monkeypatch.setattr(parquet, "_MOST_NAMES", 3)
    write(path, {"a": [f"u{i}" for i in range(20)], "n": [1] * 20})
    source = ParquetSource(path, block_rows=5)
    ids = np.concatenate([block.ids for block in source.blocks()])
    assert source.names(ids[-2:]) == ["a=u19", "n"]
    assert source.names(np.array([5], np.uint64)) == ["#0000000000000005"]
    assert source.ids(["a=u3"]).tolist() == hash_names(["a=u3"]).tolist()
    with pytest.raises(DataError, match="expected the name of a feature"):
        source.ids(["b=u3"])


def test_only_the_columns_of_a_model_are_read_for_scoring(path):
    write(path, {"a": [1, 2], "t": [datetime.date(2020, 1, 1)] * 2, "y": ["u", "w"]})
    options = {"only": ["a"], "scoring": True, "labels": ["u", "v"]}
    source = ParquetSource(path, "y", weight="absent", **options)
    same(rows(source), [(0, 1, {"a": 1}), (np.nan, 1, {"a": 2})])
    assert ParquetSource(path, "absent", **options).target is None


def test_wide_tables_come_in_small_blocks(path, monkeypatch):
    monkeypatch.setattr(parquet, "_MAX_CELLS", 10)
    source = ParquetSource(write(path, {f"c{i}": [1.0] * 7 for i in range(3)}))
    assert [block.n_rows for block in source.blocks()] == [3, 3, 1]
    assert isinstance(source, RowSource)
    assert (source.unit, source.reiterable, source.n_features) == ("bytes", True, None)


def test_dates_and_times_are_text_as_in_csv(path):
    day, then = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5)
    table = {"d": [day, None], "t": [then, then], "n": [pd.Timestamp(1, unit="ns")] * 2}
    table["c"], table["y"] = (
        [datetime.time(7, 30)] * 2,
        [day, datetime.date(1999, 1, 1)],
    )
    source = ParquetSource(write(path, table), "y")
    features = {
        "d=2020-01-02": 1,
        "t=2020-01-02 03:04:05": 1,
        "n=1970-01-01 00:00:00": 1,
        "c=07:30:00": 1,
    }
    assert rows(source)[0][2] == features
    assert rows(source)[1][2].keys() == set(list(features)[1:])
    assert source.label_names == ["1999-01-01", "2020-01-02"]


def test_a_broken_file_is_called_what_its_name_says(tmp_path):
    for name, kind in (
        ("a.parquet", "Parquet"),
        ("a.PQ", "Parquet"),
        ("a.arrow", "Arrow"),
    ):
        (tmp_path / name).write_bytes(b"junk" * 9)
        with pytest.raises(DataError, match=f"expected a whole and sound {kind} file"):
            ParquetSource(tmp_path / name)


NESTED = {
    "a": [{"n": 1.5, "deep": {"town": "Bonn", "n": 2}}, None, {"n": 3.0, "deep": None}],
    "c": [1, 2, 3],
    "y": [0, 1, 0],
}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_fields_of_structs_are_columns_as_keys_of_json_are(tmp_path, ending):
    path = tmp_path / f"nested.{ending}"
    table = pa.table(NESTED)
    if ending == "parquet":
        pq.write_table(table, path)
    else:
        with (
            pa.OSFile(str(path), "wb") as out,
            pa.ipc.new_file(out, table.schema) as file,
        ):
            file.write_table(table)
    lines = tmp_path / "nested.jsonl"
    rows = [json.dumps(row) for row in table.to_pylist()]
    lines.write_text("".join(f"{row}\n" for row in rows).replace('"a": null, ', ""))
    ours, theirs = ParquetSource(path, "y"), JsonlSource(lines, "y")
    assert ours.columns == ("a.n", "a.deep.town", "a.deep.n", "c", "y")
    found = []
    for source in (ours, theirs):
        (block,) = source.blocks()
        starts, names = block.indptr.tolist(), source.names(block.ids)
        rows = zip(names, block.ids.tolist(), block.values.tolist(), strict=True)
        rows = list(rows)
        found.append([sorted(rows[i:j]) for i, j in pairwise(starts)])
    assert found[0] == found[1]
    assert [name for name, *_ in found[0][0]] == [
        "a.deep.n",
        "a.deep.town=Bonn",
        "a.n",
        "c",
    ]


def test_structs_are_left_out_by_name_and_may_have_the_target(tmp_path):
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table(NESTED), path)
    for name, left in (("a", ["c"]), ("a.deep", ["a.n", "c"])):
        source = ParquetSource(path, "y", leave_out=[name])
        (block,) = source.blocks()
        assert sorted(set(source.names(block.ids))) == left
        source.ids([name])  # --never names it, too
    source = ParquetSource(path, "a.deep.town", only=["a.n"])
    (block,) = source.blocks()
    assert source.label_names == ["Bonn"]
    assert set(source.names(block.ids)) == {"a.n"}


def test_a_field_and_a_column_of_the_same_name_are_refused(tmp_path):
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"a": [{"b": 1}], "a.b": [2], "y": [1]}), path)
    with pytest.raises(
        DataError, match=r"different names of columns, got 'a\.b' twice"
    ):
        ParquetSource(path, "y")


def test_columns_one_by_one_may_be_within_structs(tmp_path):
    path = tmp_path / "nested.parquet"
    pq.write_table(
        pa.table({"a": [{"b": 1, "c": 2}, {"b": 3, "c": 4}], "d": [5, 6]}), path
    )
    source = open_columns(path, target="d")
    (block,) = source.blocks()
    assert block.values.tolist() == [[1, 3], [2, 4]]
    assert source.take(["a.c"]).values.tolist() == [[2, 4]]
