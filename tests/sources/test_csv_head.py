"""What the head of a CSV file tells: delimiter, header, columns of numbers and of text."""

import pytest

from parsing.csv import read, write
from shortlist import Mission
from shortlist._protocols import DataError
from shortlist.sources import CsvSource, _csv_head


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "rows.csv"


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb c, d\n1\t2\n", "\t"),
        ('a|"b,c,d"\n1|2\n', "|"),
        ("a\n1\n", ","),
        ("a,b;c\n1,2\n3,4;5\n", ","),
    ],
)
def test_the_delimiter_is_found(text, delimiter):
    assert _csv_head.sniff(text.encode()) == delimiter


def test_headers_may_be_absent_marked_or_broken_over_lines(path):
    write(path, "1,u\n2,v\n")
    assert read(CsvSource(path, header=False))[0].features == {"x0": 1, "x1=u": 1}
    assert read(CsvSource(path, header="auto"))[1].features == {"x0": 2, "x1=v": 1}
    write(path, b'\xef\xbb\xbf"two\nlines",b\r\n1,2\r\n')
    for source in (CsvSource(path), CsvSource(path, header="auto")):
        assert read(source)[0].features == {"two\nlines": 1, "b": 2}
        assert source.locate(0).endswith(":3")


@pytest.mark.parametrize(
    ("text", "named", "is_header"),
    [
        ("a,b\n1,2\n", {}, True),
        ("1.5,u\n2.5,v\n", {}, False),
        ("u,v\nx,y\n", {}, True),  # nobody can tell
        ("1.5,u\n2.5,v\n", {"target": "u"}, True),
        ("1.5,u\n2.5,v\n", {"target": "x1"}, False),
        ("id,2019\n7,1\n8,3\n", {}, True),  # a name above numbers
        ("2019,2020,2021\n3.5,2,1\n", {}, True),  # years
        ("0,1,label\n3.5,2,a\n", {}, True),  # as pandas names columns
        (",0,1\n0,3.5,2\n", {}, True),
        ("1,2,a\n3,1,b\n", {"target": "x2"}, False),
        ("5\na\nb\n", {}, True),  # a number above text
        ("1,NA\n3,7\n", {}, False),
        ("\n\n4,5\n\n1,0\n", {}, True),
        ("\n4,7\n1,0\n", {}, False),
        ("1,2\n", {}, True),
    ],
)
def test_the_first_row_is_a_header_unless_it_clearly_is_data(
    path, text, named, is_header
):
    write(path, text)
    source = CsvSource(path, **named)
    assert source.header is is_header
    n = len([line for line in text.split("\n") if line])
    rows, twice = (
        [row.features for row in read(one)]
        for one in (source, CsvSource([path, path], **named))
    )
    assert (len(rows), twice) == (n - is_header, rows * 2)


def test_a_model_tells_whether_there_is_a_header(path):
    options = {"scoring": True, "labels": ["a"]}
    for text in ("7,u\n8,v\n", "7,u\n"):
        write(path, text)
        made_up = CsvSource(path, "x2", only=["x0", "x1=u"], **options)
        assert not made_up.header
        assert read(made_up)[0].features == {"x0": 7, "x1=u": 1}
    write(path, "7,u\n8,v\n")
    assert CsvSource(path, "y", only=["7"], **options).header


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5;u\n2.5;v\n", "columns are 'x0', 'x1', cut at ';' .*header=True if"),
        ("a,b\n1,2\n", "columns are 'a', 'b', cut at ',' .*header=False if"),
    ],
)
def test_a_target_that_is_not_there_comes_with_the_columns_that_are(
    path, text, expected
):
    write(path, text)
    with pytest.raises(DataError, match=f"expected the name of a column.*{expected}"):
        CsvSource(path, "y")


def test_names_that_repeat_may_be_data(path):
    write(path, "u,u\n1,2\n")
    with pytest.raises(DataError, match="got 'u' twice; header=False"):
        CsvSource(path)
    with pytest.raises(DataError, match=r"got 'u' twice$"):
        CsvSource(path, header=True)


def test_leading_blank_lines_do_not_hide_a_table_from_a_model(path):
    write(path, "\n\r\n\na,y\n1,u\n")
    source = CsvSource(path, "y", only=["a"], labels=["u", "v"], scoring=True)
    assert read(source)[0].features == {"a": 1}


def test_numbers_with_decimal_commas_and_nameless_columns_are_remarked_on(path):
    write(path, ";n;c\n1;1,5;a\n2;-2,25;b\n3;4;c\n")
    remarks = CsvSource(path).remarks
    assert len(remarks) == 2
    assert "'n'" in remarks[0]
    assert "decimal commas; write 1.5 in place of 1,5" in remarks[0]
    assert remarks[1] == "column 1 has no name and is left out"


def test_columns_of_codes_can_be_declared_text(path):
    write(path, "zip,n\n01234,1\n,2\n")
    assert read(CsvSource(path))[0].features == {"zip": 1234, "n": 1}
    source = CsvSource(path, text=["zip"])
    assert [row.features for row in read(source)] == [
        {"zip=01234": 1, "n": 1},
        {"n": 2},
    ]


def test_a_column_that_a_few_cells_make_text_is_remarked_on(path):
    rows = [f"{i},{i % 3},u{i},{i % 2}" for i in range(100)]
    rows[40] = '40,"1, or\n 2",u,0'
    rows[60] = "60,unknown,u,0"
    write(path, "\n".join(["a,b,c,y", "", *rows]))
    source = CsvSource(path, "y")
    (remark,) = source.remarks
    assert remark.startswith("column 'b' is taken as text")
    assert "of its first 100 cells all but 2 are numbers" in remark
    assert remark.endswith(f"line 43 has {'1, or' + chr(10) + ' 2'!r}")
    assert not CsvSource(path, "y", text=["b"]).remarks
    assert not source.leaving_out(["b"]).remarks
    chosen = Mission(2).fit_source(source).shortlist_
    assert remark in chosen.notes


@pytest.mark.parametrize("word", ["?", "#N/A", " #n/a "])
def test_signs_for_missing_values_leave_a_column_one_of_numbers(path, word):
    rows = [f"{i},{'xyz'[i % 3]},{i % 2}" for i in range(1, 31)]
    rows[0], rows[9] = f"{word},{word.strip()},0", f"{word},y,1"
    write(path, "\n".join(["a,b,y", *rows, ""]))
    source = CsvSource(path, "y")
    assert not source.remarks
    first = read(source)[0].features
    assert first == {f"b={word.strip()}": 1.0}  # text may say so, and mean it


@pytest.mark.parametrize("n_numbers", [5, 100])
def test_numbers_among_signs_for_nothing_are_remarked_on_however_many(path, n_numbers):
    rows = [f"{i % n_numbers}.5,{i % 2}\n-,{i % 2}\n" for i in range(100)]
    write(path, "a,y\n" + "".join(rows))
    (remark,) = CsvSource(path, "y").remarks
    assert remark == (
        "column 'a' is taken as text, each value a category: of its first 200 cells all "
        "but 100 are numbers, and line 3 has '-'"
    )
    write(path, "a,y\n" + "".join(rows).replace("-,", "B,"))
    assert len(CsvSource(path, "y").remarks) == (n_numbers == 100)


def test_a_text_of_many_lines_may_be_longer_than_a_look_at_the_head(path):
    note = "a word\n" * (1 << 18)  # more lines than a head needs, all in one cell
    write(path, f'y,note,x\n1,"{note}",3\n0,short,5\n')
    first, second = read(CsvSource(path, "y"))
    assert first.features == {f"note={note}": 1, "x": 3}
    assert second.features == {"note=short": 1, "x": 5}
