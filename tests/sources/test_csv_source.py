import bz2
import csv
import gzip
import io
import os
import threading
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from parsing.csv import CELLS, check_like_reference, read, same, write
from shortlist import Mission
from shortlist._protocols import DataError, RowSource, ShortlistError
from shortlist.kernels.name_hash import hash_names
from shortlist.sources import CsvSource, FrameSource, _csv_head, open_source, take

PEOPLE = (
    "age,city,tall,height,buys\n"
    '31,"Bonn, D",true,1.5,yes\n'
    "0,Oslo,false,,no\n"
    '47,"the ""big""\napple",true,-0.25,yes\n'
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "rows.csv"


def test_numbers_are_values_and_text_makes_features(path):
    source = CsvSource(write(path, PEOPLE), "buys")
    assert [row.features for row in read(source)] == [
        {"age": 31, "city=Bonn, D": 1, "tall": 1, "height": 1.5},
        {"city=Oslo": 1},
        {"age": 47, 'city=the "big"\napple': 1, "tall": 1, "height": -0.25},
    ]
    assert source.label_names == ["no", "yes"]
    assert [row.y for row in read(source)] == [1, 0, 1]
    assert isinstance(source, RowSource)
    assert (source.unit, source.reiterable, source.n_features) == ("bytes", True, None)


COLUMNS = st.one_of(
    st.lists(st.sampled_from(["", "1", "-2.5", "NA", " 3", "0", "1e5"]), min_size=9),
    st.lists(st.sampled_from(["True", "false", ""]), min_size=9),
    st.lists(CELLS, min_size=9),
)


@given(
    st.lists(COLUMNS, min_size=2, max_size=5),
    st.integers(0, 9),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([",", ";", "\t", "|"]),
    st.booleans(),
    st.sampled_from([1, 7, 64, 1 << 20]),
    st.sampled_from(["zero", "category"]),
)
@example(
    [["", "a"] * 5, ["1"] * 9], 9, "\r\n", csv.QUOTE_MINIMAL, ",", False, 1, "zero"
)
def test_rows_are_those_of_the_slow_reader(
    path, columns, n_rows, newline, quoting, delimiter, is_whole, block_bytes, missing
):
    names = [f"c{i}" for i in range(len(columns))]
    text = io.StringIO()
    writer = csv.writer(
        text, delimiter=delimiter, quoting=quoting, lineterminator=newline
    )
    writer.writerow(names)
    writer.writerows(zip(*(column[:n_rows] for column in columns), strict=True))
    written = text.getvalue() if is_whole else text.getvalue().removesuffix(newline)
    check_like_reference(path, written, block_bytes, delimiter, missing)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=40),
    quote=st.sampled_from(["'", "|", None]),
    block_bytes=st.sampled_from([1, 40, 1 << 20]),
)
@example([('"a', "'b", '"')] * 3, None, 40)
@example([("'a, b'", "it''s", "'")] * 3, "'", 40)
def test_other_quotes_and_none_are_read_as_by_the_slow_reader(
    path, rows, quote, block_bytes
):
    if quote is None:  # such cells cannot be written
        ends = str.maketrans("", "", ",\r\n")
        lines = [",".join(cell.translate(ends) for cell in row) for row in rows]
        written = "\n".join(["c0,c1,c2", *lines, ""])
    else:
        text = io.StringIO()
        writer = csv.writer(text, quotechar=quote, lineterminator="\n")
        writer.writerows([("c0", "c1", "c2"), *rows])
        written = text.getvalue()
    check_like_reference(path, written, block_bytes, quote=quote)


@given(st.text('ab1,"\n\r; =\t', max_size=60), st.sampled_from([1, 3, 1 << 20]))
def test_any_text_gives_rows_or_one_clear_error(path, body, block_bytes):
    write(path, "a,b\n" + body)
    whole, parts = (
        CsvSource(path, on_error="skip", delimiter=",", block_bytes=size)
        for size in (1 << 20, block_bytes)
    )
    same(read(whole), read(parts))
    assert whole.skipped == parts.skipped
    strict = CsvSource(path, delimiter=",", block_bytes=block_bytes)
    if whole.skipped:
        with pytest.raises(DataError, match="expected"):
            read(strict)
    else:
        same(read(strict), read(whole))


@given(st.text('ab1,"\n\r ', max_size=60))
def test_cells_are_cut_in_the_head_as_in_the_rows(text):
    """The head is cut in Python, rows are cut by the kernel."""
    text = text.replace("\r", "").strip("\n")
    if text.count('"') % 2 or not text or "\n\n" in text:
        return
    lines = list(csv.reader(io.StringIO(text, newline="")))
    found, end = [], 0
    while end < len(text):
        cells, end = _csv_head.split_row(text.encode(), end, ",")
        found.append([cell.decode() for cell in cells])
    assert found == lines


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_packed_files_give_the_same_rows(path, ending, pack):
    plain = read(CsvSource(write(path, PEOPLE), "buys"))
    packed = path.with_name(f"rows.csv{ending}")
    packed.write_bytes(pack(PEOPLE.encode()))
    same(read(open_source(packed, target="buys", block_bytes=9)), plain)


def test_files_are_read_one_after_the_other_and_share_a_header(tmp_path):
    write(tmp_path / "a.csv", "x,y\n1,2\n")
    write(tmp_path / "b.csv", "x,y\n3,4\n\n5,6")
    source = open_source(tmp_path / "*.csv", target="y")
    assert [row.features for row in read(source)] == [{"x": 1}, {"x": 3}, {"x": 5}]
    assert [source.locate(row) for row in range(3)] == [
        f"{tmp_path}/a.csv:2",
        f"{tmp_path}/b.csv:2",
        f"{tmp_path}/b.csv:4",
    ]
    write(tmp_path / "b.csv", "x,z\n3,4\n")
    with pytest.raises(DataError, match=r"b\.csv: expected column 2 to be 'y' .* 'z'"):
        read(open_source(tmp_path / "*.csv", target="y"))
    write(tmp_path / "b.csv", "x,y,z\n3,4,5\n")
    with pytest.raises(DataError, match=r"b\.csv: expected 2 columns .* got 3"):
        read(open_source(tmp_path / "*.csv", target="y"))


@pytest.mark.parametrize(
    ("good", "bad", "options", "complaint"),
    [
        ("1,2", "x,3", {}, "column 'a': expected a number as in the first rows .*'x'"),
        ("1,2", "inf,3", {}, "column 'a': expected a finite number .* 'inf'"),
        ("1,2", "1e999,3", {}, "column 'a': expected a finite number"),
        ("1,2", '"1""",3', {}, "column 'a': expected a number"),
        ("1,2", "1,no", {}, "column 'y': expected a number as label .* got 'no'"),
        ("true,2", "7,2", {}, "column 'a': expected true or false .* got '7'"),
        ("1,true", "7,2", {}, "column 'y': expected true or false as label, got '2'"),
        ("1,2", "1", {}, "expected 2 cells as in the header, got 1"),
        ('"1\n",2', "1,2,3", {}, "expected 2 cells as in the header, got 3"),
        ("1,2", ',"1', {}, "expected a closing quote, got the end"),
        ("1,2", ",3", {"missing": "error"}, "column 'a': expected a value"),
        ("u,2", ",3", {"missing": "error"}, "column 'a': .* got nothing"),
        ("1,2", "-1,2", {"weight": "a"}, "column 'a': expected a weight of 0"),
        ("1,2", "NA,2", {"weight": "a"}, "column 'a': expected a weight of 0"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_a_bad_row_is_placed_or_skipped(
    path, monkeypatch, good, bad, options, complaint, block_bytes
):
    # what columns hold is decided by the first rows: the bad one comes later
    monkeypatch.setattr(_csv_head, "_CELLS_LOOKED_AT", 0)
    write(path, "a,y\n" + f"{good}\n" * 60 + f"{bad}\n")
    line = 60 * (1 + good.count("\n")) + 2
    options = options | {"block_bytes": block_bytes}
    source = CsvSource(path, "y", **options)
    seen = []
    with pytest.raises(DataError, match=f"rows.csv:{line}: {complaint}"):
        seen.extend(block.n_rows for block in source.blocks())
    assert sum(seen) == 60
    skipping = CsvSource(path, "y", on_error="skip", **options)
    assert sum(block.n_rows for block in skipping.blocks()) == 60
    assert skipping.skipped == 1


def test_an_open_quote_costs_only_its_line_if_bad_rows_are_skipped(path):
    source = CsvSource(write(path, 'a,y\n1,2\n"3,4\n5,6\n'), "y", on_error="skip")
    assert [row.features for row in read(source)] == [{"a": 1}, {"a": 5}]
    assert source.skipped == 1


def test_labels_that_come_late_are_found_in_files_and_refused_in_pipes(path):
    text = "a,y\n" + "1,no\n" * 1500 + "2,yes\n"
    source = CsvSource(write(path, text), "y")
    assert source.label_names == ["no", "yes"]
    assert read(source)[-1].y == 1
    with piped(text) as pipe:
        source = CsvSource(pipe, "y")
        assert source.label_names == ["no"]
        with pytest.raises(
            DataError, match=r":1502: column 'y': expected one of the labels .* 'yes'"
        ):
            list(source.blocks())
    with piped(text) as pipe:
        assert read(CsvSource(pipe, "y", labels=["yes", "no"]))[-1].y == 1
    many = "a,y\n" + "".join(f"1,u{i}\n" for i in range(10_001))
    with pytest.raises(DataError, match="at most 10,000 different labels"):
        CsvSource(write(path, many), "y")


class piped:
    """A pipe that somebody writes a text to."""

    def __init__(self, text):
        self._read, self._write = os.pipe()
        self._thread = threading.Thread(target=self._fill, args=(text.encode(),))

    def _fill(self, text):
        with open(self._write, "wb") as file, suppress(BrokenPipeError):
            file.write(text)

    def __enter__(self):
        self._thread.start()
        return f"/dev/fd/{self._read}"

    def __exit__(self, *_):
        os.close(self._read)
        self._thread.join()


def test_a_pipe_gives_the_same_rows_and_names_but_once(path):
    text = PEOPLE + "".join(f"{i},city{i},true,1,no\n" for i in range(3000))
    plain = read(CsvSource(write(path, text), "buys"))
    with piped(text) as pipe:
        source = CsvSource(pipe, "buys", block_bytes=1000)
        same(read(source), plain)
        assert not source.reiterable
        assert source.size is None
        assert source.locate(3002).endswith(":3005")
        with pytest.raises(DataError, match="only once"):
            source.blocks()
        keep = source.ids(["city=city7", "age"])
        other = hash_names(["city=city8"])
        assert not source.crowded
        source.retain(keep[:1], 10**9)
        assert source.names(keep) == ["city=city7", "age"]
        assert source.names(other) == [f"#{int(other[0]):016x}"]


def test_names_of_a_crowded_pipe_can_be_forgotten(monkeypatch):
    monkeypatch.setattr("shortlist.sources._cell_names.MANY_NAMES", 10)
    with piped("a,b\n" + "".join(f"u{i},1\n" for i in range(50))) as pipe:
        source = CsvSource(pipe, block_bytes=30)
        blocks = source.blocks()
        for _ in range(5):
            block = next(blocks)
        assert source.crowded
        source.retain(source.ids(["a=u0"]), block.position)
        assert not source.crowded
        last = list(blocks)[-1]
        assert source.names(last.ids)[-2:] == ["a=u49", "b"]


def test_ids_and_rows_are_those_of_a_frame(path):
    frame = pd.DataFrame(
        {
            "age": [31, 0, 47, 5],
            "city": ["Bonn", "Oslo", None, "a=b"],
            "tall": [True, False, True, True],
            "height": [1.5, None, -0.25, 1e-3],
            "outcome": ["yes", "no", "yes", "no"],
            "importance": [1.0, 2.0, 0.0, 0.5],
        }
    )
    frame.to_csv(path, index=False)
    for missing in ("zero", "category"):
        one = FrameSource(frame, "outcome", weight="importance", missing=missing)
        two = CsvSource(path, "outcome", weight="importance", missing=missing)
        same(read(one), read(two))
        (a,), (b,) = one.blocks(), two.blocks()
        assert a.ids.tolist() == b.ids.tolist()
        assert one.label_names == two.label_names
        names = ["age", "city=Rome"]
        assert one.ids(names).tolist() == two.ids(names).tolist()
    rows = read(two)
    frame.to_csv(path)  # with row numbers, which have no name
    assert "" in CsvSource(path, "outcome").columns
    same(
        read(CsvSource(path, "outcome", missing="category", weight="importance")),
        rows,
    )


def test_names_that_no_feature_has_are_refused(path):
    source = CsvSource(write(path, PEOPLE), "buys")
    for name in ("town=Bonn", "age=3", "buys", "hight"):
        with pytest.raises(DataError, match="expected the name of a feature"):
            source.ids([name])
    with pytest.raises(DataError, match="nearest: 'height'"):
        source.ids(["hight"])
    assert source.ids(["city=Lima"]).tolist() == hash_names(["city=Lima"]).tolist()
    other = CsvSource(path, "buys", seed=3)
    assert other.ids(["age"]) == hash_names(["age"], 3)
    assert [row.features for row in read(other)] == [
        row.features for row in read(source)
    ]


@pytest.mark.parametrize(
    ("text", "options", "complaint"),
    [
        ("", {}, "expected a table, got no text"),
        ("\n\n", {}, "expected a table, got no text"),
        ("a,a\n1,2\n", {}, "got 'a' twice"),
        ("a,a=u\nu,2\n", {}, "column 'a=u': expected a name that no value"),
        ("age\n1\n", {"target": "aged"}, "target: .* of a column, .* nearest: 'age'"),
        ("a,y\n1,2\n", {"weight": "y", "target": "y"}, "different columns"),
        ("a\n1\n", {"delimiter": "ab"}, "delimiter: expected one character"),
        ("a\n1\n", {"delimiter": "."}, "delimiter: expected one character"),
        ("a\n1\n", {"missing": "mean"}, "missing: expected"),
        ("a\n1\n", {"header": "yes"}, "header: expected"),
        ("a\n1\n", {"on_error": "stop"}, "on_error: expected"),
        ("a\n1\n", {"text": ["b"]}, "text: expected the name of a column"),
        (gzip.compress(b"a,b\n", mtime=0), {}, "expected plain text, got gzip data"),
    ],
)
def test_bad_input_is_refused_at_once(path, text, options, complaint):
    with pytest.raises(ShortlistError, match=complaint):
        CsvSource(write(path, text), **options)


def test_only_the_columns_of_a_model_are_read_for_scoring(path):
    write(path, "zip,n,junk,y\n01234,1,2,a\n5,2,x,c\n,3\n")
    only = ["zip=01234", "n", "absent=7"]
    options = {"scoring": True, "labels": ["a", "b"], "on_error": "skip"}
    source = CsvSource(path, "y", weight="w", only=only, **options)
    rows = read(source)
    assert [row.features for row in rows] == [
        {"zip=01234": 1, "n": 1},
        {"zip=5": 1, "n": 2},
    ]
    np.testing.assert_array_equal([row.y for row in rows], [0, np.nan])
    assert source.label_names == ["a", "b"]
    assert CsvSource(path, "absent", only=only, **options).target is None
    numeric = CsvSource(path, "y", only=only, scoring=True, labels=(), on_error="skip")
    assert np.isnan([row.y for row in read(numeric)]).all()


def test_a_selector_finds_planted_columns(path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 30)).round(3)
    city = rng.choice(["Bonn", "Oslo", "Rome"], 800)
    score = 3 * X[:, 7] + 4 * (city == "Oslo") - 1.5
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(30)])
    frame = frame.assign(city=city, y=np.where(score > 0, "up", "down"))
    frame.to_csv(path, index=False)
    source = CsvSource(path, "y")
    found = Mission(k=2).fit_source(source).shortlist_
    assert set(found.names) == {"g7", "city=Oslo"}
    assert found.classes == ("down", "up")
    X_small, y = take(source, found.ids, dense=True)
    assert X_small.shape == (800, 2)
    assert set(y) == {0, 1}


def test_a_stray_quote_is_answered_with_a_way_out(path):
    text = 'name\ty\n"Bonn\t1\n5 nail\t0\nthe "Oslo"\t1\n'
    write(path, text.replace('"Oslo"', "Oslo"))
    with pytest.raises(DataError, match=r":2: expected a closing quote.*quote=None"):
        read(CsvSource(path, "y", delimiter="\t"))
    write(path, text)
    for none in (None, "none"):
        rows = read(CsvSource(path, "y", quote=none))
        names = [next(iter(row.features)) for row in rows]
        assert names == ['name="Bonn', "name=5 nail", 'name=the "Oslo"']


@pytest.mark.parametrize("quote", ["", "ab", "a", "\n", " ", ";", "é"])
def test_what_cannot_quote_is_refused(path, quote):
    write(path, "a;y\n1;2\n")
    with pytest.raises(ShortlistError, match="quote: expected one character"):
        CsvSource(path, "y", quote=quote, delimiter=";")


def test_learning_without_a_target_says_which_columns_there_are(path):
    write(path, PEOPLE)
    for data in (path, CsvSource(path)):
        with pytest.raises(
            DataError, match=r"target= names their column, one of 'age'"
        ):
            Mission(k=1).fit_source(data)
