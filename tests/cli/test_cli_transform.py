"""shortlist transform."""

import csv
import gzip
import io
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import LibsvmSource, Shortlist
from shortlist.cli._output import shortest
from shortlist.cli._tables import Chosen, laid_out
from shortlist.sources import take


def columns(model):
    """Chosen ids, each once, in the order of the shortlist."""
    return np.array(list(Shortlist.load(model).names_by_id()), np.uint64)


@pytest.fixture
def expected(model, data):
    return take(LibsvmSource(data), columns(model), dense=True)


@pytest.mark.parametrize("name", ["small.svm", "small.libsvm", "small.txt"])
def test_libsvm_keeps_labels_ids_and_values(run, model, data, expected, tmp_path, name):
    out = tmp_path / name
    result = run("transform", model, data, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"2,000 rows with 4 features written to {out}\n"
    X, y = take(LibsvmSource(out), columns(model), dense=True)
    assert np.array_equal(X, expected[0])
    assert np.array_equal(y, expected[1])
    chosen = set(columns(model).tolist())
    found = {i for block in LibsvmSource(out).blocks() for i in block.ids.tolist()}
    assert found == chosen
    assert ".0 " not in out.read_text()


def test_a_model_predicts_the_same_from_the_small_file(run, model, data, tmp_path):
    run("transform", model, data, "-o", tmp_path / "small.svm")
    whole = run("predict", model, data)
    assert run("predict", model, tmp_path / "small.svm").output == whole.output


def test_csv_has_a_column_a_feature(run, model, data, expected, tmp_path):
    out = tmp_path / "small.csv"
    assert run("transform", model, data, "-o", out, "-q").stderr == ""
    header, *rows = csv.reader(io.StringIO(out.read_text()))
    assert header == ["label", *map(str, columns(model))]
    table = np.array(rows, np.float64)
    assert np.array_equal(table[:, 1:], expected[0])
    assert np.array_equal(table[:, 0], expected[1])


def test_parquet_has_a_column_a_feature(run, model, data, expected, tmp_path):
    import pyarrow.parquet as pq

    out = tmp_path / "small.parquet"
    assert run("transform", model, data, "-o", out).exit_code == 0
    table = pq.read_table(out)
    assert table.column_names == ["label", *map(str, columns(model))]
    cells = np.column_stack([column.to_numpy() for column in table.columns])
    assert np.array_equal(cells[:, 1:], expected[0])
    assert np.array_equal(cells[:, 0], expected[1])


def test_parquet_is_written_in_groups(run, model, data, tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    monkeypatch.setattr("shortlist.cli._tables._GROUP_ROWS", 300)
    out = tmp_path / "small.parquet"
    assert run("transform", model, data, "-o", out).exit_code == 0
    groups = pq.ParquetFile(out).metadata
    assert (groups.num_row_groups, groups.num_rows) == (7, 2000)


def test_without_pyarrow_it_names_the_extra(run, model, data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("transform", model, data, "-o", tmp_path / "small.parquet")
    assert result.exit_code != 0
    assert "pip install shortlist[parquet]" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_standard_output_is_libsvm_unless_said_otherwise(run, model, data, tmp_path):
    run("transform", model, data, "-o", tmp_path / "small.svm")
    result = run("transform", model, data, "-o", "-")
    assert result.stdout == (tmp_path / "small.svm").read_text()
    assert result.stderr == "2,000 rows with 4 features written to standard output\n"
    assert run(
        "transform", model, data, "-o", "-", "--format", "csv"
    ).stdout.startswith("label,")


def test_several_compressed_files_and_patterns(run, model, data, tmp_path):
    for i in range(2):
        (tmp_path / f"part-{i}.svm.gz").write_bytes(gzip.compress(data.read_bytes()))
    run("transform", model, tmp_path / "part-*.svm.gz", "-o", tmp_path / "small.svm")
    once = run("transform", model, data, "-o", "-").stdout
    assert (tmp_path / "small.svm").read_text() == once * 2


def test_unknown_ending_asks_for_a_format(run, model, data, tmp_path):
    result = run("transform", model, data, "-o", tmp_path / "small.xls")
    assert result.exit_code == 2
    assert "--format" in result.stderr
    assert run("transform", model, data).exit_code == 2  # -o is required


@pytest.mark.parametrize("name", ["small.svm", "small.csv", "small.parquet"])
def test_bad_data_leave_the_old_file(run, model, data, tmp_path, name):
    out, bad = tmp_path / name, tmp_path / "bad.svm"
    out.write_text("old")
    bad.write_text(data.read_text() + "1 3:x\n")
    result = run("transform", model, bad, "-o", out)
    assert result.exit_code == 1
    assert f"{bad}:2001: expected a number after ':'" in result.stderr
    assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == sorted([bad, out])
    skipping = run("transform", model, bad, "-o", out, "--on-error", "skip")
    assert skipping.stderr.startswith("1 bad line was left out\n")


def test_input_in_a_pattern_is_not_overwritten(run, model, data, tmp_path):
    copy = tmp_path / "copy.svm"
    copy.write_bytes(data.read_bytes())
    result = run("transform", model, tmp_path / "*.svm", "-o", copy)
    assert result.exit_code == 2
    assert copy.read_bytes() == data.read_bytes()


def test_repeated_ids_add_up_in_tables(model, tmp_path):
    (tmp_path / "twice.svm").write_text("1 17:1.5 17:2 99:1\n-1\n")
    chosen = Chosen(Shortlist.load(model))
    (block,) = LibsvmSource(tmp_path / "twice.svm").blocks()
    ((labels, cells),) = laid_out(chosen.of(block), chosen)
    assert labels.tolist() == [1, -1]
    assert cells[:, chosen.names.index("17")].tolist() == [3.5, 0.0]
    assert cells.sum() == 3.5


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_exactly(number):
    text = shortest(number)
    assert float(text) == number
    assert math.copysign(1, float(text)) == math.copysign(1, number)
    assert not text.endswith(".0")
