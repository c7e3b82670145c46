"""What a shortlist has to tell: a summary of plain values, and a page made from it.

Data first, rendering after: ``summary`` knows nothing of HTML, ``render`` nothing of a
Shortlist.
"""

from shortlist.report._page import render
from shortlist.report._report import Report
from shortlist.report._summary import summary

__all__ = ["Report", "render", "summary"]
