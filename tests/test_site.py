"""The site has everything: checks that do without building it, which ``make docs`` does."""

import re
import sys
from pathlib import Path

import click
import pytest

import shortlist
import shortlist.sources

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture
def extensions(monkeypatch):
    """Let what the site is made with be imported, and scripts whose results it shows."""
    monkeypatch.setattr(sys, "path", [str(DOCS / "_ext"), str(ROOT), *sys.path])


def pages():
    """All pages of the site, as paths from the root without their endings."""
    found = [
        *DOCS.rglob("*.md"),
        *ROOT.glob("papers/**/*.md"),
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
    ]
    return {
        p.relative_to(ROOT).with_suffix("") for p in found if "_build" not in p.parts
    }


def entries(page):
    """Pages that the tables of contents of a page lead to."""
    text = (ROOT / page).with_suffix(".md").read_text()
    for block in re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                target = (ROOT / page).parent / line
                yield Path(target.resolve().relative_to(ROOT))


def test_every_page_is_in_a_table_of_contents():
    listed = [entry for page in pages() for entry in entries(page)]
    assert len(listed) == len(set(listed))
    assert set(listed) | {Path("docs/index")} == pages()


def test_every_public_name_is_in_the_api_reference(extensions):
    from public_members import find, named_in

    named = named_in(DOCS / "api" / "index.md")
    for name in named:
        assert find(name).__doc__, name
    public = set(shortlist.__all__) - {"__version__"}
    sources = {f"sources.{name}" for name in set(shortlist.sources.__all__) - public}
    assert public | sources | {"report.summary"} <= set(named)


def test_methods_of_scikit_learn_are_left_to_it(extensions):
    from public_members import members_of_ours

    members = members_of_ours(DOCS / "api" / "index.md")["shortlist.FoBa"]
    assert {"fit", "at", "predict"} <= set(members["methods"])
    assert "shortlist_" in members["properties"] or "coef_" in members["properties"]
    assert not {"get_params", "set_output", "get_metadata_routing"} & set(
        members["methods"]
    )


def test_every_command_is_in_the_reference_with_all_its_options(extensions):
    from cli_help import commands

    from shortlist.cli._group import COMMANDS

    helped = {ctx.command_path: ctx.get_help() for ctx in commands()}
    assert {"shortlist", *(f"shortlist {name}" for name in COMMANDS)} <= set(helped)
    for ctx in commands():
        for option in ctx.command.get_params(ctx):
            if isinstance(option, click.Option):
                assert option.opts[0] in helped[ctx.command_path]


def test_every_result_of_a_benchmark_is_shown():
    page = (DOCS / "benchmarks.md").read_text()
    shown = re.findall(r"```{results} (.*)", page)
    for path in (ROOT / "benchmarks" / "results").glob("*.csv"):
        assert any(path in ROOT.glob(pattern) for pattern in shown), (
            f"docs/benchmarks.md does not show {path.name}"
        )
    for script in (ROOT / "benchmarks").glob("*.py"):
        text = script.read_text()
        if "def main(" in text:
            assert f"python -m benchmarks.{script.stem}" in page, script.stem


def test_every_citation_stands_on_a_page_of_a_method():
    methods = "".join(page.read_text() for page in DOCS.glob("methods/*.md"))
    words = " ".join(methods.split())
    titles = re.findall(
        r'^    title: "(.*)"', (ROOT / "CITATION.cff").read_text(), re.M
    )
    assert len(titles) >= 7
    for title in titles:
        assert title in words


def test_every_method_has_a_page():
    from shortlist._registry import selectors

    methods = "".join(page.read_text() for page in DOCS.glob("methods/*.md"))
    for capabilities in selectors().values():
        name = capabilities.estimator.partition(":")[2]
        assert f"{{py:class}}`shortlist.{name}`" in methods


def test_results_are_tabulated(extensions):
    from tabulating import tabulate

    lines = [
        {"set": "a", "k": "5", "score": "0.5", "seconds": "1.0"},
        {"set": "b", "k": "5", "score": "0.9", "seconds": "nan"},
        {"set": "a", "k": "9", "score": "0.7", "seconds": "3.04159"},
    ]
    assert tabulate(lines)[1][1:] == [["b", "5", "0.9", ""], ["a", "9", "0.7", "3.04"]]
    header, rows = tabulate(lines, ["set"], ["score"], ["seconds"], count="runs")
    assert header == ["set", "runs", "score", "seconds"]
    assert rows == [["a", "2", "0.600 ± 0.14", "2.02"], ["b", "1", "0.900", ""]]
    header, rows = tabulate(lines, ["set"], ["score"], across="k")
    assert header == ["set", "k = 5", "k = 9"]
    assert rows == [["a", "0.500", "0.700"], ["b", "0.900", ""]]
    _, rows = tabulate(lines, ["set", "k"], ["score"])
    assert [row[:2] for row in rows] == [["a", "5"], ["a", "9"], ["b", "5"]]


def test_docstrings_for_a_terminal_are_right_for_a_page(extensions):
    from plain_docstrings import tidy

    plain = [
        *("Keep |w|, or ``|w|``:", "", "    w = |z|,", "", "    z = 2.", ""),
        *("Parameters", "----------", "w : float", "    Size of |w|.", ""),
        *("Examples", "--------", ">>> 1 | 2"),
    ]
    assert tidy(plain) == [
        *(
            r"Keep \|w\|, or ``|w|``:",
            "",
            "::",
            "",
            "    w = |z|,",
            "",
            "    z = 2.",
            "",
        ),
        *("Parameters", "----------", "w : float", r"    Size of \|w\|.", ""),
        *("Examples", "--------", ">>> 1 | 2"),
    ]


def test_the_comparison_in_the_readme_is_that_of_the_results(extensions):
    from benchmarks.headline import ROOT as PROJECT
    from benchmarks.headline import put_into, table

    made = table()
    for method in ("FoBa", "GSR", "MISSION", "B-ARDA"):
        assert f"| **{method}**" in made
    readme = (PROJECT / "README.md").read_text()
    assert put_into(readme, made) == readme, "python -m benchmarks.headline --write"
