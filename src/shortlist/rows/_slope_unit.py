"""The unit of a regression: the size of the slopes of its first examples.

Targets may be in any unit, and steps are right for slopes of about 1. So slopes are divided
by their mean square root over the first examples, and weights of real numbers are multiples
of it. (Those of counts are not: their margins are logarithms.) Classes have no unit.
"""

import numpy as np

from shortlist.kernels._jit import kernel
from shortlist.rows._state import REAL, UNITLESS

#: Examples after which the unit is held fixed.
UNIT_FROZEN_AFTER = 1000


@kernel
def weight_unit(kind, unit):
    """What weights are multiples of."""
    return slope_unit(kind, unit) if kind == REAL else 1.0


@kernel
def slope_unit(kind, unit):
    """What slopes are divided by."""
    if kind == UNITLESS or unit[1] == 0.0:
        return 1.0
    return np.sqrt(unit[0] / unit[1])


@kernel
def count_slope(kind, unit, slope):
    """Take the slope of an example into the unit, unless that is fixed by now."""
    if kind != UNITLESS and slope != 0.0 and unit[1] < UNIT_FROZEN_AFTER:
        unit[0] += slope * slope
        unit[1] += 1.0
