import bz2
import gzip
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsing.vw import HARD, as_read, check_like_reference, lines, read
from reference import vw as reference
from shortlist import Mission
from shortlist._protocols import RowSource, ShortlistError
from shortlist.sources import VwSource, open_source

PLAIN = (
    b"1 2.0 tag|ns:0.5 price:.23 sqft a:1 b |other c d:-2\n-1 'tag | 12 13:0.5\n| a b\n"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("vw") / "rows.vw"


@given(st.lists(lines(), max_size=5).map("".join), st.booleans(), st.integers(1, 80))
@settings(max_examples=400, deadline=None)
@example("1 |a:1e400 x:y\n", True, 5)  # the overflow comes first
@example("1 |a:1e300 x:1e300\n", True, 5)
@example("1 |a:123456789012345678901234567890e290 x y:1e-320 z\n2 | x\n", True, 9)
@example("1e400 |a x:y\n", False, 100)
@example("1 -1e-320 |a\n1 -1e-999 |a\n", True, 100)
@example("1 -1e400\n", True, 1)
@example("0 |\n5 |a:1.8e308 b:1e-320\n1.8e308 |\n3 | 4:1e-320\n", True, 100)
def test_well_and_ill_formed_text_is_read_as_by_the_reference(
    path, text, last, block_bytes
):
    text = text.encode()
    check_like_reference(path, text if last else text.rstrip(b"\n"), block_bytes)


@given(st.text("015.e+-:| \t\r\n'a^#\x00", max_size=60), st.integers(1, 20))
@settings(max_examples=300, deadline=None)
def test_arbitrary_text_is_read_as_by_the_reference(path, text, block_bytes):
    check_like_reference(path, text.encode(), block_bytes)


@given(st.binary(max_size=60).map(b"1 |".__add__), st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_arbitrary_bytes_are_read_as_by_the_reference(path, text, block_bytes):
    check_like_reference(path, text, block_bytes)


def test_every_part_of_a_line_has_its_meaning(path):
    path.write_bytes(PLAIN)
    source = VwSource(path)
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.y, [1, -1, math.nan])
    assert block.weight.tolist() == [2, 1, 1]
    assert block.indptr.tolist() == [0, 6, 8, 10]
    assert block.values.tolist() == [0.115, 0.5, 0.5, 0.5, 1, -2, 1, 0.5, 1, 1]
    assert source.names(block.ids) == [
        *("ns^price", "ns^sqft", "ns^a", "ns^b", "other^c", "other^d"),
        *("12", "13", "a", "b"),
    ]


def test_what_touches_the_bar_is_a_tag_and_no_label(path):
    path.write_text("1|a b\n1 |a b\n1 2|a b\n1 2 3 4|a b\n")
    (block,) = VwSource(path).blocks()
    np.testing.assert_array_equal(block.y, [math.nan, 1, 1, 1])
    assert block.weight.tolist() == [1, 1, 1, 2]


def test_values_without_names_are_numbered_as_vowpal_wabbit_does(path):
    values = " ".join(f":{i}" for i in range(12))
    text = f"1 |a :2 x :3 | :4 |a :5\n1 |space_of_7 {values}\n"
    path.write_text(text)
    source = VwSource(path, block_bytes=5)
    names = [name for block in source.blocks() for name in source.names(block.ids)]
    assert names[:5] == ["a^0", "a^x", "a^1", "0", "a^0"]
    assert names[5:] == [f"space_of_7^{i}" for i in range(12)]
    same = path.with_name("named.vw")
    same.write_text("1 |a 0:2 x 1:3 | 0:4 |a 0:5\n")
    (block,), first = VwSource(same).blocks(), next(source.blocks())
    assert first.ids.tolist() == block.ids.tolist()
    assert first.values.tolist() == block.values.tolist()
    told = source.with_spaces(["a"])
    assert told.names(next(told.blocks()).ids)[:3] == ["a^0", "a^x", "a^1"]


def test_zeros_are_kept_as_in_libsvm_text(path):
    path.write_text("1 | a:0 b:-0\n")
    (block,) = VwSource(path).blocks()
    assert block.values.tolist() == [0, 0]


@pytest.mark.parametrize("number", HARD)
def test_hard_numbers_are_those_of_python(path, number):
    path.write_text(f"{number} {number} |a:0.5 b:{number} |c:{number} d e:0.25\n")
    (block,) = VwSource(path).blocks()
    exact = float(number)
    assert (block.y[0], block.weight[0]) == (exact, exact)
    assert block.values.tolist() == [0.5 * exact, exact, 0.25 * exact]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("dog | a", "expected a number as label, got 'dog'"),
        ("1:2 | a", "expected a number as label, got '1:2'"),
        ("inf | a", "expected a finite number as label, got 'inf'"),
        ("1e400 | a", "expected a finite number as label, got '1e400'"),
        ("1 x | a", "expected a number as importance, got 'x'"),
        ("1 -2 | a", "expected an importance of 0 or more, got '-2'"),
        ("1 -1e-320 | a", "expected an importance of 0 or more, got '-1e-320'"),
        ("1 1e400 | a", "expected a finite number as importance, got '1e400'"),
        ("1 2 x | a", "expected a number as base, got 'x'"),
        ("1 2 3 4 | a", "expected '|' before the features, got '4'"),
        ("1 2", "expected '|' before the features, got the end of the line"),
        ("1 'tag 2 | a", "expected '|' before the features, got '2'"),
        ("1 3:0.5 7:1", "expected a number as importance, got '3:0.5'"),
        ("1 |:2 a", "expected the name of a namespace before ':', got ':2'"),
        ("1 |a:x b", "expected a number as scale of a namespace, got 'a:x'"),
        (
            "1 |a:1e400",
            "expected a finite number as scale of a namespace, got 'a:1e400'",
        ),
        ("1 |a :", "expected a number after ':', got ':'"),
        ("1 |a :x", "expected a number after ':', got ':x'"),
        ("1 |a b:x\x01y", r"expected a number after ':', got 'b:x\x01y'"),
        ("1 |a b:", "expected a number after ':', got 'b:'"),
        ("1 |a b:nan", "expected a finite number after ':', got 'b:nan'"),
        ("1 |a b:1e400 |", "expected a finite number after ':', got 'b:1e400'"),
        (
            "1 |a:1e200 b:1e200",
            "expected a value that is finite times the scale of its namespace, "
            "got 'b:1e200'",
        ),
        (
            "1 | 5:" + "z" * 90,
            "expected a number after ':', got '5:" + "z" * 38 + "...'",
        ),
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_errors_name_file_line_expectation_and_finding(
    path, line, complaint, block_bytes
):
    path.write_text(f"1 | a\n\n \t\n-1 |\n{line}\n1 | x:y\n")
    rows, error = read(VwSource(path, block_bytes=block_bytes))
    assert len(rows) == 2
    assert error == f"{path}:5: {complaint}"


def test_skipped_rows_are_counted_anew_in_each_pass(path):
    path.write_text("1 | a\nbad\n2 | a:1e999\n1e999 | a\n1 -1e-320 |\n3 |\n")
    source = VwSource(path, on_error="skip")
    for _ in range(2):
        assert [block.y.tolist() for block in source.blocks()] == [[1, 3]]
        assert source.skipped == 4


def test_a_line_longer_than_the_block_is_read_whole(path):
    text = "1 |s " + " ".join(f"{i}:{i / 8}" for i in range(5000)) + "\n-1 | 3:4\n"
    path.write_text(text)
    source = VwSource(path, block_bytes=16)
    (block,) = source.blocks()
    assert block.indptr.tolist() == [0, 5000, 5001]
    assert block.values[4999] == 4999 / 8
    assert source.names(block.ids[-2:]) == ["s^4999", "3"]


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("", bytes),
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_rows_and_names_are_the_same_in_every_compression(tmp_path, ending, pack):
    path = tmp_path / f"rows.vw{ending}"
    path.write_bytes(pack(PLAIN * 500))
    source = open_source(path, block_bytes=1000)
    assert isinstance(source, VwSource)
    *_, last = source.blocks()
    assert last.position == source.size == path.stat().st_size
    assert source.names(source.ids(["ns^price"])) == ["ns^price"]
    assert read(source)[0] == as_read(reference.parse(PLAIN * 500).rows)


def test_another_seed_gives_other_ids(path):
    path.write_bytes(PLAIN)
    for seed in (0, 7, 2**64 + 7, -1):
        source = VwSource(path, seed=seed)
        assert read(source)[0] == as_read(reference.parse(PLAIN).rows, seed)
        ids = next(source.blocks()).ids
        assert source.ids(source.names(ids)).tolist() == ids.tolist()
    assert VwSource(path, seed=7).ids(["a"]) != VwSource(path).ids(["a"])


def test_it_is_a_row_source(path):
    path.write_bytes(PLAIN)
    source = VwSource(str(path))
    assert isinstance(source, RowSource)
    assert (source.name, source.unit, source.reiterable) == (str(path), "bytes", True)
    assert (source.n_features, source.label_names) == (None, None)


@pytest.mark.parametrize("options", [{"on_error": "ignore"}, {"block_bytes": 0}])
def test_options_are_checked_at_once(path, options):
    path.write_bytes(PLAIN)
    with pytest.raises(ShortlistError, match=r"expected .* got"):
        VwSource(path, **options)


@settings(max_examples=40, deadline=None)
@given(
    lines=st.lists(
        st.sampled_from(["1 | a", "", " ", "2 |", "x | a", "5 | a:1e999", "1 t|b c"]),
        min_size=1,
        max_size=30,
    ),
    block_bytes=st.sampled_from([1, 7, 40, 1 << 20]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_rows_are_located_by_file_and_line(lines, block_bytes, ending):
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.vw", "b.vw")]
        for path in paths:
            path.write_bytes((ending.join(lines) + ending).encode())
        source = VwSource(paths, on_error="skip", block_bytes=block_bytes)
        n_rows = sum(block.n_rows for block in source.blocks())
        good = [i + 1 for i, line in enumerate(lines) if line[:1] in ("1", "2")]
        expected = [f"{path}:{line}" for path in paths for line in good]
        assert [source.locate(row) for row in range(n_rows)] == expected


def test_planted_features_are_found_by_name(path):
    rng = np.random.default_rng(0)
    planted = {"user^age": 2.0, "user^city=Köln": -3.0, "bias": 2.5}
    with path.open("w") as file:
        for _ in range(1500):
            age, city, bias = rng.normal(size=3).round(3)
            score = 2 * age - 3 * city + 2.5 * bias + rng.logistic()
            noise = " ".join(f"w{i}" for i in rng.integers(0, 10**6, 10))
            label = 1 if score > 0 else -1
            file.write(
                f"{label} |user age:{age} city=Köln:{city} |text {noise} "
                f"| bias:{bias}\n"
            )
    selector = Mission(k=3).fit_source(str(path))
    assert set(selector.shortlist_.names) == set(planted)
    assert selector.score(str(path)) > 0.8
