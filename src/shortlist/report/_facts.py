"""Data and run, line by line.

All of it is in the result, so it is the same for every run of one command. Seconds and
memory are not, and would make two models of the same data differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shortlist._findings import facts_of
from shortlist._in_words import counted, spelled
from shortlist._shortlist import Shortlist
from shortlist._trace import TRACE_INTERVAL

#: Bytes from which on the next unit is used.
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


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


def files_in_words(data: Mapping[str, Any]) -> str:
    """Name files and say how large they are.

    Examples
    --------
    >>> files_in_words({"files": 1, "names": ("people.csv",), "bytes": 12_345})
    'people.csv, 12.3 kB'
    >>> files_in_words({"files": 9, "names": ("a.svm", "b.svm"), "bytes": 400})
    'a.svm, b.svm, ... (9 files), 400 bytes'
    """
    names, n = data["names"], data["files"]
    more = f", ... ({n:,} files)" if n > len(names) else ""
    return f"{', '.join(names)}{more}, {_size(data['bytes'])}"


def _size(n_bytes: int) -> str:
    for unit, name in _UNITS:
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return counted(n_bytes, "byte")


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
    parts = [f"loss {trace['loss'][0]:.4g}"]
    if "accuracy" in trace:
        parts.append(f"accuracy {trace['accuracy'][0]:.4g}")
    return {
        "over the stream": f"{', '.join(parts)}, predicted before learning; no curve, "
        f"which has a point every {TRACE_INTERVAL:,} examples"
    }
