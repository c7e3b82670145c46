"""Losses by name: ``register`` one, ``get_loss`` it back, list them all.

A loss is an immutable NamedTuple; its parameters are its fields and its rules are
static methods. Bare NamedTuples compare equal across classes and empty ones are falsy
(``Squared() == Logistic()`` would be True), so registering also defines equality and
hash by class and fields, and truth as True.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from shortlist._protocols import ShortlistError

L = TypeVar("L", bound=type)

_LOSSES: dict[str, type] = {}
_ALIASES: dict[str, str] = {}

POINTWISE_RULES = ("value", "slope", "curvature", "response")
VECTOR_RULES = ("value_of", "slope_into", "curvature_into", "response_into")
TARGETS = ("real", "sign", "count", "class")


def register(
    name: str,
    *aliases: str,
    target: str,
    smoothness: float = float("inf"),
    probability: bool = False,
) -> Callable[[L], L]:
    """Make a NamedTuple with the rules of a loss usable by name, everywhere.

    Parameters
    ----------
    name, *aliases : str
        What users type for it.
    target : {"real", "sign", "count", "class"}
        What y may be: any number, -1 or +1, a number at least 0, a class code
        0, 1, ... ("sign" and "class" make a classifier of whoever uses the loss).
    smoothness : float, default=inf
        Largest curvature the loss can have; step sizes are scaled by it.
    probability : bool, default=False
        Whether ``response`` gives the probability of the class +1 (or of each class).
    """
    if target not in TARGETS:
        raise ShortlistError(f"target should be one of {TARGETS}, got {target!r}")

    def decorate(cls: L) -> L:
        vector = hasattr(cls, "value_of")
        missing = [
            rule
            for rule in (VECTOR_RULES if vector else POINTWISE_RULES)
            if not hasattr(cls, rule)
        ]
        if missing or not hasattr(cls, "_fields"):
            raise ShortlistError(
                f"a loss is a NamedTuple with {', '.join(POINTWISE_RULES)} (or, for "
                f"several margins, {', '.join(VECTOR_RULES)}); {cls.__name__} lacks "
                f"{', '.join(missing) or 'NamedTuple'}"
            )
        loss: Any = cls
        loss.name, loss.target, loss.smoothness = name, target, float(smoothness)
        loss.has_probability, loss.is_vector = probability, vector
        loss.is_classifier = target in ("sign", "class")
        loss.__eq__, loss.__ne__, loss.__hash__ = _equal, _unequal, _hash
        loss.__bool__ = _true
        _LOSSES[name] = cls
        _ALIASES.update(dict.fromkeys((name, *aliases), name))
        return cls

    return decorate


def _equal(self: Any, other: object) -> bool:
    return type(self) is type(other) and tuple(self) == tuple(other)  # type: ignore[arg-type]


def _unequal(self: Any, other: object) -> bool:
    return not _equal(self, other)


def _hash(self: Any) -> int:
    return hash((type(self), *self))


def _true(self: Any) -> bool:
    return True


def get_loss(loss: Any) -> Any:
    """Return the loss that a user means.

    Parameters
    ----------
    loss : str or loss
        A name or alias, with parameters after colons if wanted ("huber:1.5"), or a
        loss, which is returned as it is.

    Examples
    --------
    >>> from shortlist.losses import get_loss
    >>> get_loss("ls")
    Squared()
    >>> get_loss("huber:1.5")
    Huber(delta=1.5)
    """
    if type(loss) in _LOSSES.values():
        if not _is_sound(loss):
            raise ShortlistError(f"{loss} should have finite parameters above 0")
        return loss
    if not isinstance(loss, str):
        raise ShortlistError(f"loss should be a name or a loss, got {loss!r}")
    name, *fields = loss.lower().split(":")
    name = name.replace("-", "_")
    if name not in _ALIASES:
        raise ShortlistError(
            f"loss should be one of {', '.join(loss_names())}, got {loss!r}"
        )
    cls: Any = _LOSSES[_ALIASES[name]]
    try:
        chosen = cls(*map(float, fields))
        if not _is_sound(chosen):
            raise ValueError
        return chosen
    except (TypeError, ValueError):
        wanted = ":".join((cls.name, *cls._fields))
        raise ShortlistError(f"loss should read {wanted}, got {loss!r}") from None


def _is_sound(loss: Any) -> bool:
    """Whether the parameters of a loss make sense; a class may know more about them."""
    if not all(0.0 <= number < float("inf") for number in loss):
        return False
    return bool(loss.is_sound(loss)) if hasattr(loss, "is_sound") else True


def spell(loss: Any) -> str:
    """Write a loss as the text that ``get_loss`` turns back into it."""
    return ":".join((type(loss).name, *(repr(float(field)) for field in loss)))


def is_loss(text: str) -> bool:
    """Whether a text, without parameters, names a loss."""
    return text.lower().split(":")[0].replace("-", "_") in _ALIASES


def loss_names() -> list[str]:
    """Names of all registered losses, sorted."""
    return sorted(_LOSSES)


def loss_class(name: str) -> Any:
    """Class of the loss registered under this name."""
    return _LOSSES[name]
