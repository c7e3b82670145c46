"""Objectives: what methods that select coordinates minimise."""

from shortlist._protocols import Fit, Objective
from shortlist.objectives.chain_crf import ChainCRF
from shortlist.objectives.gram import GramObjective
from shortlist.objectives.linear import LinearObjective
from shortlist.objectives.log_det import LogDetObjective
from shortlist.objectives.nonnegative import NonNegative

__all__ = [
    "ChainCRF",
    "Fit",
    "GramObjective",
    "LinearObjective",
    "LogDetObjective",
    "NonNegative",
    "Objective",
]
