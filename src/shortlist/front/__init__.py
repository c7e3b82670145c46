"""The front door: one call that looks at the data and picks a method for them."""

from shortlist.front._choice import Choice, choose
from shortlist.front._facts import Facts
from shortlist.front._select import select

__all__ = ["Choice", "Facts", "choose", "select"]
