"""Pages of the documentation as programs: their blocks run, and print what is said.

A ``python`` block runs in one program with those before it; what it prints stands in a
``text`` block right below. Of a ``console`` block, lines that begin with ``$`` are commands
and what follows is what they print, errors included. Files are looked for, and left, in
one folder a page.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(page for page in DOCS.rglob("*.md") if "_build" not in page.parts),
        *ROOT.glob("*.md"),
        *ROOT.glob("papers/**/*.md"),
    ]
)
#: Pages whose python and console blocks are run, and print what stands below.
PLAYED = [
    *(page for page in DOCS.glob("tutorials/*.md") if page.stem != "index"),
    DOCS / "adding-a-source.md",
    DOCS / "selecting.md",
    DOCS / "comparing.md",
]

BLOCK = re.compile(
    r"^```(?P<kind>python|console)\n(?P<body>.*?)^```$"
    r"(?:\n+```text\n(?P<said>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


class Step(NamedTuple):
    """Something that was run, what the page says it prints, and what it printed."""

    what: str
    said: str
    came: str


def run_command(command: str, folder: Path) -> str:
    """What a command prints, run as a reader would in a shell."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path, "SHORTLIST_QUIET": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise AssertionError(f"{command}\n{done.stdout}")
    return done.stdout


def commands_in(console: str) -> Iterator[tuple[str, str]]:
    """Commands of a console block, each with what follows it."""
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, said = step.partition("\n")
        while command.endswith("\\"):
            more, _, said = said.partition("\n")
            command += "\n" + more
        yield command, said


def play(page: str, folder: Path) -> Iterator[Step]:
    """Run the blocks of a page, one after the other."""
    scope = {"__name__": "docs"}
    for block in BLOCK.finditer(page):
        if block["kind"] == "console":
            for command, said in commands_in(block["body"]):
                yield Step(command, said, run_command(command, folder))
            continue
        printed = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            exec(compile(block["body"], "page", "exec"), scope)
        yield Step(block["body"], block["said"] or "", printed.getvalue())


def refresh(page: str, folder: Path) -> str:
    """The page with what its blocks print now."""
    for what, said, came in play(page, folder):
        if came and not came.endswith("\n"):
            came += "\n"
        if said == came:
            continue
        start = page.index(what) + len(what)
        head, tail = page[:start], page[start:]
        if tail.startswith("```"):  # of a python block
            below = f"```\n\n```text\n{said}```" if said else "```"
            tail = tail.replace(below, f"```\n\n```text\n{came}```", 1)
        else:
            tail = tail.replace(f"\n{said}", f"\n{came}", 1)
        page = head + tail
    return page


def words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    """Words of a text, and its numbers, which may differ in the last digits."""
    pattern = r"[-+]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
    words = re.sub(pattern, "#", text).split()
    return words, [float(n.replace(",", "")) for n in re.findall(pattern, text)]
