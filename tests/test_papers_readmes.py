"""What the READMEs of papers show is what their committed results say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAPERS = ("barda", "foba", "gsr", "mission", "os")
#: Results without a table in a README: settings, and studies told in words or pictures.
WITHOUT_TABLE = {
    *("barda/tune.csv", "foba/sensors.csv", "mission/drift.csv"),
    *("gsr/growth.csv", "gsr/variants.csv"),
}


#: Heads of tables that are made by hand, or by other scripts.
ELSEWHERE = ("| claim |", "| variant | Gaussian", "| data | method |", "| house |")


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def folder(paper):
    return ROOT / "papers" / paper


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_are_those_of_the_results(paper):
    from papers.readme import printed, refreshed, tables_of

    page, said = (folder(paper) / "README.md").read_text(), printed(paper)
    again = refreshed(page, said)
    assert again == page, f"python -m papers.readme --write {paper}"
    others = tables_of(page).keys() - tables_of(said).keys()
    assert [head for head in others if not head.startswith(ELSEWHERE)] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_no_result_is_kept_that_nobody_is_shown(paper):
    from papers.readme import printed, tables_of

    shown = tables_of((folder(paper) / "README.md").read_text())
    found = {path.name for path in (folder(paper) / "results").glob("*.csv")}
    for name in sorted(found):
        if f"{paper}/{name}" not in WITHOUT_TABLE:
            assert tables_of(printed(paper, only=name)).keys() & shown.keys(), name


@pytest.mark.parametrize("paper", PAPERS)
def test_every_picture_is_shown_and_every_one_shown_is_there(paper):
    pages = "".join(path.read_text() for path in folder(paper).glob("*.md"))
    shown = set(re.findall(r"\]\(results/(\w+\.png)\)", pages))
    assert shown == {path.name for path in (folder(paper) / "results").glob("*.png")}


def test_tables_are_put_in_place_of_those_with_the_same_head():
    from papers.readme import refreshed

    page = "# A\n\n| a |\n|---|\n| 1 |\n\nwords\n\n| b |\n| 2 |\n\n| a |\n| 3 |\n"
    said = "| a |\n|---|\n| 5 |\n\n| a |\n|---|\n| 6 |\n| 7 |\n\n| c |\n"
    made = refreshed(page, said)
    assert made == (
        "# A\n\n| a |\n|---|\n| 5 |\n\nwords\n\n| b |\n| 2 |\n\n"
        "| a |\n|---|\n| 6 |\n| 7 |\n"
    )
    assert refreshed(made, said) == made
