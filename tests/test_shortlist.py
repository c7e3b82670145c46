"""The result is frozen, keeps its budget, and survives every form it is put in."""

import copy
import csv
import dataclasses
import html.parser
import io
import json
import pickle
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shortlist import storage
from shortlist._protocols import DataError, ShortlistError
from shortlist._shortlist import Shortlist

quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NASTY = "<script>alert('&\"')</script>"

any_text = st.text(st.characters(exclude_categories=()), max_size=12)
finite = st.floats(allow_nan=False, allow_infinity=False)
big_ids = st.integers(0, 2**64 - 1)


def make(**changes):
    """Two margins of three: class 'b' has ids 7 and 3, class 'a' has id 3."""
    values = {
        "method": "mission",
        "room": "sketch",
        "loss": "softmax",
        "k": 3,
        "budget": "shared",
        "ids": np.array([3, 7, 3]),
        "names": ("price", "size", "price"),
        "margin": np.array([1, 1, 0]),
        "weights": np.array([-0.5, 2.0, 1.25]),
        "scores": np.array([0.5, 2.0, 1.25]),
        "errors": np.array([0.1, np.nan, 0.3]),
        "intercept": np.array([0.0, 1.0, -1.0]),
        "classes": ("a", "b", "c"),
        "n_examples": 20_000,
        "n_features": 1_048_576,
        "params": {"step": 0.5, "inner": {"sizes": [1, 2]}},
        "trace": {"loss": np.array([1.0, 0.5, np.nan])},
        "notes": ("one pass",),
        "version": "0.0.1",
    }
    return Shortlist(**(values | changes))


def single(names, k=None, **changes):
    """One margin, the first name best, no classes."""
    n = len(names)
    values = {
        "k": k or max(n, 1),
        "ids": np.arange(n),
        "names": names,
        "margin": np.zeros(n, dtype=np.int64),
        "weights": np.arange(n, 0, -1.0),
        "scores": np.arange(n, 0, -1.0),
        "errors": None,
        "intercept": np.zeros(1),
        "classes": None,
        "loss": "squared",
        "notes": (),
    }
    return make(**(values | changes))


@st.composite
def shortlists(draw):
    n_margins = draw(st.integers(1, 3))
    entries = draw(
        st.lists(
            st.tuples(big_ids, st.integers(0, n_margins - 1)), unique=True, max_size=5
        )
    )
    n = len(entries)
    names = {i: draw(any_text) for i, _ in entries}
    column = st.lists(finite, min_size=n, max_size=n)
    n_classes = n_margins if n_margins > 1 else 2
    label = draw(st.sampled_from([any_text, st.integers(), st.booleans() | any_text]))
    return Shortlist(
        method=draw(any_text),
        room=draw(any_text),
        loss=draw(any_text),
        k=max(n, 1),
        budget=draw(st.sampled_from(["shared", "per_class"])),
        ids=np.array([i for i, _ in entries], dtype=np.uint64),
        names=tuple(names[i] for i, _ in entries),
        margin=np.array([m for _, m in entries], dtype=np.int64),
        weights=draw(st.none() | column),
        scores=draw(column),
        errors=draw(st.none() | st.lists(st.floats(), min_size=n, max_size=n)),
        intercept=draw(st.lists(finite, min_size=n_margins, max_size=n_margins)),
        classes=draw(
            st.none()
            | st.lists(label, min_size=n_classes, max_size=n_classes, unique=True)
        ),
        n_examples=draw(st.integers(0, 10**12)),
        n_features=draw(st.none() | big_ids),
        params=draw(st.dictionaries(any_text, st.floats() | any_text, max_size=2)),
        trace=draw(
            st.dictionaries(
                any_text,
                hnp.arrays(np.float64, st.integers(0, 3)),
                max_size=2,
            )
        ),
        notes=tuple(draw(st.lists(any_text, max_size=2))),
    )


@quick
@given(chosen=shortlists())
def test_load_gives_back_an_equal_shortlist(tmp_path, chosen):
    chosen.save(tmp_path / "one")
    back = Shortlist.load(tmp_path / "one")
    assert back == chosen
    assert hash(back) == hash(chosen)
    assert back.names == chosen.names
    back.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert pickle.loads(pickle.dumps(chosen)) == chosen


@quick
@given(chosen=shortlists())
def test_every_shortlist_prints_and_exports(chosen):
    for text in (repr(chosen), chosen._repr_html_()):
        text.encode("utf-8")
        assert all(line.isprintable() for line in text.split("\n"))
    assert str(chosen) == repr(chosen)
    assert len(chosen.to_frame("pandas")) == len(chosen)
    assert chosen.to_frame("polars").height == len(chosen)
    json.dumps(chosen.to_dict(), allow_nan=False)
    # newline="" keeps a carriage return in a name as it is
    rows = list(csv.DictReader(io.StringIO(chosen.to_csv_text(), newline="")))
    assert tuple(row["name"] for row in rows) == chosen.names
    assert [int(row["id"]) for row in rows] == chosen.ids.tolist()
    assert [float(row["score"]) for row in rows] == chosen.scores.tolist()


@quick
@given(chosen=shortlists(), n=st.integers(1, 6))
def test_top_keeps_the_best_within_the_lower_budget(chosen, n):
    best = chosen.top(n)
    assert best.k == min(n, chosen.k)
    assert best.n_margins == chosen.n_margins
    if chosen.budget == "shared":
        assert best.n_selected == min(n, chosen.n_selected)
    for m in range(chosen.n_margins):
        kept, before = best.ids[best.margin == m], chosen.ids[chosen.margin == m]
        if chosen.budget == "per_class" or chosen.n_margins == 1:
            assert np.array_equal(kept, before[:n])
        else:
            assert np.array_equal(kept, before[np.isin(before, best.support)])


def test_top_of_a_shared_budget_counts_features_not_entries():
    best = make().top(1)  # 7 has the best score of all; 3 is the best of class "a"
    assert best.support.tolist() == [7]
    assert best.margin.tolist() == [1]
    assert make(budget="per_class").top(1).ids.tolist() == [3, 7]
    assert make().top(9) == make()
    with pytest.raises(ShortlistError, match="n should be at least 1, got 0"):
        make().top(0)


def test_entries_are_ordered_by_margin_score_and_id():
    chosen = make(scores=np.array([2.0, 2.0, 1.0]))
    assert chosen.margin.tolist() == [0, 1, 1]
    assert chosen.ids.tolist() == [3, 3, 7]
    assert chosen.names == ("price", "price", "size")
    assert chosen.weights.tolist() == [1.25, -0.5, 2.0]


def test_properties_say_what_was_chosen():
    chosen = make()
    assert chosen.support.dtype == np.uint64
    assert chosen.support.tolist() == [3, 7]
    assert (len(chosen), chosen.n_selected, chosen.n_margins) == (3, 2, 3)
    assert chosen.is_classifier
    assert chosen.margin_labels == ("a", "b", "c")
    assert chosen.names_by_id() == {3: "price", 7: "size"}
    assert single(("x",), classes=(0, 1)).margin_labels == (1,)
    assert not single(("x",)).is_classifier
    assert single(()), "an empty result is a result"


OTHER = {
    "method": "sgd",
    "room": "rows",
    "loss": "hinge",
    "k": 4,
    "budget": "per_class",
    "ids": np.array([3, 8, 3]),
    "names": ("price", "Size", "price"),
    "margin": np.array([1, 2, 0]),
    "weights": np.array([-0.5, 2.0, np.nextafter(1.25, 2)]),
    "scores": np.array([0.5, 2.5, 1.25]),
    "errors": np.array([0.1, 0.2, 0.3]),
    "intercept": np.array([-0.0, 1.0, -1.0]),
    "classes": ("a", "b", "d"),
    "n_examples": 20_001,
    "n_features": None,
    "params": {"step": 0.5, "inner": {"sizes": [1, 2.0]}},
    "trace": {"loss": np.array([1.0, 0.5, np.nan], dtype=np.float32)},
    "notes": (),
    "version": "0.0.2",
}


@pytest.mark.parametrize("name", [part.name for part in dataclasses.fields(Shortlist)])
def test_equality_sees_every_field(name):
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(**{name: OTHER[name]})


def test_equality_tells_none_types_and_names_of_traces_apart():
    assert make() != make(weights=None)
    assert make(errors=None) != make()
    trace = {"Loss": np.array([1.0, 0.5, np.nan])}
    assert make() != make(trace=trace)
    assert single(("x",), classes=(0, 1)) != single(("x",), classes=(False, True))
    assert make() != "mission"


def test_nothing_in_it_can_be_changed():
    theirs = np.array([0.5, 2.0, 1.25])
    params = {"inner": {"sizes": [1, 2]}}
    chosen = make(weights=theirs, params=params)
    theirs[:] = 0.0
    params["inner"]["sizes"].append(3)
    assert chosen.weights.tolist() == [1.25, 2.0, 0.5]
    assert chosen.params["inner"]["sizes"] == (1, 2)
    for name in ("ids", "margin", "weights", "scores", "errors", "intercept"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(chosen, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        chosen.trace["loss"][0] = 1
    for mapping in (chosen.params, chosen.params["inner"], chosen.trace):
        with pytest.raises(TypeError):
            mapping["x"] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.k = 100


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_are_equal_and_frozen_too(again):
    chosen = again(make())
    assert chosen == make()
    assert not chosen.weights.flags.writeable
    assert not chosen.trace["loss"].flags.writeable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 1}, "shared budget of k = 1 allows 1 distinct features, got 2"),
        ({"k": 1, "budget": "per_class"}, "k = 1 allows 1 entries a margin, got 2"),
        ({"k": 0}, "k should be at least 1, got 0"),
        ({"k": 2.5}, "k should be an integer, got 2.5"),
        ({"budget": "both"}, "budget should be 'shared' or 'per_class', got 'both'"),
        (
            {"ids": np.array([3, 7])},
            "ids should have a value for each of 3 names, got 2",
        ),
        ({"ids": np.array([-3, 7, -3])}, "ids should fit uint64"),
        ({"ids": np.array([3.0, 7.5, 3.0])}, "ids should be integers, got float64"),
        ({"ids": np.array([[3, 7, 3]])}, r"ids should be one row, got shape \(1, 3\)"),
        ({"ids": np.array([3, 3, 3])}, "a feature should have one entry a margin"),
        ({"names": ("a", "b", "c")}, "an id should have one name, got several"),
        ({"names": ("a", "b", 3)}, "each of names should be text, got 3"),
        ({"names": "abc"}, "names should be a sequence of texts, got 'abc'"),
        ({"margin": np.array([1, 3, 0])}, "margin should lie between 0 and 2"),
        ({"margin": np.array([1, -1, 0])}, "margin should lie between 0 and 2"),
        ({"weights": np.array([1.0, np.inf, 0])}, "weights should be finite"),
        ({"weights": np.zeros(4)}, "weights should have a value for each of 3 names"),
        ({"weights": ["x", 1, 2]}, "weights should be numbers"),
        ({"scores": np.array([1.0, np.nan, 0])}, "scores should be numbers, got NaN"),
        ({"errors": np.zeros(2)}, "errors should have a value for each of 3 names"),
        ({"intercept": np.zeros(0)}, "intercept should have a value a margin"),
        ({"intercept": np.array([0, np.nan, 0])}, "intercept should be finite"),
        ({"intercept": 1.0}, r"intercept should be one row, got shape \(\)"),
        ({"classes": ("a", "b")}, r"3 labels for 3 margin\(s\), got 2"),
        ({"classes": ("a", "b", "a")}, "classes should be distinct"),
        ({"classes": ("a", "b", None)}, "classes should be texts, numbers or bools"),
        ({"n_examples": -1}, "n_examples should be at least 0, got -1"),
        ({"n_features": "many"}, "n_features should be an integer, got 'many'"),
        ({"params": {"f": print}}, r"params: value\['f'\] should be a JSON value"),
        ({"params": None}, "params should be a mapping, got None"),
        ({"trace": {"a": np.array([None])}}, "array 'a' should hold bools, numbers"),
        ({"trace": {1: np.zeros(2)}}, "each of names of traces should be text, got 1"),
        ({"method": None}, "method should be text, got None"),
        ({"notes": "one pass"}, "notes should be a sequence of texts"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(changes, message):
    with pytest.raises(ShortlistError, match=message) as caught:
        make(**changes)
    assert "\n" not in str(caught.value)


def test_a_list_of_huge_ids_is_refused_not_rounded():
    with pytest.raises(ShortlistError, match="ids should be integers, got float64"):
        single(("a", "b"), ids=[0, 2**64 - 1])
    exact = single(("a", "b"), ids=np.array([0, 2**64 - 1], dtype=np.uint64))
    assert exact.support.tolist() == [0, 2**64 - 1]


def test_infinite_scores_rank_first():
    chosen = single(("a", "b"), scores=np.array([1.0, np.inf]))
    assert chosen.names == ("b", "a")


def test_text_is_an_aligned_table():
    assert str(make()).splitlines() == [
        "2 of 1,048,576 features chosen by mission (softmax), 20,000 examples",
        "rank  name   weight  score  error",
        "class a",
        "   1  price   +1.25   1.25    0.3",
        "class b",
        "   1  size       +2      2    nan",
        "   2  price    -0.5    0.5    0.1",
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


def test_a_file_of_another_kind_is_refused(tmp_path):
    storage.save(tmp_path / "c", kind="checkpoint", version=1, header={}, arrays={})
    with pytest.raises(DataError, match="a checkpoint, expected a shortlist"):
        Shortlist.load(tmp_path / "c")


def test_a_file_that_breaks_the_rules_is_refused(tmp_path):
    make().save(tmp_path / "s")
    header, arrays = storage.load(tmp_path / "s", kind="shortlist", version=1)
    for change in ({"k": 1}, {"trace": ["a", "b"]}, {"surprise": 1}, {"names": None}):
        storage.save(
            tmp_path / "s",
            kind="shortlist",
            version=1,
            header=header | change,
            arrays=arrays,
        )
        with pytest.raises(DataError, match="s: not a valid shortlist: "):
            Shortlist.load(tmp_path / "s")


def test_version_is_the_package_by_default():
    from importlib.metadata import version

    values = {
        part.name: getattr(make(), part.name)
        for part in dataclasses.fields(Shortlist)
        if part.name != "version"
    }
    assert Shortlist(**values).version == version("shortlist")


def test_importing_it_imports_no_heavy_library():
    code = (
        "import sys, shortlist._shortlist; "
        "print({'sklearn', 'pandas', 'polars', 'scipy', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
