"""A second look at the data: would others have chosen the same, and what else would do?"""

from shortlist.resampling._result import Stability
from shortlist.resampling._stability import stability
from shortlist.resampling._substitutes import substitutes

__all__ = ["Stability", "stability", "substitutes"]
