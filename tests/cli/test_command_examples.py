"""Every command that README, pages and help show runs, and writes what it says."""

import contextlib
import re
import shlex
import shutil

import pandas as pd
import pytest
from click.testing import CliRunner

from doc_pages import PAGES, PLAYED, ROOT, run_command
from example_commands import fenced, in_source, of_help, unfenced
from example_files import MAKING, write_files
from shortlist.cli import cli

TEXTS = {
    str(page.relative_to(ROOT)): page.read_text()
    for page in PAGES
    if "papers" not in page.parts
}
SHOWN = {page: unfenced(text) for page, text in TEXTS.items() if unfenced(text)}
HELP = of_help()
#: Where fenced blocks are run, by tests/test_docs.py and tests/cli/test_cli_docs.py.
RUN_ELSEWHERE = {
    "console": {"docs/cli.md", *(str(page.relative_to(ROOT)) for page in PLAYED)},
    "sh": {"README.md"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """All files that commands speak of."""
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    with contextlib.chdir(folder):
        for line in MAKING:
            done = CliRunner().invoke(cli, shlex.split(line))
            assert done.exit_code == 0, f"{line}: {done.stderr}"
    return folder


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """A copy of them, to work in."""
    place = tmp_path / "here"
    shutil.copytree(files, place)
    monkeypatch.chdir(place)
    return place


def check(command, run, folder):
    """Run a command: it prints something, or writes the files that it names."""
    written = re.findall(r"(?:-o|--plot|--shard|>) (\S*\w\S*)", command)
    for name in written:
        (folder / name).unlink(missing_ok=True)
    if command.startswith("shortlist cache"):  # not to clear the one that tests use
        printed = run_command(f"SHORTLIST_CACHE=cache {command}", folder)
    elif re.search("[|>]", command):
        printed = run_command(command, folder)
    else:
        done = run(*shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}: {done.stderr}"
        printed = done.stdout
    assert printed or written, command
    for name in written:
        assert (folder / name).stat().st_size > 0, f"{command}: {name}"


@pytest.mark.parametrize("page", SHOWN)
def test_the_commands_of_a_page_run_in_the_order_they_stand_in(page, run, folder):
    for command in SHOWN[page]:
        check(command, run, folder)
    if page == "README.md":
        assert len(pd.read_csv("small.csv")) == 80


@pytest.mark.parametrize("name", HELP)
def test_the_examples_below_a_help_run(name, run, folder):
    for command in HELP[name]:
        check(command, run, folder)


def test_no_command_of_a_page_or_docstring_is_left_out():
    assert len(SHOWN["README.md"]) == 18
    assert len(SHOWN["docs/stability.md"]) == 2
    for page, text in TEXTS.items():
        for kind, command in fenced(text):
            assert page in RUN_ELSEWHERE.get(kind, ()), f"{page}: {command}"
    for path in (ROOT / "src").rglob("*.py"):
        assert not in_source(path.read_text()), f"{path}: no test runs its commands"


def test_commands_are_found_wherever_a_page_shows_them():
    page = (
        "Say `shortlist inspect m.shortlist`, not `shortlist select FILE`.\n\n"
        "    zcat a.gz | shortlist select - \\\n        -k 3  # three\n\n"
        "```sh\n.venv/bin/shortlist cache info\n```\n"
        "```console\n$ shortlist predict m | head\n4\n```\n"
    )
    assert unfenced(page) == [
        "zcat a.gz | shortlist select - -k 3",
        "shortlist inspect m.shortlist",
    ]
    assert fenced(page) == [
        ("sh", ".venv/bin/shortlist cache info"),
        ("console", "shortlist predict m | head"),
    ]
    assert in_source('    """Do.\n\n        shortlist select a.svm -k 3\n    """\n')
