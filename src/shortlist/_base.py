"""All that selectors share as scikit-learn estimators.

A selector ends its fit by handing a Shortlist to ``_publish``; everything a user can ask
of a fitted selector (support, names, weights) is derived from it, here or, what concerns
predictions, in ``_predicting``.
Nothing as long as the number of features is built unless the user asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from shortlist._predicting import BasePredictor
from shortlist._preparing import AS_IT_IS, preparing_of
from shortlist._protocols import RowBlock, RowSource, ShortlistError
from shortlist._scoring import Predictor
from shortlist._shortlist import Shortlist
from shortlist.sources import ArraySource, take
from shortlist.sources._columns import require_columns
from shortlist.sources.pairs import has_pairs

#: Beyond this many features nothing of that length is built.
MAX_DENSE_FEATURES = 1 << 26

# Nonzeros of a block to predict for, about: a few MB with all that is made of them.
_NONZEROS = 1 << 16


class BaseSelector(SelectorMixin, BasePredictor):
    """Base of all selectors; see the module.

    Subclasses set ``capabilities``, store at least ``k``, ``loss``, ``always``,
    ``never`` and ``feature_groups`` in ``__init__`` and implement ``fit``.
    """

    k: int
    always: Sequence[str | int] | None
    never: Sequence[str | int] | None
    feature_groups: Any
    shortlist_: Shortlist

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "shortlist_")

    def _repr_html_inner(self) -> str:
        """scikit-learn's picture of the settings; of a fitted one also what it chose."""
        picture: str = super()._repr_html_inner()
        fitted = self.__sklearn_is_fitted__()
        return picture + self.shortlist_._repr_html_() if fitted else picture

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def plot_weights(self, ax: Any = None, *, most: int = 30) -> Any:
        """Draw the weights of the chosen features; see ``Shortlist.plot_weights``."""
        check_is_fitted(self)
        return self.shortlist_.plot_weights(ax, most=most)

    def plot_path(self, ax: Any = None, *, what: str = "auto", most: int = 12) -> Any:
        """Draw weights, or the objective, by budget; see ``Shortlist.plot_path``."""
        check_is_fitted(self)
        return self.shortlist_.plot_path(ax, what=what, most=most)

    @property
    def _learned(self) -> Shortlist:
        return self.shortlist_

    def _responding(self) -> Predictor:
        return Predictor(self.shortlist_)

    def _source(self, X: Any) -> RowSource:
        source = super()._source(X)
        if self._came_by_source(X):
            require_columns(source, self.shortlist_.names)
        return source

    def _like_fitted(self, X: Any, sparse_forms: tuple[str, ...]) -> Any:
        X = super()._like_fitted(X, sparse_forms)
        support, pairs = (
            self.shortlist_.support,
            self.shortlist_.params.get("interactions"),
        )
        if pairs is None and len(support) and support[-1] >= X.shape[1]:
            self._refuse_columns(X.shape[1])
        return X

    def _refuse_columns(self, n: int) -> None:
        """Say that an array with n columns cannot have the features of a source."""
        raise ShortlistError(
            f"X: expected a source, a path or a table with names, as {type(self).__name__} "
            f"was fitted on, got an array of {n} columns without "
            f"{self.shortlist_.names[0]!r}"
        )

    def _blocks(self, X: Any) -> Iterator[RowBlock]:
        """Rows to predict for; of a table only the chosen columns are looked at."""
        params = self.shortlist_.params
        whole_rows = has_pairs(params) or preparing_of(params) != AS_IT_IS
        if whole_rows or self._came_by_source(X):
            yield from super()._blocks(X)
            return
        X = self._like_fitted(X, ("csr", "csc"))
        if getattr(X, "format", None) == "csr":  # columns of which are dear to take
            rows = max(1, _NONZEROS * X.shape[0] // max(1, X.nnz))
            yield from ArraySource(X, block_rows=min(4096, rows)).blocks()
            return
        support = self.shortlist_.support
        for block in ArraySource(X[:, support.astype(np.intp)]).blocks():
            yield block._replace(ids=support[block.ids])

    # Before the fit ------------------------------------------------------------------

    def _check_request(self) -> None:
        """Refuse settings that make no sense or that this selector cannot honour."""
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise ShortlistError(f"k should be a whole number from 1, got {self.k!r}")
        for name in ("always", "never"):
            given = getattr(self, name)
            if isinstance(given, str) or not (given is None or np.iterable(given)):
                came = "a str" if isinstance(given, str) else repr(given)
                raise ShortlistError(f"{name} should be a list of features, got {came}")
        if self.feature_groups is not None and not self.capabilities.groups:
            raise ShortlistError(
                f"{type(self).__name__} cannot select whole groups: feature_groups "
                "should be None"
            )
        self._check_loss()

    def _names_of(self, features: Any) -> tuple[str, ...]:
        """Features that a user gave by name, by number or by a mask, as names."""
        listed = _listed(features, getattr(self, "n_features_in_", None))
        known = getattr(self, "feature_names_in_", None)
        if known is not None:
            numbers = [int(f) for f in listed if _is_number(f)]
            if any(not 0 <= number < len(known) for number in numbers):
                raise ShortlistError(
                    f"features should be from 0 to {len(known) - 1}, got {numbers}"
                )
            return tuple(str(known[f]) if _is_number(f) else str(f) for f in listed)
        # Columns of arrays are called x0, x1, ...; ids of a source by their digits.
        prefix = "x" if hasattr(self, "n_features_in_") else ""
        return tuple(f"{prefix}{f}" if _is_number(f) else str(f) for f in listed)

    # After the fit -------------------------------------------------------------------

    def _publish(self, shortlist: Shortlist) -> None:
        """Make a result the state of this fitted selector."""
        self.shortlist_ = shortlist
        if shortlist.classes is not None:
            self.classes_ = np.array(shortlist.classes)
        elif hasattr(self, "classes_"):
            del self.classes_

    def _get_support_mask(self) -> np.ndarray:
        mask = np.zeros(self._dense_width("get_support()"), bool)
        mask[self.shortlist_.support.astype(np.intp)] = True
        return mask

    def _dense_width(self, what: str) -> int:
        check_is_fitted(self)
        n_features: int | None = getattr(self, "n_features_in_", None)
        if has_pairs(self.shortlist_.params):
            n_features = None
        if n_features is None or n_features > MAX_DENSE_FEATURES:
            size = "no bound" if n_features is None else f"{n_features:,}"
            raise AttributeError(
                f"{what} would be as long as the number of features ({size}); use "
                "get_support(indices=True) or shortlist_"
            )
        return n_features

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Mask, or ids, of the chosen features.

        Parameters
        ----------
        indices : bool, default=False
            Return the increasing ids of the chosen features instead of a mask; the only
            way when there are too many features for a mask.

        Returns
        -------
        support : ndarray
        """
        check_is_fitted(self)
        if not indices:
            return self._get_support_mask()
        support = self.shortlist_.support
        small = not len(support) or support[-1] <= np.iinfo(np.intp).max
        return support.astype(np.intp) if small else support.copy()

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the chosen features, in the order of ``transform``'s columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all features; if given it must agree with what was fitted.

        Returns
        -------
        names : ndarray of str objects
        """
        check_is_fitted(self)
        n_features = getattr(self, "n_features_in_", None)
        if has_pairs(self.shortlist_.params):
            n_features = None
        if n_features is not None and n_features <= MAX_DENSE_FEATURES:
            return np.asarray(super().get_feature_names_out(input_features))
        names = self.shortlist_.names_by_id()
        support = self.shortlist_.support.tolist()
        return np.array([names[i] for i in support], dtype=object)

    def transform(self, X: Any) -> Any:
        """Reduce X to the chosen features.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or row source

        Returns
        -------
        X_chosen : same kind as X; a sparse array for a source
        """
        check_is_fitted(self)
        if self._came_by_source(X):
            return take(self._source(X), self.shortlist_.support)[0]
        if has_pairs(self.shortlist_.params):
            taken, _ = take(self._source(X), self.shortlist_.support, dense=True)
            return taken
        support, n = self.shortlist_.support, getattr(X, "shape", (0, 0))[-1]
        if not hasattr(self, "n_features_in_") and len(support) and support[-1] >= n:
            self._refuse_columns(n)
        return super().transform(X)

    def _transform(self, X: Any) -> Any:
        support = self.get_support(indices=True)
        if len(support) and hasattr(X, "indptr"):
            return _csr_columns(X, support)
        if len(support):
            return _safe_indexing(X, support, axis=1)
        return super()._transform(X)

    @property
    def support_(self) -> np.ndarray:
        """Mask of the chosen features."""
        return self._get_support_mask()

    @property
    def ranking_(self) -> np.ndarray:
        """Place on the shortlist, 1 for the best; all that are off it share the next."""
        width = self._dense_width("ranking_")
        ranks = np.full(width, self.shortlist_.n_selected + 1)
        best_first = np.lexsort((self.shortlist_.ids, -self.shortlist_.scores))
        ids = self.shortlist_.ids[best_first].astype(np.intp)
        _, first = np.unique(ids, return_index=True)
        ranks[ids[np.sort(first)]] = np.arange(1, len(first) + 1)
        return ranks

    @property
    def coef_(self) -> np.ndarray:
        """Weights of all features; for classes, or several outputs, one row each."""
        width = self._dense_width("coef_")
        if self.shortlist_.weights is None:
            raise AttributeError(f"{type(self).__name__} has no weights")
        dense = np.zeros((self.shortlist_.n_margins, width))
        entries = (self.shortlist_.margin, self.shortlist_.ids.astype(np.intp))
        dense[entries] = self.shortlist_.weights
        return dense[0] if self._is_one_number else dense

    @property
    def intercept_(self) -> np.ndarray | float:
        """Intercept of each margin; a number for a regression of one output."""
        check_is_fitted(self)
        intercept = self.shortlist_.intercept
        return float(intercept[0]) if self._is_one_number else intercept


def _is_number(feature: Any) -> bool:
    return isinstance(feature, Integral)


def _listed(features: Any, n_features: int | None) -> list[Any]:
    """Names or numbers of features, whatever holds them; of a mask, where it is True."""
    listed = [] if features is None else list(features)
    if not listed or not all(isinstance(f, bool | np.bool_) for f in listed):
        return listed
    if len(listed) != n_features:
        size = "no bound" if n_features is None else n_features
        raise ShortlistError(
            f"a mask of features should have one entry for each of them ({size}), got "
            f"{len(listed)}"
        )
    return np.flatnonzero(listed).tolist()


def _csr_columns(X: Any, support: np.ndarray) -> Any:
    """Columns of a CSR matrix, without building anything as wide as the matrix."""
    place = np.searchsorted(support, X.indices)
    place[place == len(support)] = 0
    inside = support[place] == X.indices
    before = np.concatenate([[0], np.cumsum(inside)])
    return type(X)(
        (X.data[inside], place[inside], before[X.indptr]),
        shape=(X.shape[0], len(support)),
    )
