"""Objectives: what methods that select coordinates minimise."""

from shortlist.objectives.gram import GramObjective
from shortlist.objectives.linear import LinearObjective

__all__ = ["GramObjective", "LinearObjective"]
