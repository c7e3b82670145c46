"""Where the work runs."""

from shortlist.engines.serial import Broken, Interrupted, run

__all__ = ["Broken", "Interrupted", "run"]
