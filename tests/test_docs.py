"""Code in the documentation runs and prints what the text says."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def code_in(page):
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_adding_a_selector_works_as_written(capsys):
    scope = {"__name__": "docs"}
    for block in code_in("adding-a-selector.md"):
        exec(compile(block, "adding-a-selector.md", "exec"), scope)
    printed = capsys.readouterr().out.splitlines()
    text = (DOCS / "adding-a-selector.md").read_text()
    assert printed == ["['x3', 'x8']", "['x3' 'x8']"]
    assert all(f"`{line}`" in text for line in printed)


@pytest.mark.parametrize("page", sorted(p.name for p in DOCS.glob("*.md")))
def test_links_between_pages_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", (DOCS / page).read_text()):
        assert (DOCS / link).exists(), link
