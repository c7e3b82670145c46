"""Code in the documentation runs and prints what the text says."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])


def code_in(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def test_adding_a_selector_works_as_written(capsys):
    scope = {"__name__": "docs"}
    for block in code_in(DOCS / "adding-a-selector.md"):
        exec(compile(block, "adding-a-selector.md", "exec"), scope)
    printed = capsys.readouterr().out.splitlines()
    text = (DOCS / "adding-a-selector.md").read_text()
    assert printed == ["['x3', 'x8']", "['x3' 'x8']"]
    assert all(f"`{line}`" in text for line in printed)


def test_the_readme_works_as_written(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (f"{i % 2} {i % 2 + 7}:1 {100 + i}:0.5" for i in range(400))
    Path("day-1.svm").write_text("\n".join(lines))
    assert subprocess.run(["gzip", "day-1.svm"]).returncode == 0
    people = (f"{i % 7},{'Bonn' if i % 3 else 'Oslo'},{i % 7 / 2}" for i in range(400))
    Path("people.csv").write_text("\n".join(["age,city,income", *people]))
    scope = {"__name__": "docs"}
    for block in code_in(ROOT / "README.md"):
        exec(compile(block, "README.md", "exec"), scope)
        for said in re.findall(r"#  ?(\[.*\])$", block, re.MULTILINE):
            assert said in capsys.readouterr().out
    assert scope["small"].shape == (500, 2)
    assert Path("model.shortlist").stat().st_size > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_page_on_sequences_works_as_written(capsys):
    page = DOCS / "sequences.md"
    scope = {"__name__": "docs"}
    for block in code_in(page):
        exec(compile(block, page.name, "exec"), scope)
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["('x2', 'x5')", "True", "(3,)"]
    assert all(f"`{line}`" in page.read_text() for line in printed)


def test_the_page_on_stability_works_as_written(capsys):
    page = DOCS / "stability.md"
    scope = {"__name__": "docs"}
    for block in code_in(page):
        exec(compile(block, page.name, "exec"), scope)
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["('x3', 'x8')", "0.33", "[('x3', 'x20')]"]
    assert all(f"`{line}`" in page.read_text() for line in printed)


def test_the_page_on_reports_works_as_written(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / "report.md"
    scope = {"__name__": "docs"}
    for block in code_in(page):
        exec(compile(block, page.name, "exec"), scope)
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["['x21', 'x7', 'x2']", "[1, 2, 3]"]
    assert all(f"`{line}`" in page.read_text() for line in printed)
    assert Path("report.html").read_text().startswith("<!doctype html>")
