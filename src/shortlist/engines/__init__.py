"""Where the work runs."""

from shortlist.engines.checkpoints import Keeper, Snapshot, load_snapshot
from shortlist.engines.serial import Broken, Interrupted, run

__all__ = ["Broken", "Interrupted", "Keeper", "Snapshot", "load_snapshot", "run"]
