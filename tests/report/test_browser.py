"""The page works in a real browser."""

from dataclasses import replace

import numpy as np
import pytest

from report_samples import NASTY, SAMPLES, many, path, several_classes, shortlist
from shortlist._in_words import evenly

pytestmark = pytest.mark.browser

LIST = "#budget-list"


def scrolls_sideways(page):
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


def colours(page):
    """Brightness of the page and of its text, from 0 to 765."""
    style = "getComputedStyle(document.body)"
    both = page.evaluate(f"[{style}.backgroundColor, {style}.color]")
    return [sum(map(int, colour[4:-1].split(","))) for colour in both]


@pytest.mark.parametrize("kind", SAMPLES)
def test_it_opens_without_complaints_asks_for_nothing_and_fits_a_phone(opened, kind):
    report = opened(SAMPLES[kind]())
    page = report.page
    assert page.get_by_role("heading", name="What was chosen").is_visible()
    assert page.get_by_role("heading", name="How to make it again").is_visible()
    assert not scrolls_sideways(page)
    bright, ink = colours(page)
    assert ink < 150 < 700 < bright
    page.set_viewport_size({"width": 375, "height": 700})
    page.emulate_media(color_scheme="dark")
    assert not scrolls_sideways(page)
    dark, ink = colours(page)
    assert dark < 150 < 600 < ink
    assert report.complaints == []
    (request,) = report.requests
    assert request.startswith("file:")


def test_substitutes_looked_for_in_vain_are_told_from_none_looked_for(opened):
    found = opened(SAMPLES["without_substitutes"]())
    assert "none found" in found.section("What could take their place").inner_text()
    assert opened(shortlist()).section("What could take their place").count() == 0


def test_a_name_with_a_script_stays_text(opened):
    report = opened(shortlist())
    page = report.page
    assert report.section("What was chosen").locator("tbody th").all_inner_texts() == [
        "size",
        NASTY,
        "price",
    ]
    assert page.title() == "3 features chosen by mission"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_letters_that_would_not_show_are_written_out(opened):
    names = ("\u202egnp.exe", "tab\there", "\x1b[31mred")
    report = opened(shortlist(names=names))
    shown = report.names("section:nth-of-type(2)")
    assert sorted(shown) == ["\\u202egnp.exe", "\\x1b[31mred", "tab\\x09here"]


def test_the_slider_shows_the_list_of_each_size_of_a_path(opened):
    report = opened(path())
    page, slider = report.page, report.page.get_by_label("Budget k")
    assert report.names(LIST) == ["size", NASTY, "price"]
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert report.names(LIST) == ["size", NASTY]
    assert page.locator("#budget-k").inner_text() == "2"
    assert page.locator("label.slider").inner_text() == "Budget k = 2"
    changes = page.locator("#budget-changes").inner_text()
    assert changes.startswith("objective 0.5. Against k = 1: in size, ")
    assert changes.endswith("; out early <b>bird</b>")
    page.keyboard.press("Home")
    assert report.names(LIST) == ["early <b>bird</b>"]
    assert slider.get_attribute("aria-valuetext") == "k = 1"
    assert page.locator("svg .mark").count() == 2  # objective, and loss held out
    page.keyboard.press("End")
    assert report.names(LIST) == ["size", NASTY, "price"]
    assert report.complaints == []


def test_a_budget_of_groups_is_not_called_one_of_features(opened):
    kept = shortlist(params={"k": 2, "unit": "group"})
    asked = opened(kept).section("What was asked").inner_text()
    assert "at most 2 groups" in asked
    assert "with 3 columns in the end" in asked
    plain = opened(shortlist()).section("What was asked").inner_text()
    assert "at most 3 features" in plain
    assert "columns" not in plain


def test_the_thumb_of_the_slider_stands_below_the_line_that_it_moves(opened):
    """Also where rows held out have judged budgets beyond those of the list."""
    made = path()
    trace = {key: made.trace[key] for key in made.trace if not key.startswith("cv_")}
    sizes = np.array([1, 3, 5, 10])
    trace |= {"budget_k": sizes, "budget_score": sizes / 10, "budget_error": sizes / 99}
    for width in (1200, 390):
        page = opened(replace(made, trace=trace), width=width).page
        slider = page.get_by_label("Budget k")
        for i in (2, 1, 0):
            slider.fill(str(i))
            assert page.locator("#budget-k").inner_text() == str(i + 1)
            box = slider.bounding_box()
            thumb = 18.0
            centre = box["x"] + thumb / 2 + i / 2 * (box["width"] - thumb)
            # of the line, which has no width, its left end
            marks = [m.bounding_box()["x"] for m in page.locator("svg .mark").all()]
            assert marks == pytest.approx([centre, centre], abs=1.5)
        scales = [
            [text for text in svg.locator("text").all_text_contents() if text.isdigit()]
            for svg in page.locator("svg").all()
        ]
        assert {"1", "2", "3", "5", "10"} <= set(scales[0]) & set(scales[1])


def test_places_that_only_rows_held_out_know_are_passed_over(opened):
    made = path()
    trace = {key: made.trace[key] for key in made.trace if not key.startswith("cv_")}
    trace |= {"path_sizes": np.array([2, 4, 6]), "budget_k": np.array([1, 3, 5, 9])}
    trace |= {"budget_score": np.arange(4.0), "budget_error": np.ones(4)}
    page = opened(replace(made, trace=trace)).page
    page.get_by_label("Budget k").focus()
    seen = []
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight", "End"):
        page.keyboard.press(key)
        seen.append(page.locator("#budget-k").inner_text())
    assert seen == ["4", "2", "2", "4", "6"]


def test_names_have_the_width_of_a_phone_and_bars_are_below_them(opened):
    for kind in ("with_second_look", "several_classes"):
        page = opened(SAMPLES[kind](), width=390).page
        chosen = page.locator("section").nth(1).locator("table")
        name = chosen.locator("tbody th").first
        table_width = chosen.bounding_box()["width"]
        assert name.bounding_box()["width"] > 0.4 * table_width
        assert name.locator(".bar").is_visible()
        assert not chosen.locator("td .bar").first.is_visible()


def test_numbers_of_a_column_have_as_many_decimals(opened):
    for weights in ([1.26, -1.888, 0.4164], [3.0, -20.5, 4e-9], [1234.5, 0.002, 5.0]):
        made = shortlist(weights=np.array(weights), names=("a", "b", "c"), errors=None)
        shown = opened(made).section("What was chosen").locator("tbody td:nth-child(3)")
        expected = evenly(made.weights.tolist(), signed=True)
        texts = [
            text.replace("\N{MINUS SIGN}", "-").replace(",", "")
            for text in shown.all_inner_texts()
        ]
        assert texts == [text.replace("e-09", "e-9") for text in expected]


def test_the_slider_cuts_lists_without_a_path_class_by_class(opened):
    report = opened(several_classes())
    report.page.get_by_label("Budget k").fill("0")
    assert report.names(LIST) == ["price", "size", "age"]
    report.page.get_by_label("Budget k").fill("1")
    assert report.names(LIST) == ["price", "size", "price", "age"]
    changes = report.page.locator("#budget-changes").inner_text()
    assert changes.endswith("Against k = 1: in price (b)")


def test_classes_are_looked_at_one_by_one(opened):
    report = opened(several_classes())
    report.page.get_by_label("class").select_option(label="b")
    chosen = report.section("What was chosen").locator("tbody th")
    assert chosen.all_inner_texts() == ["size", "price"]
    assert NASTY in report.page.locator("#margin option").all_inner_texts()


def test_of_ten_thousand_features_few_are_on_the_page_and_all_are_found(opened):
    report = opened(many())
    page, chosen = report.page, report.section("What was chosen")
    assert page.evaluate("document.querySelectorAll('*').length") < 2000
    assert chosen.get_by_role("status").inner_text() == "1 to 25 of 10,000"
    before = chosen.locator("tbody th").all_inner_texts()
    chosen.get_by_role("button", name="Next").press("Enter")
    assert chosen.get_by_role("status").inner_text() == "26 to 50 of 10,000"
    assert not set(before) & set(chosen.locator("tbody th").all_inner_texts())
    page.get_by_label("Find").fill("number 9999")
    assert chosen.locator("tbody th").all_inner_texts() == [
        "namespace^feature number 9999"
    ]
    page.get_by_label("Find").fill("no such name")
    assert chosen.get_by_role("status").inner_text() == "nothing to show"
    page.get_by_label("Budget k").fill("4999")
    assert page.locator("#budget-k").inner_text() == "5,000"
    assert report.complaints == []


def test_columns_are_sorted_by_their_heads(opened):
    report = opened(shortlist())
    chosen = report.section("What was chosen")
    weight = chosen.get_by_role("button", name="weight")
    weight.click()
    head = chosen.locator("th[aria-sort]")
    assert head.get_attribute("aria-sort") == "descending"
    weight.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert chosen.locator("tbody th").all_inner_texts() == ["price", NASTY, "size"]


def test_bars_are_of_weights_or_of_scores_on_the_side_of_the_sign(opened):
    page = opened(shortlist(scores=np.array([4.0, 2.0, 1.0]))).page
    bars = (
        "[...document.querySelectorAll('section:nth-of-type(2) .bar-cell .bar i')]"
        ".map(i => i.className + ' ' + i.style.width)"
    )
    assert page.evaluate(bars) == ["below 12.5%", "above 50%", "above 31.25%"]
    page.get_by_label("Bars").select_option("score")
    assert page.evaluate(bars) == ["below 50%", "above 25%", "above 12.5%"]


def test_members_and_exchanges_are_told_by_name(opened):
    members = opened(SAMPLES["members"]()).section("Who was a member when")
    assert members.locator("tbody th").all_inner_texts()[:3] == ["size", NASTY, "#12"]
    assert members.locator("[role=img]").first.get_attribute("aria-label") == (
        "examples 0 to 100, 300 to 500"
    )
    swaps = opened(SAMPLES["exchanges"]()).section("What came in and what left")
    assert swaps.locator("tbody th").all_inner_texts() == ["price", NASTY]


def test_a_second_look_is_told_by_name(opened):
    report = opened(SAMPLES["with_second_look"]())
    stable = report.section("How stable the choice is")
    assert "cut into two halves 12 times (of 50 asked for)" in stable.inner_text()
    assert "0.11" in stable.inner_text()
    assert stable.locator("tbody th").all_inner_texts() == ["<b>other"]
    others = report.section("What could take their place")
    assert others.locator("tbody tr").first.locator("th, td").all_inner_texts() == [
        "size",
        "<b>other",
        "90 %",
    ]
    assert "98 %" in report.section("What was chosen").inner_text()


def test_every_control_has_a_label_and_every_chart_a_description(opened):
    for make in (path, several_classes):
        page = opened(make()).page
        unlabelled = page.evaluate(
            "[...document.querySelectorAll('input, select')]"
            ".filter(e => !e.labels.length).map(e => e.id)"
        )
        assert unlabelled == []
        assert page.locator("svg:not([aria-label])").count() == 0


def test_without_scripts_the_ranked_table_is_there(opened):
    report = opened(shortlist(), java_script_enabled=False)
    cells = report.page.locator("noscript td").all_inner_texts()
    assert cells[:3] == ["1", "size", "2.00"]
    assert NASTY in cells
    assert "shortlist select a.svm -k 3" in report.page.locator("pre").inner_text()


def test_in_a_notebook_the_page_runs_in_its_frame(chromium):
    page = chromium.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_content(f"<body>{shortlist().report()._repr_html_()}</body>")
    inside = page.frame_locator("iframe")
    assert inside.get_by_role("heading", name="What was chosen").is_visible()
    assert NASTY in inside.locator("tbody th").all_inner_texts()
    assert complaints == []
    page.close()
