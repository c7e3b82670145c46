"""Which methods and properties the page of a class shows.

Those of ours that say what they are. What scikit-learn gives every estimator is documented
there, in a language of references that leads nowhere outside its own site.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path


def named_in(page: Path) -> list[str]:
    """Names that the tables of an API page list, as ``select`` or ``report.summary``."""
    return re.findall(r"^   ([A-Za-z][\w.]*)$", page.read_text(), re.MULTILINE)


def find(name: str) -> object:
    """The object that a name of an API page stands for."""
    module, _, attribute = f"shortlist.{name}".rpartition(".")
    return getattr(import_module(module), attribute)


def is_ours(what: object) -> bool:
    """Whether something was written here, and explained."""
    function = what.fget if isinstance(what, property) else what
    home = getattr(function, "__module__", None) or ""
    return home.startswith("shortlist") and bool(inspect.getdoc(what))


def members_of_ours(page: Path) -> dict[str, dict[str, list[str]]]:
    """Properties and methods of each class that an API page lists."""
    members: dict[str, dict[str, list[str]]] = {}
    for name in named_in(page):
        if not inspect.isclass(of := find(name)):
            continue
        ours = [
            (member, what)
            for member, what in inspect.getmembers(of)
            if not member.startswith("_") and is_ours(what)
        ]
        members[f"shortlist.{name}"] = {
            "properties": [m for m, what in ours if isinstance(what, property)],
            "methods": [m for m, what in ours if inspect.isroutine(what)],
        }
    return members
