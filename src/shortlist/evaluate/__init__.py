"""How good a choice is, on rows that it was not made with."""

from shortlist.evaluate._compare import compare
from shortlist.evaluate._display import CompareDisplay

__all__ = ["CompareDisplay", "compare"]
