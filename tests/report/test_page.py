"""The page is one file, asks for nothing, and takes names for text."""

import base64
import hashlib
import html.parser
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from report_samples import NASTY, SAMPLES, many, shortlist
from shortlist import ShortlistError
from shortlist.report import Report, render, summary

any_name = st.text(st.characters(exclude_categories=()), max_size=12)


class Reader(html.parser.HTMLParser):
    """Elements of a page, texts of its cells, and the text of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.cells, self.scripts, self.inside = [], [], [], None
        self.attributes = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = tag
        if tag == "td":
            self.cells.append("")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "td":
            self.cells[-1] += data
        if self.inside == "script":
            self.scripts[-1] += data


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_summary_in_the_page_is_the_summary(kind):
    told = summary(SAMPLES[kind]())
    data, _ = Reader(render(told)).scripts
    assert json.loads(data) == told


@pytest.mark.parametrize("kind", SAMPLES)
def test_nothing_is_asked_for_from_elsewhere(kind):
    page = render(summary(SAMPLES[kind]()))
    read = Reader(page)
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(read.tags)
    assert not {"src", "href", "onerror", "style"} & {
        name for name, _ in read.attributes
    }
    code = page.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in code
    assert "https:" not in code
    assert "innerHTML" not in code


def test_the_policy_allows_just_the_script_and_style_that_are_there():
    page = render(summary(shortlist()))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_a_name_with_markup_stays_text_for_readers_without_scripts():
    page = render(summary(shortlist()))
    read = Reader(page)
    assert NASTY in read.cells
    assert page.count("<script") == 2
    assert NASTY not in page
    assert "one &lt;pass&gt;" in page


@settings(max_examples=40, deadline=None)
@given(st.lists(any_name, min_size=3, max_size=3))
def test_any_name_is_written_and_read_back(names):
    told = summary(shortlist(names=tuple(names), notes=tuple(names)))
    page = render(told)
    page.encode("utf-8")
    read = Reader(page)
    assert read.tags.count("script") == 2
    assert json.loads(read.scripts[0])["entries"]["name"] == told["entries"]["name"]


def test_what_looks_like_a_place_of_the_template_is_left_alone():
    page = render(summary(shortlist(names=("{{data}}", "{{script}}", "{{none}}"))))
    assert [c for c in Reader(page).cells if "{{" in c] == [
        "{{script}}",
        "{{none}}",
        "{{data}}",
    ]


def test_ten_thousand_features_stay_under_five_megabytes():
    page = render(summary(many()))
    assert len(page.encode()) < 5_000_000
    assert "and 9,000 more" in page  # the table for readers without scripts


def test_a_report_is_saved_whole_and_shown_in_a_frame(tmp_path):
    made = shortlist()
    report = made.report(tmp_path / "report.html")
    assert isinstance(report, Report)
    saved = (tmp_path / "report.html").read_text("utf-8")
    assert saved == report.html == made.report().html
    frame = report._repr_html_()
    read = Reader(frame)
    assert read.tags == ["iframe"]
    attributes = dict(read.attributes)
    assert attributes["srcdoc"] == report.html
    assert attributes["sandbox"] == "allow-scripts"
    assert repr(report) == "<report on 3 features chosen by mission>"


def test_a_place_where_nothing_can_be_written_gets_a_line(tmp_path):
    with pytest.raises(ShortlistError) as caught:
        shortlist().report(tmp_path / "missing" / "report.html")
    assert (
        str(caught.value) == f"there is no folder {tmp_path / 'missing'}; make it first"
    )
    with pytest.raises(ShortlistError, match="is a folder; give the name of a file"):
        shortlist().report(tmp_path)


def test_words_of_the_head_follow_the_task():
    leads = {
        kind: re.search(r'class="lead">(.*?)<', render(summary(make())))[1]
        for kind, make in SAMPLES.items()
    }
    assert "to tell spam from ham" in leads["binary"]
    assert "to tell 3 classes apart" in leads["several_classes"]
    assert "to predict a number" in leads["path"]
    assert "to predict 2 numbers" in leads["outputs"]
    assert leads["nothing"].startswith("0 features, chosen")
    assert leads["binary"].startswith("3 of 1,048,576 features")
