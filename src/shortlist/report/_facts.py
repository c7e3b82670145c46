"""Data and run, line by line.

All of it is in the result, so it is the same for every run of one command. Seconds and
memory are not, and would make two models of the same data differ.
"""

from __future__ import annotations

from collections.abc import Mapping

from shortlist._findings import facts_of
from shortlist._in_words import files_in_words, spelled
from shortlist._shortlist import Shortlist


def facts(shortlist: Shortlist) -> list[dict[str, str]]:
    """What is known of the data and the run: terms and texts."""
    params, said = shortlist.params, {}
    if isinstance(data := params.get("data"), Mapping):
        said["data"] = files_in_words(data)
    said["examples learned from"] = f"{shortlist.n_examples:,}"
    holdout = params.get("holdout")
    if isinstance(holdout, Mapping) and holdout.get("n_rows"):
        said["examples held out"] = f"{holdout['n_rows']:,}"
    said["features to choose from"] = _n_features(shortlist)
    said["features chosen"] = f"{shortlist.n_selected:,}"
    if shortlist.classes is not None:
        said["classes"] = ", ".join(map(str, shortlist.classes))
    if "memory" in params:
        said["memory of the sketch"] = f"at most {spelled(params['memory'])}"
    if (chance := params.get("name_collision_probability")) is not None:
        said["names"] = f"hashed; two share an id with probability {chance:.1g}"
    if isinstance(objective := params.get("objective"), float):
        said["objective reached"] = f"{objective:.6g}"
    said |= _one_window(shortlist)
    said["made by"] = f"shortlist {shortlist.version}"
    return [{"term": term, "text": text} for term, text in said.items()]


def _n_features(shortlist: Shortlist) -> str:
    """How many there were to choose from, as far as somebody knows."""
    if shortlist.n_features is not None:
        return f"{shortlist.n_features:,}"
    halves = facts_of(shortlist)  # names that a stream had, counted by hashes
    if halves is not None and halves.features is not None and halves.unit == "feature":
        return f"about {halves.features:,}"
    return "not known"


def _one_window(shortlist: Shortlist) -> dict[str, str]:
    """The course of a stream that is too short for a curve, and why there is none."""
    trace = shortlist.trace
    if len(trace.get("rows", ())) != 1 or "loss" not in trace:
        return {}
    from shortlist._trace import TRACE_INTERVAL  # with kernels, which few reports need

    parts = [f"loss {trace['loss'][0]:.4g}"]
    if "accuracy" in trace:
        parts.append(f"accuracy {trace['accuracy'][0]:.4g}")
    return {
        "over the stream": f"{', '.join(parts)}, predicted before learning; no curve, "
        f"which has a point every {TRACE_INTERVAL:,} examples"
    }
