"""How good a choice is, on rows that it was not made with."""

from shortlist.evaluate._compare import CompareDisplay, compare

__all__ = ["CompareDisplay", "compare"]
