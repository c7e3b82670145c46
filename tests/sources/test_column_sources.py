"""Sources of columns: the same blocks, names and ids from whatever holds them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shortlist import DataError, ShortlistError
from shortlist._protocols import ColumnSource
from shortlist.sources import (
    ArrayColumns,
    FrameColumns,
    FrameSource,
    NpyColumns,
    ParquetColumns,
    StreamColumns,
    open_columns,
)

NAMES = [f"gene {j}" for j in range(7)]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(11, 7)).round(2)


def as_pairs(X):
    return list(zip(NAMES, X.T, strict=True))


def in_folder(X, folder):
    for name, column in as_pairs(X):
        np.save(folder / f"{name}.npy", column)
    (folder / "README").write_text("not a column")
    return folder


def in_file(X, path):
    table = pa.table(dict(as_pairs(X)))
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=4)
    else:
        pa.feather.write_feather(table, str(path), chunksize=4)
    return path


def in_map(X, path):
    np.save(path, X)
    return np.load(path, mmap_mode="r")


#: Ways to hold the same named columns.
HOLD = {
    "C order": lambda X, tmp: ArrayColumns(np.ascontiguousarray(X), NAMES),
    "Fortran order": lambda X, tmp: ArrayColumns(np.asfortranarray(X), NAMES),
    "strided": lambda X, tmp: ArrayColumns(np.repeat(X, 2, axis=1)[:, ::2], NAMES),
    "memory map": lambda X, tmp: ArrayColumns(in_map(X, tmp / "X.npy"), NAMES),
    "csc": lambda X, tmp: ArrayColumns(sparse.csc_array(X), NAMES),
    "csr": lambda X, tmp: ArrayColumns(sparse.csr_matrix(X), NAMES),
    "pandas": lambda X, tmp: FrameColumns(pd.DataFrame(X, columns=NAMES)),
    "polars": lambda X, tmp: open_columns(pl.DataFrame(dict(as_pairs(X)))),
    "npy": lambda X, tmp: open_columns(in_folder(X, tmp)),
    "parquet": lambda X, tmp: open_columns(in_file(X, tmp / "X.parquet")),
    "arrow": lambda X, tmp: open_columns(in_file(X, tmp / "X.arrow")),
    "list": lambda X, tmp: open_columns(as_pairs(X)),
    "function": lambda X, tmp: open_columns(lambda: iter(as_pairs(X))),
    "generator": lambda X, tmp: open_columns(iter(as_pairs(X))),
}


@pytest.mark.parametrize("kind", HOLD)
@pytest.mark.parametrize("width", [1, 3, 100])
def test_all_hold_the_same_columns(X, tmp_path, kind, width):
    source = HOLD[kind](X, tmp_path)
    source.block_columns = width
    assert isinstance(source, ColumnSource)
    blocks = list(source.blocks())
    assert [len(b.names) for b in blocks[:-1]] == [width] * (len(blocks) - 1)
    assert [name for b in blocks for name in b.names] == NAMES
    assert blocks[-1].position == 7
    values = np.concatenate([b.values for b in blocks])
    assert all(b.values.flags.c_contiguous for b in blocks)
    np.testing.assert_array_equal(values, X.T)
    expected = FrameSource(pd.DataFrame(X, columns=NAMES)).ids(NAMES)
    np.testing.assert_array_equal(np.concatenate([b.ids for b in blocks]), expected)
    assert source.n_rows == 11


@pytest.mark.parametrize("kind", [k for k in HOLD if k != "generator"])
def test_chosen_columns_come_by_name_and_number_as_often_as_wanted(X, tmp_path, kind):
    source = HOLD[kind](X, tmp_path)
    for _ in range(2):
        block = source.take(["gene 5", 0, "gene 2", 5])
        assert list(block.names) == ["gene 5", "gene 0", "gene 2", "gene 5"]
        np.testing.assert_array_equal(block.values, X.T[[5, 0, 2, 5]])
    with pytest.raises(DataError, match="gene 8"):
        source.take(["gene 8"])


@pytest.mark.parametrize(
    "kind", [k for k in HOLD if k not in ("function", "generator")]
)
def test_sources_travel_to_other_processes(X, tmp_path, kind):
    source = pickle.loads(pickle.dumps(HOLD[kind](X, tmp_path)))
    block = source.take(["gene 5", 0])
    assert list(block.names) == ["gene 5", "gene 0"]
    np.testing.assert_array_equal(block.values, X.T[[5, 0]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_of_a_memory_map_only_its_place_travels(tmp_path, order):
    X = np.arange(120_000.0).reshape(300, 400, order=order)
    mapped = in_map(X, tmp_path / "X.npy")
    sent = pickle.dumps(ArrayColumns(mapped))
    assert len(sent) < 2_000
    np.testing.assert_array_equal(pickle.loads(sent).take([7]).values, X.T[[7]])
    part = pickle.dumps(ArrayColumns(mapped[:, 100:]))  # which has no place of its own
    np.testing.assert_array_equal(pickle.loads(part).take([7]).values, X.T[[107]])


def test_a_generator_says_that_it_is_spent(X):
    source = StreamColumns(iter(as_pairs(X)))
    assert not source.reiterable
    assert source.n_rows is None
    list(source.blocks())
    for again in (source.blocks, lambda: source.take([1])):
        with pytest.raises(ShortlistError, match="gives its columns once"):
            again()


def test_a_dictionary_has_columns_by_their_names():
    source = open_columns({"a": [1.0, 2.0], "b": [np.nan, 3.0]}, missing="zero")
    assert source.reiterable
    for _ in range(2):
        (block,) = source.blocks()
        assert block.names == ["a", "b"]
        assert block.values.tolist() == [[1.0, 2.0], [0.0, 3.0]]


def test_columns_of_arrays_without_names_are_numbered():
    block = ArrayColumns(np.eye(3)).take([2, "x1"])
    assert list(block.names) == ["x2", "x1"]
    assert block.ids.tolist() == [2, 1]


def test_entries_of_sparse_columns_that_repeat_add_up():
    X = sparse.csc_array((np.ones(3), [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(ArrayColumns(X).take([0, 1]).values, [[0, 2], [1, 0]])


@pytest.mark.parametrize("kind", HOLD)
def test_what_is_missing_is_reported_by_row_and_column(X, tmp_path, kind):
    X[4, 2] = np.nan
    with pytest.raises(DataError, match=r"row 4, column 'gene 2'.*missing='mean'"):
        list(HOLD[kind](X, tmp_path).blocks())


@settings(max_examples=30)
@given(
    st.sets(st.integers(0, 11), max_size=12),
    st.sampled_from(["mean", "zero"]),
)
def test_what_is_missing_is_filled_in(gaps, missing):
    column = np.arange(12.0) ** 2
    present = column[[i for i in range(12) if i not in gaps]]
    column[list(gaps)] = np.nan
    (filled,) = ArrayColumns(column[:, None], missing=missing).take([0]).values
    fill = present.mean() if missing == "mean" and len(present) else 0.0
    expected = np.where(np.isnan(column), fill, column)
    np.testing.assert_array_equal(filled, expected)


def test_infinite_numbers_are_never_filled_in():
    for missing in ("error", "mean", "zero"):
        with pytest.raises(DataError, match=r"row 1, column 'x0'.*got inf$"):
            ArrayColumns([[1.0], [np.inf]], missing=missing).take([0])


def test_large_numbers_are_not_taken_for_infinite_ones():
    assert ArrayColumns(np.full((4, 1), 1e308)).take([0]).values.max() == 1e308


def test_targets_of_tables_are_no_features(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "kind": ["x", "y"], "flag": [True, False]})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    for source in (FrameColumns(frame, "kind"), ParquetColumns(path, "kind")):
        assert source.y.tolist() == ["x", "y"]
        (block,) = source.blocks()
        assert list(block.names) == ["a", "flag"]
        np.testing.assert_array_equal(block.values, [[1, 2], [1, 0]])
    assert ParquetColumns(path, "a", columns=["flag"]).y.tolist() == [1, 2]


def test_a_target_among_npy_files_may_hold_text(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(2))
    np.save(tmp_path / "kind.npy", np.array(["x", "y"]))
    source = open_columns(tmp_path, target="kind")
    assert source.y.tolist() == ["x", "y"]
    assert source.n_columns == 1
    with pytest.raises(DataError, match=r"column 'kind': expected numbers, got <U1"):
        list(NpyColumns(tmp_path).blocks())


def test_text_is_refused_unless_left_out(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "kind": ["x", "y"]})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    for make in (FrameColumns, ParquetColumns):
        data = frame if make is FrameColumns else path
        with pytest.raises(DataError, match=r"column 'kind': expected numbers"):
            make(data)
        assert make(data, columns=["a"]).n_columns == 1
    assert ParquetColumns(path, leave_out=["kind"]).n_columns == 1
    with pytest.raises(DataError, match="kindd"):
        ParquetColumns(path, leave_out=["kindd"])
    for make in (FrameColumns, ParquetColumns):
        data = frame if make is FrameColumns else path
        with pytest.raises(DataError, match="kindd"):
            make(data, "kindd")


def test_bad_columns_are_refused_by_name(X, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    np.save(tmp_path / "b.npy", np.zeros(4))
    with pytest.raises(DataError, match="column 'b': expected 3 rows, got 4"):
        list(NpyColumns(tmp_path).blocks())
    (tmp_path / "b.npy").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"b\.npy: expected a sound \.npy file"):
        list(NpyColumns(tmp_path).blocks())
    bad = {
        "expected one number a row": [("a", [[1.0]])],
        "expected numbers, got <U1": [("a", ["b"])],
        "expected numbers, got objects": [("a", np.array([{}]))],
        "expected 1 rows, got 2": [("a", [1.0]), ("b", [1.0, 2.0])],
        "column 1: expected a pair of a name and a column, got ndarray": [
            ("a", [1.0]),
            np.array([2.0, 3.0]),
        ],
        "expected different names of columns, got 'a' twice": [("a", [1.0])] * 2,
    }
    for message, pairs in bad.items():
        with pytest.raises(DataError, match=message):
            list(StreamColumns(pairs).blocks())


def test_what_holds_no_columns_is_refused(tmp_path):
    (tmp_path / "data.csv").write_text("a,b")
    for data in (tmp_path / "data.csv", tmp_path / "none.npy", 3, tmp_path):
        with pytest.raises(DataError, match="expected"):
            open_columns(data)
    with pytest.raises(DataError, match="no options for a source"):
        open_columns(ArrayColumns(np.eye(2)), missing="zero")
    with pytest.raises(ShortlistError, match="missing: expected"):
        ArrayColumns(np.eye(2), missing="maybe")
    with pytest.raises(ShortlistError, match="block_columns"):
        ArrayColumns(np.eye(2), block_columns=0)


def test_files_are_found_from_other_folders(X, tmp_path, monkeypatch):
    folder = tmp_path / "columns"
    folder.mkdir()
    np.save(folder / "a.npy", X[:, 0])
    pd.DataFrame({"a": X[:, 0]}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.chdir(tmp_path)
    sources = [open_columns("columns"), open_columns("a.parquet")]
    assert [source.name for source in sources] == ["columns", "a.parquet"]
    monkeypatch.chdir("/")
    for source in sources:
        np.testing.assert_array_equal(source.take(["a"]).values[0], X[:, 0])


def test_the_many_columns_of_a_file_are_listed_once(X, tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    path = tmp_path / "wide.parquet"
    pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).to_parquet(path)
    source, given, real = open_columns(path), [], pq.ParquetFile

    def spying(path, *, metadata=None, **options):
        given.append(metadata)
        return real(path, metadata=metadata, **options)

    monkeypatch.setattr(pq, "ParquetFile", spying)
    source.take(["c1"])
    source.take(["c0"])
    assert len(given) <= 1  # the file stays open
    pickle.loads(pickle.dumps(source)).take(["c1"])
    assert None not in given


def test_tables_of_arrow_keep_their_names_and_arrays_have_no_target(X, tmp_path):
    import pyarrow as pa

    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": X[:, 2]})
    source = open_columns(table, target="y")
    assert next(source.blocks()).names == ["a", "b"]
    np.testing.assert_array_equal(source.y, X[:, 2])
    np.save(tmp_path / "X.npy", X)
    for data in (tmp_path / "X.npy", X, lambda: iter([("a", X[:, 0])])):
        with pytest.raises(DataError, match="expected labels apart from the columns"):
            open_columns(data, target="y")
