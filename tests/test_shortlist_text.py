"""What a result looks like: as text, as markup, as frames, CSV and JSON."""

import csv
import html.parser
import io
import json
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from report_samples import shortlist, with_second_look, without_substitutes
from shortlist._protocols import ShortlistError
from shortlist_samples import make, single

NASTY = "<script>alert('&\"')</script>"
any_text = st.text(st.characters(exclude_categories=()), max_size=12)
quick = settings(max_examples=60, deadline=None)


def test_text_is_an_aligned_table():
    assert str(make()).splitlines() == [
        "2 of 1,048,576 features chosen by mission (softmax), 20,000 examples",
        "rank  name   weight  score  error",
        "class a",
        "   1  price   +1.25   1.25    0.3",
        "class b",
        "   1  size    +2.00   2.00      -",
        "   2  price   -0.50   0.50    0.1",
        "class c: nothing chosen",
        "note: one pass",
    ]


def test_headline_counts_in_words():
    assert "up to 3 per class, 1 example" in str(make(budget="per_class", n_examples=1))
    assert str(single(("x",), n_features=None)).startswith("1 feature chosen by")
    assert str(single((), n_features=5)).splitlines() == [
        "0 of 5 features chosen by mission (squared), 20,000 examples"
    ]
    outputs = make(classes=None, budget="per_class")
    assert "up to 3 per output" in str(outputs)
    assert "\noutput 0\n" in str(outputs)


def test_long_lists_stop_after_twenty_and_ten():
    chosen = single(tuple(f"x{i}" for i in range(100)))
    lines = str(chosen).splitlines()
    assert len(lines) == 1 + 1 + 20 + 1
    assert lines[-1] == "... and 80 more"
    assert chosen._repr_html_().count("<tr>") == 1 + 20 + 1
    classes = make(intercept=np.zeros(1000), classes=tuple(range(1000)))
    assert str(classes).splitlines()[-2] == "... and 990 more classes"
    assert "... and 990 more classes" in classes._repr_html_()


def cells(text):
    """Cells in a terminal, by the rule that the module documents."""
    wide = [unicodedata.east_asian_width(letter) in ("W", "F") for letter in text]
    marks = [unicodedata.category(letter) in ("Mn", "Me") for letter in text]
    return sum(wide) + len(text) - sum(marks)


@quick
@given(names=st.lists(st.text(max_size=60), min_size=1, max_size=5).map(tuple))
@example(names=("漢字" * 30, "e\u0301" * 50, "plain", "😀", ""))
def test_lines_line_up_and_names_are_limited(names):
    lines = str(single(names)).splitlines()[1:]
    assert len(lines) == 1 + len(names)
    assert len({cells(line) for line in lines}) == 1
    assert cells(lines[0]) <= 40 + 4 * 10


def test_control_letters_are_written_out():
    chosen = single(("\x1b[31mred\nline\0", "\u202eevil", "\udcff"), notes=("a\x1bb",))
    text = str(chosen)
    for shown in (r"\x1b[31mred\nline\x00", r"\u202eevil", r"\udcff", r"a\x1bb"):
        assert shown in text
        assert shown in chosen._repr_html_()
    assert len(text.splitlines()) == 6


class Tags(html.parser.HTMLParser):
    """Collects what is text and what is markup."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


def parsed(chosen):
    tags = Tags()
    tags.feed(chosen._repr_html_())
    return tags


def test_names_and_labels_cannot_become_markup():
    chosen = make(
        method=NASTY,
        loss=NASTY,
        names=(NASTY, "size", NASTY),
        classes=(NASTY, "b", "c"),
        notes=(NASTY,),
    )
    assert "<script" not in chosen._repr_html_()
    found = parsed(chosen)
    assert found.tags <= {"div", "p", "table", "tr", "th", "td", "b"}
    assert {name for name, _ in found.attributes} <= {"style", "title", "colspan"}
    assert found.text.count(NASTY) == 3  # two names and the note
    assert ("title", NASTY) in found.attributes
    binary = single((NASTY,), classes=("ham", NASTY))
    assert "<script" not in binary._repr_html_()


def test_bars_show_the_sign_and_the_size_of_weights():
    styles = [v for n, v in parsed(make()).attributes if "background" in (v or "")]
    assert len(styles) == 3
    assert "left:50%;width:31.2%" in styles[0]
    assert "left:50%;width:50.0%" in styles[1]
    assert "right:50%;width:12.5%" in styles[2]
    assert "background" not in make(weights=None)._repr_html_()
    huge = single(("a", "b"), weights=np.array([1.7e308, -1.7e308]))
    assert huge._repr_html_().count("width:50.0%") == 2
    assert "width:0.0%" in single(("a",), weights=np.zeros(1))._repr_html_()


def test_pandas_frame_has_the_entries():
    frame = make().to_frame()
    assert list(frame.columns) == [
        *("rank", "name", "id", "class", "weight", "score", "error")
    ]
    assert frame["rank"].tolist() == [1, 1, 2]
    assert frame["name"].tolist() == ["price", "size", "price"]
    assert frame["class"].tolist() == ["a", "b", "b"]
    assert frame["id"].dtype == np.uint64
    assert frame["weight"].tolist() == [1.25, 2.0, -0.5]
    assert np.isnan(frame["error"][1])


def test_polars_frame_has_the_entries():
    frame = make().to_frame("polars")
    assert frame.columns == make().to_frame().columns.tolist()
    assert frame["class"].to_list() == ["a", "b", "b"]
    assert str(frame.schema["id"]) == "UInt64"
    assert frame["score"].to_list() == [1.25, 2.0, 0.5]


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames_of_what_is_missing_or_mixed(backend):
    chosen = single(("a", "\udcff"), weights=None)
    frame = chosen.to_frame(backend)
    assert "class" not in frame.columns
    assert list(frame["name"]) == ["a", "\\udcff"]
    empty = frame["weight"].is_null() if backend == "polars" else frame["weight"].isna()
    assert empty.all()
    mixed = make(classes=("a", 1, True)).to_frame(backend)
    assert list(mixed["class"]) == ["a", "1", "1"]
    huge = make(classes=(0, 2**63, 1)).to_frame(backend)
    assert list(huge["class"]) == ["0", str(2**63), str(2**63)]
    assert len(single(()).to_frame(backend)) == 0


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_missing_library_is_named_with_its_extra(monkeypatch, backend):
    monkeypatch.setitem(sys.modules, backend, None)
    with pytest.raises(ShortlistError, match=rf"pip install 'shortlist\[{backend}\]'$"):
        make().to_frame(backend)


def test_another_backend_is_refused():
    with pytest.raises(ShortlistError, match="'pandas' or 'polars', got 'spark'"):
        make().to_frame("spark")


def test_csv_quotes_what_needs_it():
    chosen = single(('a,"b"', "=1+1", "new\nline", "back\rforth"), errors=None)
    text = chosen.to_csv_text()
    assert text.startswith('rank,name,id,weight,score,error\n1,"a,""b""",0,4.0,4.0,\n')
    assert "\n2,=1+1,1,3.0,3.0,\n" in text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert tuple(row["name"] for row in rows) == chosen.names


def test_dict_is_pure_json():
    result = json.loads(json.dumps(make().to_dict(), allow_nan=False))
    assert result["entries"][1] == {
        **{"rank": 1, "name": "size", "id": 7, "class": "b"},
        **{"weight": 2.0, "score": 2.0, "error": None},
    }
    assert result["params"] == {"step": 0.5, "inner": {"sizes": [1, 2]}}
    assert result["trace"] == {"loss": [1.0, 0.5, None]}
    assert result["intercept"] == [0.0, 1.0, -1.0]
    assert result["classes"] == ["a", "b", "c"]
    times = make(trace={"at": np.array(["2024-01-01"], dtype="datetime64[D]")})
    assert times.to_dict()["trace"] == {"at": ["2024-01-01"]}


def test_substitutes_that_were_looked_for_in_vain_are_not_passed_over():
    said = "substitutes: no other feature keeps half the worth of a chosen one"
    without, looked = shortlist(), without_substitutes()
    assert said not in str(without)
    assert said in str(looked).splitlines()
    assert said in looked._repr_html_()
    assert said not in str(with_second_look())
