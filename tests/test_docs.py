"""Code in the documentation runs and prints what the text says.

``PYTHONPATH=tests python tests/test_docs.py`` puts what is printed now into the pages whose
output stands in blocks of its own: tutorials, the guides to sources and to comparing.
"""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from doc_pages import (
    DOCS,
    PAGES,
    PLAYED,
    ROOT,
    play,
    refresh,
    run_command,
    words_and_numbers,
)


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


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.stem)
def test_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.setenv("SHORTLIST_QUIET", "1")
    steps = list(play(page.read_text(), tmp_path))
    assert len(steps) >= 3
    for what, said, came in steps:
        words, numbers = words_and_numbers(said)
        assert words_and_numbers(came)[0] == words, what
        assert words_and_numbers(came)[1] == pytest.approx(numbers, rel=0.02, abs=0.01)


def test_what_a_page_prints_can_be_brought_up_to_date(tmp_path):
    page = (
        "```python\nprint(2)\n```\n\n```text\n1\n```\n\n```console\n$ echo 3\n4\n```\n"
    )
    assert [tuple(step) for step in play(page, tmp_path)] == [
        ("print(2)\n", "1\n", "2\n"),
        ("echo 3", "4\n", "3\n"),
    ]
    assert refresh(page, tmp_path) == page.replace("1", "2").replace("4", "3")


def test_three_commands_lead_from_a_clone_to_a_report(tmp_path):
    readme = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    install, *others = block.splitlines()
    assert len(others) == 2
    assert install == "make install"
    assert re.search("^install:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    people = (f"{i % 7},{'Bonn' if i % 3 else 'Oslo'},{i % 7 / 2}" for i in range(400))
    (tmp_path / "people.csv").write_text("\n".join(["age,city,income", *people]))
    for command in others:
        run_command(command.removeprefix(".venv/bin/"), tmp_path)
    assert "income" in (tmp_path / "report.html").read_text()


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
    assert printed == [
        *("('x3', 'x8')", "0.33", "[('x3', 'x20')]", "[('x3', 'x20')]"),
        "['gene 3', 'gene 8'] 50",
        "[('gene 3', 'gene 20')]",
    ]
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


if __name__ == "__main__":
    for page in PLAYED:
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(refresh(page.read_text(), Path(folder)))
