"""Stability selection: fit a selector to halves of the examples, count what they choose."""

from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from shortlist._protocols import ColumnSource, Ids, Ints, RowSource, ShortlistError
from shortlist._splits import group_numbers
from shortlist._targets import choose_target
from shortlist.engines import Interrupted
from shortlist.evaluate._contestants import takes_groups
from shortlist.losses import get_loss
from shortlist.resampling._bounds import check_threshold
from shortlist.resampling._forms import are_columns
from shortlist.resampling._halves import complementary_halves
from shortlist.resampling._result import Stability, Tally
from shortlist.sources._labels import check_weights
from shortlist.sources.pairs import has_pairs

#: Told what is being done, how many fits of how many are behind.
Watch = Callable[[str, int, int], None]


def stability(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    n_resamples: int = 50,
    groups: Any = None,
    sample_weight: Any = None,
    threshold: float = 0.75,
    random_state: int = 0,
    watch: Watch | None = None,
) -> Stability:
    """Say how often halves of the examples choose each feature.

    The examples are cut into two halves ``n_resamples`` times, and clones of the selector
    are fitted to both (complementary pairs). A feature counts if it is chosen for any
    class.

    Parameters
    ----------
    selector : estimator
        Any of ours, or one of scikit-learn's selectors; it stays as it is.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), or source
        A source of rows, or the path of one, goes with selectors of the rooms ``rows``
        and ``sketch``. It is read once, or as often as a single fit reads it: all models
        learn side by side. So do those of room ``columns`` from all that ``open_columns``
        takes: a path, pairs of a name and a column, a source of columns.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Halves have equal shares of each class. A source of rows has labels of its own, and
        one of columns may have.
    n_resamples : int, default=50
        Pairs of halves: there are twice as many fits, and one to all examples.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group (a patient, a user) are never in both halves, and selectors that
        split rows for themselves (whose ``fit`` takes ``groups``) are told of them. Not for
        sources of rows.
    sample_weight : array-like of shape (n_samples,), default=None
    threshold : float, default=0.75
        Share of halves from which on a feature is called stable; above 0.5.
    random_state : int, default=0
        Seed; also of the selectors, if they have one.
    watch : callable, default=None
        Called with what is being done, the number of fits behind and that of all; of a
        source, with the pass, how much of it is read and how much there is (0: unknown).

    Returns
    -------
    result : Stability
        With ``shortlist``: what all examples choose, and the shares.

    Raises
    ------
    KeyboardInterrupt
        An ``Interrupted`` after Ctrl-C; its ``result`` has the pairs that were done.

    Notes
    -----
    Rows of a source are dealt by a coin, which is a hash of their number: halves are
    equally large about, and have about the same share of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import FoBa, stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 3] - X[:, 8] + rng.normal(size=200)
    >>> found = stability(FoBa(k=3), X, y, n_resamples=20)
    >>> found.stable()
    ('x3', 'x8')
    >>> round(found.expected_false(), 2)
    0.19
    """
    check_resamples(n_resamples)
    check_threshold(threshold)
    if _by_column(selector, X):
        from shortlist.resampling._columns import stability_of_columns

        return stability_of_columns(
            selector,
            X,
            y,
            *(n_resamples, threshold, random_state),
            groups=groups,
            sample_weight=sample_weight,
            watch=watch,
        )
    if isinstance(X, RowSource | str | os.PathLike):
        from shortlist.resampling._streams import stability_of_source

        for name, given in (("y", y), ("groups", groups), ("weights", sample_weight)):
            if given is not None:
                raise ShortlistError(f"a source of rows goes without {name}")
        asked = (n_resamples, threshold, random_state)
        return stability_of_source(selector, X, *asked, watch)
    y = np.asarray(y)
    if y.ndim == 0 or len(y) != _n_rows(X):
        raise ShortlistError(f"y should have {_n_rows(X)} entries, got shape {y.shape}")
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, len(y), "sample_weight")
    tell = watch or _ignore
    total = 2 * n_resamples + 1
    seeds = _seeds(random_state, total)
    tell("all rows", 0, total)
    group = group_numbers(groups, len(y))
    telling = group if takes_groups(selector) else None
    whole = _fitted(selector, X, y, weight, telling, None)
    halves = complementary_halves(
        len(y),
        n_resamples,
        classes=y if _are_classes(selector, y) else None,
        groups=group,
        seed=random_state,
    )
    names, tally, n_features = _Names(X, whole), Tally(), _n_features(X, whole)
    if (grouped := _groups_of(whole)) is not None:
        unit_of, n_features = grouped
        tally = Tally(lambda ids: unit_of[ids.astype(np.int64)])

    def result() -> Stability:
        return Stability(
            tally,
            getattr(whole, "shortlist_", None),
            names,
            asked=n_resamples,
            n_features=n_features,
            threshold=threshold,
            chosen=_support(whole),
        )

    try:
        for pair, rows in enumerate(halves):
            supports = []
            for side in (0, 1):
                tell(f"pair {pair + 1} of {n_resamples}", 2 * pair + side + 1, total)
                seed = seeds[2 * pair + side + 1]
                part = _fitted(selector, X, y, weight, telling, rows[side], seed)
                names.learn(part)
                supports.append(_support(part))
            tally.add(*supports)
    except KeyboardInterrupt:
        if not tally.n_pairs:
            raise
        raise Interrupted(result()) from None
    return result()


def _by_column(selector: Any, X: Any) -> bool:
    """Whether data come column by column, for a selector that takes them so."""
    if hasattr(selector, "fit_columns"):
        return are_columns(X)
    is_path = isinstance(X, str | os.PathLike)
    if not is_path and not hasattr(X, "shape") and are_columns(X):
        what = X.name if isinstance(X, ColumnSource) else type(X).__name__
        raise ShortlistError(
            f"{type(selector).__name__} needs rows, and {what} has columns: "
            "OnlineSubstitution and Grafting go through columns"
        )
    return False


def check_resamples(n_resamples: Any) -> None:
    """Refuse what is no number of pairs."""
    whole = isinstance(n_resamples, Integral) and not isinstance(n_resamples, bool)
    if not whole or n_resamples < 1:
        raise ShortlistError(
            f"n_resamples should be a whole number from 1, got {n_resamples!r}"
        )


def _ignore(what: str, done: int, total: int) -> None:
    """Nobody looks."""


def _seeds(seed: int, n: int) -> list[int]:
    """Seeds for that many fits, which have nothing to do with each other."""
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(n)]


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _fitted(
    selector: Any,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None,
    groups: Ints | None,
    rows: np.ndarray | None,
    seed: int | None = None,
) -> Any:
    """Fit a clone to some rows, or to all."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    own = clone(selector)
    if seed is not None and "seed" in own.get_params():
        own.set_params(seed=seed)
    if rows is not None:
        X, y = _safe_indexing(X, rows), y[rows]
        weight = None if weight is None else weight[rows]
        groups = None if groups is None else groups[rows]
    told = {"sample_weight": weight, "groups": groups}
    return own.fit(X, y, **{n: one for n, one in told.items() if one is not None})


def _support(fitted: Any) -> Ids:
    chosen = getattr(fitted, "shortlist_", None)
    if chosen is not None:
        support: Ids = chosen.support
        return support
    return np.asarray(fitted.get_support(indices=True), np.uint64)


def _are_classes(selector: Any, y: np.ndarray) -> bool:
    """Whether a selector would see classes in y."""
    loss = getattr(selector, "loss", "auto")
    if y.ndim == 2 and y.shape[1] > 1:
        return False
    auto = isinstance(loss, str) and loss == "auto"
    if hasattr(selector, "capabilities") and not auto:
        return bool(get_loss(loss).is_classifier)
    if y.dtype.kind not in "fiub":
        return True
    return choose_target("auto", y.ravel().astype(np.float64)).classes is not None


def _n_features(X: Any, fitted: Any) -> int | None:
    """Features to choose from; pairs of features have not been counted."""
    shortlist = getattr(fitted, "shortlist_", None)
    if shortlist is not None and has_pairs(shortlist.params):
        return None
    n = int(X.shape[1]) if hasattr(X, "shape") else int(fitted.n_features_in_)
    never = getattr(fitted, "never", None)
    return n if never is None else n - len(set(fitted._names_of(never)))


def _groups_of(fitted: Any) -> tuple[Ints, int] | None:
    """Group of each column, and how many there are to choose from; None: columns are."""
    if getattr(fitted, "feature_groups", None) is None or not hasattr(fitted, "_units"):
        return None
    unit_of, _, never = fitted._units(fitted.n_features_in_)
    return unit_of, len(np.setdiff1d(unit_of, never))


class _Names:
    """Names by id: those of results, or of columns."""

    def __init__(self, X: Any, fitted: Any) -> None:
        columns = getattr(X, "columns", None)
        self._columns = None if columns is None else [str(name) for name in columns]
        self._known: dict[int, str] = {}
        self.learn(fitted)

    def learn(self, fitted: Any) -> None:
        """Remember the names of what a selector chose."""
        if hasattr(fitted, "shortlist_"):
            self._known |= fitted.shortlist_.names_by_id()

    def __call__(self, ids: Ids) -> list[str]:
        return [self._known.get(i) or self._column(i) for i in ids.tolist()]

    def _column(self, number: int) -> str:
        return f"x{number}" if self._columns is None else self._columns[number]
