import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.sources import ArraySource

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def to_dense(source):
    """The whole array again, and its labels and weights."""
    X = np.zeros((source.size, source.n_features))
    y, weight = [], []
    for block in source.blocks():
        assert block.first_row == len(y)
        assert (block.values != 0).all()
        for i in range(block.n_rows):
            part = slice(block.indptr[i], block.indptr[i + 1])
            np.add.at(X[len(y) + i], block.ids[part].astype(int), block.values[part])
        y.extend(block.y)
        weight.extend(block.weight)
        assert block.position == len(y)
    return X, y, weight


def example(n=7, d=4):
    X = np.random.default_rng(0).integers(-2, 3, (n, d)).astype(float)
    X[1] = 0
    return X


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.float16, np.float32, np.float64, object]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_rows_come_back(dtype, order):
    X = np.asarray(example().astype(dtype), order=order)
    X.flags.writeable = False
    source = ArraySource(X, np.arange(7), sample_weight=np.arange(7) / 2, block_rows=3)
    again, y, weight = to_dense(source)
    np.testing.assert_array_equal(again, X.astype(float))
    assert y == list(range(7))
    assert weight == [i / 2 for i in range(7)]


def test_memory_mapped_rows_come_back(tmp_path):
    np.save(tmp_path / "X.npy", example())
    source = ArraySource(np.load(tmp_path / "X.npy", mmap_mode="r"))
    np.testing.assert_array_equal(to_dense(source)[0], example())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.coo_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_come_back_in_every_format(form, kind, index):
    rows, columns = np.nonzero(example())
    values = example()[rows, columns].astype(np.float32)
    X = kind((values, (rows.astype(index), columns.astype(index))), (7, 4)).asformat(
        form
    )
    np.testing.assert_array_equal(to_dense(ArraySource(X, block_rows=2))[0], example())


def test_repeated_entries_add_up_and_explicit_zeros_go():
    X = sparse.csr_array(
        ([1.0, 2.0, 0.0, 4.0], [3, 3, 1, 0], [0, 3, 3, 4]), shape=(3, 4)
    )
    assert not X.has_canonical_format
    assert to_dense(ArraySource(X))[0].tolist() == [[0, 0, 0, 3], [0] * 4, [4, 0, 0, 0]]


@given(st.integers(0, 30), st.integers(1, 40), st.integers(0, 5))
@settings(deadline=None)
def test_rows_do_not_depend_on_the_block_size(n, block_rows, d):
    X = np.random.default_rng(n).integers(0, 3, (n, d))
    for data in (X, sparse.csr_array(X)):
        source = ArraySource(data, block_rows=block_rows)
        blocks = list(source.blocks())
        assert len(blocks) == -(-n // block_rows)
        np.testing.assert_array_equal(to_dense(source)[0], X)


def test_wide_dense_blocks_are_kept_small():
    source = ArraySource(np.broadcast_to(0.0, (64, 1 << 20)))
    assert [block.n_rows for block in source.blocks()] == [4] * 16


def test_columns_without_number_cost_nothing():
    columns = np.array([5, 2**59])
    X = sparse.csr_array(([1.0, 2.0], columns, [0, 1, 2]), shape=(2, 2**60))
    source = ArraySource(X)
    assert source.n_features == 2**60
    (block,) = source.blocks()
    assert block.ids.tolist() == [5, 2**59]
    assert source.names(block.ids) == ["x5", f"x{2**59}"]
    assert source.ids([f"x{2**59}"]).tolist() == [2**59]


def test_labels_are_numbers_or_codes_of_sorted_names():
    X = np.ones((3, 1))
    assert np.isnan(to_dense(ArraySource(X))[1]).all()
    named = ArraySource(X, ["pear", "apple", "pear"])
    assert named.label_names == ["apple", "pear"]
    assert to_dense(named)[1] == [1, 0, 1]
    assert ArraySource(X, [True, False, True]).label_names is None
    assert to_dense(ArraySource(X, np.array([1, 2.5, 3], object)))[1] == [1, 2.5, 3]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_missing_values_are_errors_that_name_row_and_column(make):
    X = example()
    X[5, 2] = np.nan
    source = ArraySource(
        make(X), block_rows=2, feature_names=list("abcd"), name="train"
    )
    with pytest.raises(
        DataError, match=r"train: row 5, column 'c': .* got nan; missing='zero'"
    ):
        list(source.blocks())
    source = ArraySource(make(X), missing="zero", block_rows=2)
    X[5, 2] = 0
    np.testing.assert_array_equal(to_dense(source)[0], X)


@pytest.mark.parametrize("missing", ["error", "zero"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_infinite_values_are_always_errors(make, missing):
    X = example()
    X[3, 1] = -np.inf
    with pytest.raises(DataError, match=r"array: row 3, column 'x1': .* got -inf$"):
        list(ArraySource(make(X), missing=missing).blocks())


def test_names_given_are_found_both_ways():
    source = ArraySource(example(), feature_names=["age", "height", "weight", "x9"])
    assert source.names(np.array([2, 0], np.uint64)) == ["weight", "age"]
    assert source.ids(["x9", "age"]).tolist() == [3, 0]
    with pytest.raises(DataError, match=r"got 'hight'; nearest: 'height', 'weight'"):
        source.ids(["hight"])
    with pytest.raises(DataError, match="expected ids below 4, got 4"):
        source.names(np.array([4], np.uint64))


@pytest.mark.parametrize("name", ["x4", "x-1", "x01", "y1", "x", "", "x²"])
def test_unknown_made_up_names_are_errors(name):
    with pytest.raises(DataError, match="from 'x0' to 'x3'"):
        ArraySource(example()).ids([name])


@pytest.mark.parametrize(
    ("X", "options", "complaint"),
    [
        (np.ones(3), {}, "expected rows and columns"),
        (np.ones((3, 1), complex), {}, "expected real numbers"),
        (np.array([["a"], ["b"], ["c"]]), {}, "expected real numbers"),
        (np.array([["a"], ["b"], ["c"]], object), {}, "expected numbers"),
        (np.ones((3, 1)), {"y": [1, 2]}, r"y: expected shape \(3,\), got \(2,\)"),
        (
            np.ones((3, 1)),
            {"y": [1, np.nan, 2]},
            "y: row 1: expected a number, got nan",
        ),
        (
            np.ones((3, 1)),
            {"y": ["a", None, "b"]},
            "y: row 1: expected a label, got None",
        ),
        (
            np.ones((3, 1)),
            {"sample_weight": [1, 1, -1]},
            "sample_weight: row 2: expected 0",
        ),
        (
            np.ones((3, 1)),
            {"sample_weight": list("abc")},
            "sample_weight: expected numbers",
        ),
        (np.ones((3, 1)), {"feature_names": ["a", "b"]}, "expected 1 names, got 2"),
        (np.ones((3, 2)), {"feature_names": ["a", "a"]}, "got 'a' twice"),
        (np.ones((3, 1)), {"missing": "drop"}, "missing: expected 'error' or 'zero'"),
        (np.ones((3, 1)), {"block_rows": 0}, "block_rows: expected 1 or more"),
    ],
)
def test_bad_input_is_refused_at_once(X, options, complaint):
    with pytest.raises(ShortlistError, match=complaint):
        ArraySource(X, **options)


def test_blocks_own_their_arrays():
    X, y = np.ones((3, 2)), np.ones(3)
    source = ArraySource(X, y, sample_weight=y)
    for array in next(source.blocks())[:5]:
        assert array.flags.writeable
        assert array.flags.c_contiguous
        array[:] = 0
    assert X.all()
    assert y.all()
    assert next(source.blocks()).weight.all()


def test_it_is_a_row_source():
    source = ArraySource(example(), name="train")
    assert isinstance(source, RowSource)
    assert (source.name, source.unit, source.reiterable) == ("train", "rows", True)
    assert (source.size, source.n_features, source.label_names) == (7, 4, None)
