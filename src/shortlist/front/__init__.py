"""The front door: one call that looks at the data and picks a method for them."""

from shortlist.front._choice import Choice, choose
from shortlist.front._facts import Facts

__all__ = ["Choice", "Facts", "choose"]
