"""The state of a run as plain data, and back: what a checkpoint holds.

States are made of NamedTuples and dataclasses of ours, arrays, and plain Python values.
They become a tree of JSON whose leaves are values or the names of arrays; classes are
named, and only classes of this package are ever looked up. Nothing is pickled, so a file
from a stranger can do no harm.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, ShortlistError

Arrays = dict[str, NDArray[Any]]

_PACKAGE = "shortlist"


def flatten(value: Any) -> tuple[Any, Arrays]:
    """Turn a state into a tree of JSON and the arrays that it names.

    Examples
    --------
    >>> tree, arrays = flatten({"rows": 3, "seen": np.arange(2)})
    >>> tree
    {'dict': [['rows', 3], ['seen', {'array': 'a0'}]]}
    >>> unflatten(tree, arrays)
    {'rows': 3, 'seen': array([0, 1])}
    """
    arrays: Arrays = {}
    return _flatten(value, arrays), arrays


def _flatten(value: Any, arrays: Arrays) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        name = f"a{len(arrays)}"
        arrays[name] = np.asarray(value)
        return {"scalar" if isinstance(value, np.generic) else "array": name}
    if type(value) in (list, tuple):
        parts = [_flatten(part, arrays) for part in value]
        return {type(value).__name__: parts}
    if type(value) is dict:
        return {"dict": [[k, _flatten(v, arrays)] for k, v in value.items()]}
    kind = type(value)
    if not _is_record(kind):
        raise ShortlistError(
            f"checkpoints hold what is made of plain data, got {kind.__qualname__}"
        )
    if kind.__module__.partition(".")[0] != _PACKAGE:
        raise ShortlistError(
            f"checkpoints hold only what shortlist can find again, got "
            f"{kind.__module__}.{kind.__qualname__}; run without a checkpoint"
        )
    fields = {name: _flatten(getattr(value, name), arrays) for name in _fields(kind)}
    return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": fields}


def unflatten(tree: Any, arrays: Arrays) -> Any:
    """Make the state that was flattened; a tree that no state has raises DataError."""
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "scalar" in tree:
        return arrays[tree["scalar"]][()]
    for kind in (list, tuple):
        if kind.__name__ in tree:
            return kind(unflatten(part, arrays) for part in tree[kind.__name__])
    if "dict" in tree:
        return {key: unflatten(part, arrays) for key, part in tree["dict"]}
    cls = _look_up(tree["class"])
    values = {name: unflatten(part, arrays) for name, part in tree["fields"].items()}
    if set(values) != set(_fields(cls)):
        raise DataError(f"checkpoint: {cls.__qualname__} has other fields now")
    if not dataclasses.is_dataclass(cls):
        return cls(**values)
    made = cls.__new__(cls)  # fields that __init__ works out are known as well
    for field in dataclasses.fields(cls):
        object.__setattr__(made, field.name, None)  # unless it was saved
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def _fields(kind: type) -> tuple[str, ...]:
    if dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind)
        return tuple(f.name for f in fields if f.metadata.get("saved", True))
    return tuple(kind._fields)  # type: ignore[attr-defined]


def _is_record(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or (
        issubclass(kind, tuple) and hasattr(kind, "_fields")
    )


def _look_up(name: str) -> type:
    module, _, path = name.partition(":")
    found: Any = None
    if module.partition(".")[0] == _PACKAGE:
        try:
            found = import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            found = None
    if not isinstance(found, type) or not _is_record(found):
        raise DataError(f"checkpoint: expected a class of this version, got {name!r}")
    return found
