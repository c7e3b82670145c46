from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsing.libsvm import HARD, check_like_reference, lines, read
from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.sources import LibsvmSource


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("libsvm") / "rows.svm"


@given(
    st.lists(lines(), max_size=6).map("".join),
    st.booleans(),
    st.integers(1, 80),
)
@settings(max_examples=300, deadline=None)
@example("1 1:1e400 foo\n", True, 5)  # the overflow comes first
@example("1 1:1.8e308 foo\n1.8e308\n2\n", True, 100)
@example("0\n0\n5 1:1.8e308 2:1e-320 3:1.8e308\n1.8e308\n3 4:1e-320\n", True, 100)
def test_well_and_ill_formed_text_is_read_as_by_the_reference(
    path, text, last, block_bytes
):
    text = text.encode()
    check_like_reference(path, text if last else text.rstrip(b"\n"), block_bytes)


@given(st.text("0159.eE+-: \t\r\n#qidnaf_", max_size=60), st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_arbitrary_text_is_read_as_by_the_reference(path, text, block_bytes):
    check_like_reference(path, text.encode(), block_bytes)


@pytest.mark.parametrize("number", HARD)
def test_hard_numbers_are_those_of_python(path, number):
    path.write_text(f"{number} 1:2 3:-{number}\n")
    rows, _ = read(LibsvmSource(path))
    assert rows == [(float(number), [1, 3], [2.0, -float(number)])]


def test_a_line_longer_than_the_block_is_read_whole(path):
    text = "1 " + " ".join(f"{i}:{i / 8}" for i in range(5000)) + "\n-1 3:4\n"
    path.write_text(text)
    rows, _ = read(LibsvmSource(path, block_bytes=16))
    assert [len(row.ids) for row in rows] == [5000, 1]
    assert rows[0].values[-1] == 4999 / 8


def test_a_label_alone_is_a_row_without_features(path):
    path.write_text("1\n-1 5:1\n1")
    assert read(LibsvmSource(path))[0] == [(1, [], []), (-1, [5], [1]), (1, [], [])]


def test_an_empty_file_has_no_blocks(path):
    path.write_bytes(b"")
    assert list(LibsvmSource(path).blocks()) == []
    path.write_bytes(b"# nothing\n\n  \r\n")
    assert list(LibsvmSource(path).blocks()) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("dog 1:2", "expected a number as label, got 'dog'"),
        ("1 5", "expected id:value, got '5'"),
        ("1 a:5", "expected an integer id before ':', got 'a:5'"),
        (
            "1 18446744073709551616:5",
            "expected an id below 2^64, got '18446744073709551616:5'",
        ),
        ("1 5:x\x01y", r"expected a number after ':', got '5:x\x01y'"),
        ("1 5:nan # gone", "expected a finite number after ':', got '5:nan'"),
        ("1 5:1e400", "expected a finite number after ':', got '5:1e400'"),
        ("inf", "expected a finite number as label, got 'inf'"),
        ("1 5:" + "z" * 90, "expected a number after ':', got '5:" + "z" * 38 + "...'"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_errors_name_file_line_expectation_and_finding(
    path, line, complaint, block_bytes
):
    path.write_text(f"1 1:1\n# note\n\n-1\n{line}\n1 x:y\n")
    source = LibsvmSource(path, block_bytes=block_bytes)
    rows, error = read(source)
    assert len(rows) == 2
    assert error == f"{path}:5: {complaint}"


def test_rows_before_a_bad_line_are_delivered_first(path):
    path.write_text("1 1:1\n2 1:1\nbad\n")
    blocks = LibsvmSource(path).blocks()
    assert next(blocks).y.tolist() == [1, 2]
    with pytest.raises(DataError, match=r"rows.svm:3"):
        next(blocks)


def test_skipped_rows_are_counted_anew_in_each_pass(path):
    path.write_text("1 1:1\nbad\n2 1:1e999\n1e999\n3\n")
    source = LibsvmSource(path, on_error="skip")
    for _ in range(2):
        assert [row.y for row in read(source)[0]] == [1, 3]
        assert source.skipped == 3


@pytest.mark.parametrize("block_bytes", [1, 30, 1 << 20])
def test_position_grows_to_the_size(path, block_bytes):
    path.write_text("1 1:1 2:2\n-1 3:3\n" * 20)
    source = LibsvmSource(path, block_bytes=block_bytes)
    positions = [block.position for block in source.blocks()]
    assert positions == sorted(positions)
    assert positions[-1] == source.size == path.stat().st_size


def test_blocks_stay_as_they_are_when_reading_goes_on(path):
    path.write_text("".join(f"{i} {i}:{i}.5\n" for i in range(200)))
    blocks = list(LibsvmSource(path, block_bytes=64).blocks())
    assert len(blocks) > 10
    assert np.concatenate([block.y for block in blocks]).tolist() == list(range(200))
    assert np.concatenate([block.ids for block in blocks]).tolist() == list(range(200))
    for array in blocks[0][:5]:
        assert array.flags.owndata
        assert array.flags.writeable
        assert array.flags.c_contiguous


def test_names_of_features_are_their_ids(path):
    path.write_text("1\n")
    source = LibsvmSource(path)
    largest = np.array([0, 7, 2**64 - 1], np.uint64)
    assert source.names(largest) == ["0", "7", "18446744073709551615"]
    assert source.ids(source.names(largest)).tolist() == largest.tolist()
    assert source.ids(["0" * 5000 + "7"]).tolist() == [7]
    for name in ("x", "-1", "1.5", "", "18446744073709551616", "²"):
        with pytest.raises(DataError, match="expected an integer from 0"):
            source.ids(["1", name])


def test_it_is_a_row_source(path):
    path.write_text("1\n")
    source = LibsvmSource(str(path))
    assert isinstance(source, RowSource)
    assert (source.name, source.unit, source.reiterable) == (str(path), "bytes", True)
    assert (source.n_features, source.label_names) == (None, None)


@pytest.mark.parametrize("options", [{"on_error": "ignore"}, {"block_bytes": 0}])
def test_options_are_checked_at_once(path, options):
    path.write_text("1\n")
    with pytest.raises(ShortlistError, match=r"expected .* got"):
        LibsvmSource(path, **options)


@settings(max_examples=40, deadline=None)
@given(
    lines=st.lists(
        st.sampled_from(
            ["1 3:1", "", "# remark", "2", "x 1:1", "5 1:1e999", "1 2:3 #"]
        ),
        min_size=1,
        max_size=30,
    ),
    block_bytes=st.sampled_from([1, 7, 40, 1 << 20]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_rows_are_located_by_file_and_line(lines, block_bytes, ending):
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.svm", "b.svm")]
        for path in paths:
            path.write_bytes((ending.join(lines) + ending).encode())
        source = LibsvmSource(paths, on_error="skip", block_bytes=block_bytes)
        n_rows = sum(block.n_rows for block in source.blocks())
        good = [i + 1 for i, line in enumerate(lines) if line[:1] in ("1", "2")]
        expected = [f"{path}:{line}" for path in paths for line in good]
        assert [source.locate(row) for row in range(n_rows)] == expected
