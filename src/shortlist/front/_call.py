"""What was asked of ``select``: the call that gives a result again, for it to carry."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._leaks import LeakWarning
from shortlist._protocols import ColumnSource, RowSource
from shortlist._shortlist import Shortlist
from shortlist.sources import is_table
from shortlist.sources._stored import stored
from shortlist.sources.forms import are_paths

#: Arguments that change nothing in a result.
_WITHOUT_EFFECT = ("verbose", "observe")
#: Longer values are not written out: the name of the argument stands for them.
_MOST_LETTERS = 200


def spelled_call(function: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """Write a call of ``select`` as text, but for what is too much to be written out.

    Parameters
    ----------
    function : callable
        ``select`` itself, for the names and defaults of its arguments.
    given : mapping
        Its arguments by name, as ``locals()`` has them at its beginning.

    Returns
    -------
    str
        Data are called X and y, table, rows or source, and others as their arguments;
        for rows that turn out to be columns see ``of_columns``.
        ``chosen`` is the result.

    Examples
    --------
    >>> import numpy as np
    >>> def select(data, target=None, k=10, *, cv=None, **settings): ...
    >>> asked = {"data": np.eye(2), "target": [0, 1], "k": "auto", "cv": 4}
    >>> print(spelled_call(select, {**asked, "settings": {"loss": "huber:1.5"}}))
    from shortlist import select
    <BLANKLINE>
    chosen = select(X, y, k='auto', cv=4, loss='huber:1.5')
    """
    words = [_data(given["data"])]
    if given["target"] is not None:
        words.append(_written("y", given["target"], texts_only=True))
    words.append(f"k={_written('k', given['k'])}")
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("data", "target", "k", *_WITHOUT_EFFECT):
            continue
        value = given[name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            words += [f"{key}={_written(key, one)}" for key, one in value.items()]
        elif not _is_default(value, parameter.default):
            words.append(f"{name}={_written(name, value)}")
    return f"from shortlist import select\n\nchosen = select({', '.join(words)})"


def given_arguments(
    function: Callable[..., Any], given: Mapping[str, Any]
) -> list[str]:
    """Arguments that differ from their defaults, or have none; of them no settings."""
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        and not _is_default(given[name], parameter.default)
    ]


def of_columns(call: str) -> str:
    """A call whose rows have turned out to be columns, which only reading them tells."""
    return call.replace("select(rows,", "select(columns,", 1)


def answered(shortlist: Shortlist, call: str, seed: int, data: Any = None) -> Shortlist:
    """Have a result carry its call and files, and warn whoever called of leaks."""
    for note in shortlist.notes:
        if note.startswith("leak?"):
            warnings.warn(note, LeakWarning, stacklevel=3)
    params = {**shortlist.params, "seed": int(seed), "call": call}
    if are_paths(data) and (files := stored(data)) is not None:
        params["data"] = files
    return replace(shortlist, params=params)


def _data(data: Any) -> str:
    if isinstance(data, (str, os.PathLike)):
        return repr(os.fspath(data))
    if isinstance(data, (RowSource, ColumnSource)):
        return "source"
    if is_table(data):
        return "table"
    if isinstance(data, tuple) and len(data) == 2 and hasattr(data[0], "shape"):
        return "(X, y)"
    if are_paths(data):
        return _written("files", [os.fspath(one) for one in data])
    return "X" if hasattr(data, "shape") or _is_nested(data) else "rows"


def _is_nested(data: Any) -> bool:
    """Whether these are rows as lists of numbers."""
    listed = isinstance(data, (list, tuple)) and len(data) > 0
    return listed and isinstance(data[0], (list, np.ndarray))


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (_is_plain(value) and bool(value == default))


def _written(name: str, value: Any, *, texts_only: bool = False) -> str:
    """A value as Python reads it, or the name of what it is for."""
    if isinstance(value, np.generic):
        value = value.item()
    short = _is_plain(value) and len(repr(value)) <= _MOST_LETTERS
    return repr(value) if short and (isinstance(value, str) or not texts_only) else name


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple, set)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(part) for pair in value.items() for part in pair)
    return value is None or type(value) in (str, int, float, bool)
