import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from shortlist._protocols import DataError, ShortlistError
from shortlist.sources import (
    ArraySource,
    CsvSource,
    FrameSource,
    LibsvmSource,
    ParquetSource,
    VwSource,
    open_source,
)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rows.svm").write_text("1 2:3\n")
    return tmp_path / "rows.svm"


def test_paths_are_libsvm_text(path):
    for data in (path, str(path), [path], (str(path), path), path.parent / "*.svm"):
        source = open_source(data, block_bytes=100)
        assert isinstance(source, LibsvmSource)
        assert source.block_bytes == 100


@pytest.mark.parametrize("ending", ["vw", "VW", "vw.gz", "vw.bz2", "vw.zst"])
def test_paths_that_end_in_vw_are_vowpal_wabbit_text(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_text("1 | a\n")
    for data in (path, str(path), [path], tmp_path / "rows*", (path, str(path))):
        assert isinstance(open_source(data), VwSource)
    assert isinstance(open_source(path, input_format="libsvm"), LibsvmSource)


TABLES = {
    "csv": CsvSource,
    "CSV": CsvSource,
    "csv.gz": CsvSource,
    "tsv": CsvSource,
    "tsv.zst": CsvSource,
    "parquet": ParquetSource,
    "pq": ParquetSource,
    "arrow": ParquetSource,
    "feather": ParquetSource,
}


@pytest.mark.parametrize("ending", TABLES)
def test_paths_that_end_in_the_name_of_a_table_are_tables(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    frame = pd.DataFrame({"a": [1, 2], "b;c": [3, 4], "y": [5, 6]})
    if TABLES[ending] is CsvSource:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in ending else ",")
    elif ending in ("parquet", "pq"):
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
    source = open_source(path, target="y")
    assert isinstance(source, TABLES[ending])
    assert next(source.blocks()).y.tolist() == [5, 6]
    assert source.ids(["a", "b;c"]).tolist() == next(source.blocks()).ids[:2].tolist()


def test_options_of_other_formats_are_refused(path):
    with pytest.raises(ShortlistError, match=r"target= is no option .* libsvm; .* csv"):
        open_source(path, target="y")
    with pytest.raises(ShortlistError, match=r"taget= is no option .* vw\Z"):
        open_source(path, input_format="vw", taget="y")


@pytest.mark.parametrize("data", ["path", [[1.0]], pd.DataFrame({"a": [1.0]})])
def test_what_is_no_sequence_has_no_words_of_dna(path, data):
    with pytest.raises(ShortlistError, match=r"kmer= is no option .* FASTA and FASTQ"):
        open_source(path if isinstance(data, str) else data, kmer=5)


def test_the_format_can_be_said(path):
    assert isinstance(open_source(path, input_format="vw", seed=3), VwSource)
    assert isinstance(open_source("-"), LibsvmSource)
    assert isinstance(open_source("-", input_format="vw"), VwSource)
    with pytest.raises(ShortlistError, match=r"input_format: expected .* got 'svm'"):
        open_source(path, input_format="svm")


def test_files_of_two_formats_are_refused_unless_one_is_said(path):
    other = path.with_suffix(".vw")
    other.write_text("1 | a\n")
    with pytest.raises(DataError, match=r"one format, got .*rows.svm .* and .*rows.vw"):
        open_source([path, other])
    assert isinstance(open_source([path, other], input_format="vw"), VwSource)


@pytest.mark.parametrize("X", [np.eye(2), sparse.eye_array(2), [[1.0, 0], [0, 1]]])
def test_arrays_come_with_or_without_labels(X):
    alone, pair = open_source(X), open_source((X, [5, 6]), block_rows=1)
    assert isinstance(alone, ArraySource)
    assert np.isnan(next(alone.blocks()).y).all()
    assert [block.y.tolist() for block in pair.blocks()] == [[5], [6]]


@pytest.mark.parametrize("library", [pd, pl])
def test_tables_come_with_labels_or_the_name_of_their_column(library):
    frame = library.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert np.isnan(next(open_source(frame).blocks()).y).all()
    for data, options in (
        ((frame, "b"), {}),
        (frame, {"target": "b"}),
        ((frame, [3, 4]), {}),
    ):
        source = open_source(data, **options)
        assert isinstance(source, FrameSource)
        assert next(source.blocks()).y.tolist() == [3, 4]


def test_a_source_is_returned_as_it_is():
    source = ArraySource(np.eye(2))
    assert open_source(source) is source
    with pytest.raises(DataError, match="expected no options"):
        open_source(source, block_rows=3)


@pytest.mark.parametrize("data", [None, 3, {"a": 1}])
def test_anything_else_is_refused(data):
    with pytest.raises(DataError, match=f"got {type(data).__name__}"):
        open_source(data)


def test_importing_sources_imports_no_large_library():
    code = (
        "import sys, shortlist.sources\n"
        "large = {'sklearn', 'pandas', 'polars', 'pyarrow', 'scipy.sparse'}\n"
        "print(sorted(large & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert out.stdout.strip() == b"[]"


def test_text_of_this_folder_is_found_by_relative_paths(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    assert open_source(Path("rows.svm")).name == "rows.svm"
