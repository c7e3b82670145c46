"""Settings that every run of an online selector has, and what they may be."""

from __future__ import annotations

from numbers import Integral

from shortlist._protocols import ShortlistError


def check_run(budget: str, passes: int, seed: int) -> None:
    """Refuse settings of a run, whatever the rule, that make no sense."""
    if budget not in ("per_class", "shared"):
        raise ShortlistError(
            f"budget should be 'per_class' or 'shared', got {budget!r}"
        )
    if not isinstance(passes, Integral) or passes < 1:
        raise ShortlistError(f"passes should be a whole number from 1, got {passes!r}")
    if not isinstance(seed, Integral):
        raise ShortlistError(f"seed should be a whole number, got {seed!r}")
