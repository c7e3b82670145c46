"""Objectives: what methods that select coordinates minimise."""

from shortlist.objectives.linear import LinearObjective

__all__ = ["LinearObjective"]
