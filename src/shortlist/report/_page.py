"""The page of a summary: one HTML file, with all it needs inside.

Names of features are data. The summary stands in the page as JSON in which no letter
means anything to HTML, and the script puts it into text nodes; what is written here for
readers without scripts is escaped. A policy in the page's head allows its own script and
style only, by their digests, and no request of any kind.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from shortlist._in_words import counted, evenly
from shortlist._shortlist_text import printable

_SCRIPTS = ("values.js", "charts.js", "table.js", "page.js")
#: Rows of the table for readers without scripts.
MOST_ROWS = 1000


def render(summary: Mapping[str, Any]) -> str:
    """Make the page of a summary.

    Parameters
    ----------
    summary : mapping
        As from ``summary``, or read back from its JSON.

    Returns
    -------
    str
        An HTML document that asks for nothing from elsewhere.
    """
    style = _part("page.css")
    script = "(() => {\n" + "\n".join(map(_part, _SCRIPTS)) + "})();\n"
    chosen = counted(summary["n_selected"], "feature")
    title = f"{chosen} chosen by {summary['asked']['method']}"
    parts = {
        "title": _escaped(title),
        "lead": _escaped(_lead(summary)),
        "footer": _escaped(f"Made by shortlist {summary['version']}."),
        "style": style,
        "style_hash": _digest(style),
        "script": script,
        "script_hash": _digest(script),
        "data": _embedded(summary),
        "fallback": _fallback(summary),
    }
    # In one go: what is put in is not looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("page.html"))


@cache
def _part(name: str) -> str:
    return (files("shortlist.report") / "page" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _embedded(summary: Mapping[str, Any]) -> str:
    """JSON in ASCII that can neither end a script element nor begin another."""
    text = json.dumps(summary, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _escaped(text: Any) -> str:
    return html.escape(printable(str(text)))


def _lines(text: str) -> str:
    return "\n".join(map(_escaped, text.splitlines()))


def _lead(summary: Mapping[str, Any]) -> str:
    n, known = summary["n_selected"], summary["n_features"]
    of_all = counted(n if known is None else known, "feature")
    of_all = of_all if known is None else f"{n:,} of {of_all}"
    goals = {
        "binary": "to tell {1} from {0}",
        "multiclass": "to tell {2} classes apart",
        "regression": "to predict a number",
        "outputs": f"to predict {len(summary['margins'])} numbers",
    }
    classes = summary["classes"] or ()
    goal = goals[summary["task"]].format(*[*classes, "", ""][:2], len(classes))
    examples = counted(summary["n_examples"], "example")
    return f"{of_all}, chosen {goal}; learned from {examples}."


def _fallback(summary: Mapping[str, Any]) -> str:
    """The ranked table and what else matters, for readers without scripts."""
    entries = summary["entries"]
    several = len(summary["margins"]) > 1
    columns = {"rank": entries["rank"], "name": entries["name"]}
    if several:
        columns["class"] = [summary["margins"][m] for m in entries["margin"]]
    columns |= {
        name: evenly(entries[name][:MOST_ROWS])
        for name in ("weight", "score", "error", "stability")
        if name in entries
    }
    n = len(entries["name"])
    heads = "".join(f"<th>{name}</th>" for name in columns)
    rows = islice(zip(*columns.values(), strict=False), MOST_ROWS)
    lines = [
        f"<tr>{''.join(f'<td>{_escaped(value)}</td>' for value in row)}</tr>"
        for row in rows
    ]
    more = f"<p>... and {n - MOST_ROWS:,} more</p>" if n > MOST_ROWS else ""
    notes = "".join(f"<p>{_escaped(note)}</p>" for note in summary["notes"])
    again = summary["reproduce"]
    ways = (again["command"] or again["call"], again["direct_command"])
    made = "".join(f"<pre>{_lines(way)}</pre>" for way in ways if way)
    cited = f"<p>{_escaped(summary['citation'])}</p>" if summary["citation"] else ""
    table = f"<table><tr>{heads}</tr>\n" + "\n".join(lines) + "\n</table>"
    return f"{table}\n{more}{notes}{made}{cited}"
