"""What a selection would do: judged and timed on the beginning of the data.

The beginning is parsed once into memory and rehearsed twice: once so that kernels are
compiled and warm, once with a clock. Reading and learning grow with the data; closing a
pass (sorting candidates, the exact fit) does not, so the two are timed apart.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from shortlist.cli._holdout import Split, has_parts, hold_out
from shortlist.cli._input import TappedSource
from shortlist.cli._output import aligned
from shortlist.cli._progress import duration

if TYPE_CHECKING:
    from shortlist._protocols import Capabilities, RowBlock, RowSource
    from shortlist.front import Choice

_ROOMS = {
    "sketch": "rows come one by one, ids have no bound",
    "rows": "rows come one by one, with numbers for every feature in memory",
    "table": "all rows are held in memory",
    "columns": "all rows are held in memory, and gone through column by column",
}

#: Text to look at: this many blocks of this many bytes, 2 MB in all.
_BLOCKS, _BLOCK_BYTES = 8, 250_000


class Rehearsal(NamedTuple):
    """One run over the sample."""

    state: Any
    stages: tuple[str, ...]  #: what each pass was for
    growing: float  #: seconds that grow with the data
    fixed: float  #: seconds that do not


class _Sample(TappedSource):
    """The beginning of a source, in memory."""

    part = None  # that of the source would be all of it

    def __init__(self, source: RowSource, blocks: Sequence[RowBlock]) -> None:
        super().__init__(source, lambda block: block)
        self.reiterable = True
        self._blocks = blocks

    def blocks(self) -> Iterator[RowBlock]:
        # Learners own what they are given, so each pass gets fresh tuples.
        return (block._replace() for block in self._blocks)


def plan(
    capabilities: Capabilities,
    learner: Any,
    source: RowSource,
    options: Mapping[str, Any],
    trial: Choice | None = None,
) -> str:
    """Say what the command would do, in the form asked for.

    ``trial``: what is preferred before several methods are tried, if they are.
    """
    from shortlist._protocols import DataError

    if not source.reiterable:
        raise click.UsageError(
            f"--dry-run reads the beginning of the data, and {source.name} could not "
            "give it back; save it to a file first"
        )
    if hasattr(source, "block_bytes"):
        source.block_bytes = _BLOCK_BYTES
    lot = (options["holdout"], options["seed"])
    # Sequences are divided as a whole, rows as they come.
    parts = hold_out(source, *lot) if has_parts(source) else None
    source = source if parts is None else parts.train
    blocks = _beginning(source)  # the first time compiles
    if not blocks:
        raise DataError(f"{source.name}: expected rows to look at, got none")
    blocks, reading = _timed(lambda: _beginning(source))
    sample = _Sample(source, blocks)
    split = hold_out(sample, *lot) if parts is None else parts._replace(train=sample)
    rehearse(learner, split.train)
    rehearsal = rehearse(learner, split.train)
    facts = _facts(source, blocks, learner, rehearsal)
    n_readings = len(rehearsal.stages) + (split.test is not None)
    growing = rehearsal.growing + n_readings * reading
    facts["seconds"] = round(growing * facts["scale"] + rehearsal.fixed, 2)
    facts["trial_bytes"] = None if trial is None else trial.n_bytes
    facts |= {"room": capabilities.room, "method": capabilities.method}
    facts["holdout"] = options["holdout"] if split.test is not None else 0.0
    facts["held_out"] = _n_held_out(split, facts)
    if options["form"] == "json":
        return json.dumps(facts, indent=2)
    lines = _lines(facts, capabilities, rehearsal, options)
    if options["form"] == "csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([("what", "answer"), *lines])
        return text.getvalue().removesuffix("\n")
    return f"{aligned(lines)}\nnothing was written; without --dry-run it would begin"


def _n_held_out(split: Split, facts: Mapping[str, Any]) -> int:
    if split.of is not None and split.test is not None:
        return split.test.size or 0
    n: int = round(facts["holdout"] * facts["rows"])
    return n


def _beginning(source: RowSource) -> list[RowBlock]:
    return list(islice(source.blocks(), _BLOCKS))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begun


def rehearse(learner: Any, source: RowSource) -> Rehearsal:
    """Run a learner as an engine would, with a clock on each part."""
    from shortlist.engines.serial import look_at_head

    blocks = list(source.blocks())
    head, _ = look_at_head(source)
    state, fixed = _timed(lambda: learner.start(source, head))
    stages: list[str] = []
    growing, wants_more = 0.0, True

    def step_through() -> None:
        for block in blocks:
            learner.step(state, block)

    while wants_more:
        stages.append(learner.standing(state).stage)
        growing += _timed(step_through)[1]
        wants_more, seconds = _timed(lambda: learner.next_pass(state))
        fixed += seconds
    solving = _timed(lambda: learner.result(state, source))[1]
    if "gather" in stages:  # all rows are solved for at the end
        growing += solving
    else:
        fixed += solving
    return Rehearsal(state, tuple(stages), growing, fixed)


def _facts(
    source: RowSource, blocks: Sequence[RowBlock], learner: Any, rehearsal: Rehearsal
) -> dict[str, Any]:
    """Everything measured, as JSON values."""
    from shortlist.front._facts import features_of, table_bytes

    target, model = rehearsal.state.target, getattr(rehearsal.state, "model", None)
    read, size = blocks[-1].position, source.size or 0
    scale = max(1.0, size / read)
    n_nonzeros = round(scale * sum(len(block.ids) for block in blocks))
    gathered = table_bytes(n_nonzeros, features_of(source, blocks, scale))
    return {
        "source": source.name,
        source.unit: size,
        f"{source.unit}_read": read,
        "scale": scale,
        "rows": round(scale * sum(block.n_rows for block in blocks)),
        "nonzeros": n_nonzeros,
        "rows_read": sum(block.n_rows for block in blocks),
        "recipe": _recipe(learner.params),
        "passes": list(rehearsal.stages),
        "loss": type(target.loss).name,
        "classes": None if target.classes is None else list(target.classes),
        "note": target.note,
        "cells": _cells(getattr(model, "sketch", None)),
        "memory_bytes": _n_bytes(model) if model is not None else gathered,
    }


def _cells(sketch: Any) -> list[int] | None:
    """Rows, cells in each and numbers in a cell, of whatever sketch it is."""
    from shortlist.kernels.block_sketch import CELLS, BlockSketch

    if isinstance(sketch, BlockSketch):
        return [sketch.rows, sketch.n_blocks * CELLS, sketch.n_margins]
    return None if sketch is None else list(sketch.table.shape)


def _recipe(params: Mapping[str, Any]) -> str | None:
    """Recipe by name; of methods that only have a choice to refit, what they chose."""
    if "refit" in params and "recipe" not in params:
        return "refit" if params["refit"] else "online"
    recipe: str | None = params.get("recipe")
    return recipe


def _n_bytes(model: Any) -> int:
    """Bytes of all arrays in a tuple of tuples."""
    if isinstance(model, tuple):
        return sum(map(_n_bytes, model))
    return int(getattr(model, "nbytes", 0))


def _lines(
    facts: Mapping[str, Any],
    capabilities: Capabilities,
    rehearsal: Rehearsal,
    options: Mapping[str, Any],
) -> list[tuple[str, str]]:
    """Put the facts in words, each with its reason."""
    from shortlist._refit import EXACT_NNZ

    about = "" if facts["scale"] == 1.0 else "about "
    stages = facts["passes"]
    passes = f"{len(stages)} pass{'es' * (len(stages) != 1)} ({', '.join(stages)})"
    if facts["recipe"] == "refit" and facts["nonzeros"] > EXACT_NNZ:
        passes += f", one more (settle) if candidates have over {EXACT_NNZ:,} nonzeros"
    asked = options["recipe"] != "auto"
    why = "as asked" if asked else "files can be read again, so candidates are refitted"
    loss = facts["loss"]
    if facts["classes"] is not None:
        loss += f", classes {', '.join(map(str, facts['classes']))}"
    looked_at = min(1000, facts["rows_read"])
    judged = "as asked" if options["loss"] != "auto" else f"from {looked_at:,} rows"
    lines = [
        ("room", f"{capabilities.room}: {_ROOMS[capabilities.room]}"),
        ("method", f"{capabilities.method}: {_what_it_does(capabilities)}"),
        ("recipe", f"{facts['recipe']}: {passes}; {why}")
        if facts["recipe"] is not None
        else ("passes", passes),
        ("loss", f"{loss} ({judged})"),
        *([("note", facts["note"])] if facts["note"] else []),
        (
            "data",
            f"{facts['source']}{_size(facts)}: "
            f"{about}{facts['rows']:,} rows, {about}{facts['nonzeros']:,} nonzeros",
        ),
        ("holdout", _holdout(facts, about)),
        ("memory", _memory(facts, options)),
        (
            "time",
            f"{_about(facts['seconds'])}, going by the first {_read(facts)}, compiled "
            "kernels and this machine",
        ),
    ]
    return lines


def _what_it_does(capabilities: Capabilities) -> str:
    """Return its summary, which often begins with its name."""
    name, _, rest = capabilities.summary.partition(": ")
    return rest if name.lower() == capabilities.method else capabilities.summary


def _about(seconds: float) -> str:
    return duration(seconds) if seconds < 1 else f"about {duration(seconds)}"


def _holdout(facts: Mapping[str, Any], about: str) -> str:
    if not facts["holdout"]:
        return "none: all rows are learned from"
    n = facts["held_out"]
    return f"{about or 'about '}{n:,} rows scored at the end, never learned from"


def _size(facts: Mapping[str, Any]) -> str:
    return f", {facts['bytes'] / 1e6:,.1f} MB" if "bytes" in facts else ""


def _read(facts: Mapping[str, Any]) -> str:
    if "bytes" in facts:
        return f"{facts['bytes_read'] / 1e6:.1f} MB"
    return f"{facts['rows_read']:,} rows"


def _memory(facts: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    size = f"{facts['memory_bytes'] / 1e6:.1f} MB"
    if facts["cells"] is not None:
        rows, width, margins = facts["cells"]
        cells = f"{rows} x {width:,} cells" + (f" x {margins} classes" * (margins > 1))
        size += f": a sketch of {cells}, within --memory {options['memory']}"
    gathers = facts["room"] in ("table", "columns")  # and so would without a trial
    if facts["trial_bytes"] is None or gathers:
        return size
    held = f"{facts['trial_bytes'] / 1e6:,.1f} MB"
    return f"about {held}, to hold all rows while methods are tried; --no-trial: {size}"
