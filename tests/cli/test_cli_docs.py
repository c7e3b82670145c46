"""Every command and option has help, and docs/cli.md says the same.

``PYTHONPATH=tests python tests/cli/test_cli_docs.py`` brings the page up to date: its
tables of options and what its worked example prints.
"""

import re
import tempfile
from pathlib import Path

import click
import pytest

from doc_pages import commands_in, run_command, words_and_numbers
from shortlist.cli import cli

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def walk(command, path=("shortlist",)):
    """Yield every command with the words that call it."""
    yield " ".join(path), command
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            yield from walk(command.get_command(ctx, name), (*path, name))


COMMANDS = dict(walk(cli))


def options_of(command):
    ctx = click.Context(command, **command.context_settings)
    return [p for p in command.get_params(ctx) if isinstance(p, click.Option)]


def table(command):
    """Options of a command as a table in Markdown."""
    lines = ["| option | default | what it does |", "|---|---|---|"]
    for option in options_of(command):
        names = ", ".join(f"`{name}`" for name in option.opts)
        kind = option.metavar or (
            "|".join(option.type.choices)
            if isinstance(option.type, click.Choice)
            else ""
        )
        shown = f"{names} `{kind}`".replace("|", "\\|") if kind else names
        default = (
            option.default if isinstance(option.default, str | int | float) else ""
        )
        default = "required" if option.required else default
        default = "" if option.is_flag else default
        lines.append(f"| {shown} | {default} | {option.help} |")
    return "\n".join(lines)


def section(page, path):
    """Find the part of the page that is about a command."""
    match = re.search(rf"^##+ `{re.escape(path)}[ `].*?(?=^##|\Z)", page, re.M | re.S)
    return match[0] if match else ""


def refresh(page):
    """Put the tables as they should be into the page."""
    for path, command in COMMANDS.items():
        old = section(page, path)
        found = re.search(r"^\| option.*?(?=\n\n)", old, re.M | re.S)
        page = page.replace(old, old.replace(found[0], table(command)))
    return page


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_and_an_example(path, run):
    command = COMMANDS[path]
    assert command.help
    assert command.help.strip().split("\n")[0].endswith(".")
    assert command.examples
    assert all(path in example for example in command.examples)
    text = run(*path.split()[1:], "--help").stdout
    assert "Example" in text
    assert all(example in text for example in command.examples)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_has_help_and_shows_its_default(path, run):
    text = " ".join(run(*path.split()[1:], "--help").stdout.split())
    for option in options_of(COMMANDS[path]):
        assert option.help, option.name
        assert option.help.endswith("."), option.name
        assert option.opts[0] in text
        if isinstance(option.default, str | int | float) and not option.is_flag:
            assert f"default: {option.default}" in text


@pytest.mark.parametrize("path", COMMANDS)
def test_the_page_has_every_command_and_option(path):
    part = section(PAGE.read_text(), path)
    assert part, f"docs/cli.md has no section on `{path}`"
    assert table(COMMANDS[path]) in part, (
        f"run PYTHONPATH=tests python {__file__} to bring it up to date"
    )


def play(page, folder):
    """Run the worked example; yield each command, what the page says and what came."""
    (script,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (folder / "make_visits.py").write_text(script)
    for block in re.findall(r"```console\n(.*?)```", page, re.S):
        for command, said in commands_in(block):
            yield command, said, run_command(command, folder)


def test_the_worked_example_runs_and_prints_what_the_page_says(tmp_path):
    steps = list(play(PAGE.read_text(), tmp_path))
    assert len(steps) >= 5
    for command, said, came in steps:
        words, numbers = words_and_numbers(said)
        assert words_and_numbers(came)[0] == words, command
        assert words_and_numbers(came)[1] == pytest.approx(numbers, rel=0.02, abs=0.01)


if __name__ == "__main__":
    page = refresh(PAGE.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for command, said, came in play(page, Path(folder)):
            page = page.replace(f"$ {command}\n{said}", f"$ {command}\n{came}")
    PAGE.write_text(page)
