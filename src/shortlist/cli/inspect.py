"""``shortlist inspect``: what a model holds and how it came about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from shortlist._budget_units import budget_in_units
from shortlist._findings import facts_of
from shortlist._in_words import counted, files_in_words, spelled
from shortlist.cli._command import Command
from shortlist.cli._holdout import describe, share
from shortlist.cli._input import load_model
from shortlist.cli._options import model_argument
from shortlist.cli._output import aligned
from shortlist.cli._presenting import say

if TYPE_CHECKING:
    from shortlist._shortlist import Shortlist

#: What has a line of its own, here or above the table of entries.
_TOLD_APART = {
    *("k", "k_auto", "picked", "stability", "holdout", "name_collision_probability"),
    *("call", "command", "data", "direct_command"),
}


@click.command(
    cls=Command,
    examples=(
        "shortlist inspect model.shortlist",
        "shortlist inspect model.shortlist --top 5 --format csv",
    ),
)
@model_argument()
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    help="table: for people, 20 entries a class; json: everything; csv: all entries.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the N best features (of each class, if the budget is per class).",
)
def inspect(model: str, form: str, top: int | None) -> None:
    """Show what was asked, what was chosen and how, in a saved MODEL."""
    whole = load_model(model)
    shown = whole if top is None else whole.top(top)
    if form == "json":
        click.echo(json.dumps(shown.to_dict(), indent=2))
    elif form == "csv":
        say(shown, "csv", ())
    else:
        click.echo(f"{aligned(_facts(model, whole))}\n\n{shown}")


def _facts(path: str, shortlist: Shortlist) -> list[tuple[str, str]]:
    """What stands above the table, line by line."""
    from shortlist._shortlist_text import printable

    params = shortlist.params
    settings = {name: v for name, v in params.items() if name not in _TOLD_APART}
    plain = {n: v for n, v in settings.items() if not isinstance(v, Mapping)}
    facts = [
        ("model", f"{path}, by shortlist {shortlist.version}"),
        ("asked", _asked(shortlist)),
        ("chosen", f"{_chosen(shortlist)} by {shortlist.method}"),
        ("loss", shortlist.loss),
    ]
    if shortlist.classes is not None:
        facts.append(("classes", ", ".join(map(str, shortlist.classes))))
    if plain:
        said = ", ".join(f"{name} = {spelled(v)}" for name, v in plain.items())
        facts.append(("settings", said))
    facts += [(name, spelled(settings[name])) for name in settings if name not in plain]
    chance = params.get("name_collision_probability")
    if chance is not None:
        facts.append(
            ("names", f"hashed; two share an id with probability {chance:.1g}")
        )
    if isinstance(params.get("data"), Mapping):
        facts.append(("data", files_in_words(params["data"])))
    facts += [("learned from", counted(shortlist.n_examples, "example"))]
    facts += _course(shortlist)
    holdout = params.get("holdout")
    facts.append(("held out", _score(holdout) if holdout else "not scored"))
    facts.append(("command", str(params.get("command", "made by the library"))))
    if "direct_command" in params:
        facts.append(("or straight", str(params["direct_command"])))
    return [(term, printable(text)) for term, text in facts]


def _asked(shortlist: Shortlist) -> str:
    found = shortlist.params.get("k_auto")
    k, unit = budget_in_units(shortlist)
    size = f"{k:,}" if unit == "feature" else counted(k, unit)
    budget = f"k = {size}"
    if found is not None:
        budget = f"k = auto, by {found['metric']} on rows held out: {size}"
    if unit in ("sensor", "group"):
        budget += f" with {counted(shortlist.n_selected, 'column')}"
    elif shortlist.n_margins > 1:
        budget += ", " + ("each class" if shortlist.budget == "per_class" else "shared")
    facts = facts_of(shortlist)
    if facts is not None:
        budget += f"; stability of {counted(facts.asked, 'pair')} of halves"
    return budget


def _chosen(shortlist: Shortlist) -> str:
    n, known = shortlist.n_selected, shortlist.n_features
    if known is None:
        return counted(n, "feature")
    return f"{n:,} of {counted(known, 'feature')}"


def _course(shortlist: Shortlist) -> list[tuple[str, str]]:
    """How the progressive loss and accuracy went: first and last window."""
    trace = shortlist.trace
    if "rows" not in trace or not len(trace["rows"]):
        return []
    first, last = trace["rows"][[0, -1]].tolist()
    lines = []
    for name in ("loss", "accuracy"):
        if name in trace:
            begin, end = trace[name][0], trace[name][-1]
            course = f"{begin:.4g} on the first {counted(first, 'example')}"
            if last > first:
                course += f", {end:.4g} on the last of {last:,}"
            lines.append((f"progressive {name}", course))
    return lines


def _score(holdout: Mapping[str, Any]) -> str:
    score = {name: v for name, v in holdout.items() if name not in ("fraction", "of")}
    return f"{describe(**score)}; {share(holdout['fraction'], holdout.get('of'))}"
