"""Commands that pages, docstrings and help show.

A command stands on a line of its own, indented or in a fenced block, alone or at the end of
a pipe, or in a sentence, as code; ``\\`` at the end of a line goes on in the next, and two
blanks and ``#`` begin a comment.
"""

import re
from collections.abc import Iterator

import click

from shortlist.cli import cli

_FENCED = re.compile(
    r"^(?P<fence>```+)(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^(?P=fence)$", re.M | re.S
)
_IN_A_SENTENCE = re.compile(r"`(shortlist [a-z]+ [^`]+)`")
#: FILE, K or ... stand for something else.
_PLACEHOLDER = re.compile(r"\b[A-Z]+\b|\.\.\.")
_COMMAND = re.compile(r"^(?:    |\$ )?(?:[^`\"\n]*\| *)?(?:\S*/)?shortlist [a-z-]")


def commands_of(lines: str) -> Iterator[str]:
    """Commands among the lines of a block, each on one line."""
    for line in re.sub(r"\\\n\s*", "", lines).splitlines():
        if _COMMAND.match(line):
            yield re.sub(r"\s{2,}#.*$", "", line).removeprefix("$ ").strip()


def unfenced(page: str) -> list[str]:
    """Commands in indented blocks and then those in sentences."""
    rest = _FENCED.sub("", page)
    blocks = re.findall(r"(?:^    .*\n)+", rest, re.M)
    said = _IN_A_SENTENCE.findall(rest)
    return [
        *(command for block in blocks for command in commands_of(block)),
        *(command for command in said if not _PLACEHOLDER.search(command)),
    ]


def fenced(page: str) -> list[tuple[str, str]]:
    """Commands in fenced blocks, each with the kind of its block."""
    return [
        (block["kind"], command)
        for block in _FENCED.finditer(page)
        if block["kind"] != "python"
        for command in commands_of(block["body"])
    ]


def in_source(text: str) -> list[str]:
    """Commands on lines of their own in a Python file, which are those of docstrings."""
    return list(commands_of(re.sub(r"^ +", "    ", text, flags=re.M)))


def of_help(
    command: click.Command = cli, path: tuple[str, ...] = ("shortlist",)
) -> dict[str, list[str]]:
    """Examples below the help of every command, by the words that call it."""
    found = {" ".join(path): list(command.examples)}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found |= of_help(command.get_command(context, name), (*path, name))
    return found
