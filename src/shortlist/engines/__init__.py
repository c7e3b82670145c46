"""Where the work runs."""

from shortlist.engines.serial import Interrupted, run

__all__ = ["Interrupted", "run"]
