"""All that selectors share as scikit-learn estimators.

A selector ends its fit by handing a Shortlist to ``_publish``; everything a user can ask
of a fitted selector (support, names, weights, predictions) is derived from it here.
Nothing as long as the number of features is built unless the user asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from shortlist._protocols import Capabilities, RowSource, ShortlistError
from shortlist._scoring import Predictor, evaluate
from shortlist._shortlist import Shortlist
from shortlist._targets import Target, choose_target
from shortlist.losses import Squared, SquaredVector, get_loss, is_loss
from shortlist.sources import ArraySource, is_table, open_source, take
from shortlist.sources.pairs import has_pairs, with_pairs_as

#: Beyond this many features nothing of that length is built.
MAX_DENSE_FEATURES = 1 << 26


def _knows(what: str) -> Any:
    """Whether a selector has probabilities, or decisions between classes.

    Before fitting the loss that was asked for tells; "auto" promises neither.
    """

    def check(self: BaseSelector) -> bool:
        if hasattr(self, "shortlist_"):
            if not is_loss(self.shortlist_.loss):
                return False
            return bool(getattr(get_loss(self.shortlist_.loss), what))
        return self.loss != "auto" and bool(getattr(get_loss(self.loss), what))

    return check


class BaseSelector(SelectorMixin, BaseEstimator):
    """Base of all selectors; see the module.

    Subclasses set ``capabilities``, store at least ``k``, ``loss``, ``always``,
    ``never`` and ``feature_groups`` in ``__init__`` and implement ``fit``.
    """

    capabilities: ClassVar[Capabilities]
    k: int
    loss: Any
    always: Sequence[str | int] | None
    never: Sequence[str | int] | None
    feature_groups: Any
    shortlist_: Shortlist

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        if isinstance(self.loss, str) and self.loss == "auto":
            # Neither, until y is seen; these say what it can become.
            tags.classifier_tags = ClassifierTags()
            tags.regressor_tags = RegressorTags()
            tags.target_tags.multi_output = self.capabilities.outputs
        else:
            loss = get_loss(self.loss)
            squared = isinstance(loss, Squared | SquaredVector)
            tags.target_tags.multi_output = self.capabilities.outputs and squared
            if loss.is_classifier:
                tags.estimator_type = "classifier"
                many = loss.is_vector or loss.name == "logistic"
                tags.classifier_tags = ClassifierTags(multi_class=many)
            else:
                tags.estimator_type = "regressor"
                tags.regressor_tags = RegressorTags()
                tags.target_tags.positive_only = loss.target == "count"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "shortlist_")

    # Before the fit ------------------------------------------------------------------

    def _check_request(self) -> None:
        """Refuse settings that make no sense or that this selector cannot honour."""
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 1:
            raise ShortlistError(f"k should be a whole number from 1, got {self.k!r}")
        for name in ("always", "never"):
            if isinstance(getattr(self, name), str):
                raise ShortlistError(f"{name} should be a list of features, got a str")
        if self.feature_groups is not None and not self.capabilities.groups:
            raise ShortlistError(
                f"{type(self).__name__} cannot select whole groups: feature_groups "
                "should be None"
            )
        if not (isinstance(self.loss, str) and self.loss == "auto"):
            name = get_loss(self.loss).name
            ours = type(get_loss(self.loss)).__module__.startswith("shortlist.")
            if ours and name not in self.capabilities.losses:
                raise ShortlistError(
                    f"{type(self).__name__} works with loss="
                    f"{', '.join(self.capabilities.losses)}, got {name!r}"
                )

    def _table(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        reset: bool = True,
        classes: Sequence[Any] | None = None,
        known: Target | None = None,
    ) -> tuple[Any, np.ndarray, Any, Target]:
        """Validate arrays to fit on: X, labels as numbers, weights, target."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            multi_output=self.capabilities.outputs,
            reset=reset,
        )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        if known is not None and known.classes is None:  # a regression, decided before
            return X, np.asarray(y, np.float64), sample_weight, known
        codes, target = self._target(y, classes)
        return X, codes, sample_weight, target

    def _array_source(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        reset: bool = True,
        classes: Sequence[Any] | None = None,
        known: Target | None = None,
    ) -> tuple[ArraySource, Target]:
        """Validate arrays to fit on; return them as a source, with their target."""
        X, codes, weight, target = self._table(
            X, y, sample_weight, reset=reset, classes=classes, known=known
        )
        names = getattr(self, "feature_names_in_", None)
        return ArraySource(X, codes, sample_weight=weight, feature_names=names), target

    def _target(
        self, y: np.ndarray, classes: Sequence[Any] | None
    ) -> tuple[np.ndarray, Target]:
        """Target of an array of labels, and the labels as numbers."""
        auto = isinstance(self.loss, str) and self.loss == "auto"
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if y.ndim == 2:
            return self._outputs(y, auto)
        if not auto and not get_loss(self.loss).is_classifier:
            y = np.asarray(y, np.float64)
            return y, choose_target(self.loss, y)
        if auto and y.dtype.kind in "fiu" and classes is None:
            target = choose_target("auto", np.asarray(y, np.float64))
            if target.classes is None:
                return np.asarray(y, np.float64), target
        check_classification_targets(y)
        labels = np.unique(y if classes is None else np.asarray(classes))
        codes = np.searchsorted(labels, y)
        unknown = labels[np.minimum(codes, len(labels) - 1)] != y
        if unknown.any():
            raise ShortlistError(
                f"y should hold the classes {labels.tolist()}, got "
                f"{y[unknown][0].item()!r}; name them all in the first call"
            )
        names = labels.tolist()
        numbers = np.asarray(codes, np.float64)
        everyone = names if classes is not None else None
        return numbers, choose_target(
            self.loss, numbers, labels=names, classes=everyone
        )

    def _outputs(self, y: np.ndarray, auto: bool) -> tuple[np.ndarray, Target]:
        """Target of several numbers a row."""
        loss = Squared() if auto else get_loss(self.loss)
        if not isinstance(loss, Squared | SquaredVector):
            raise ShortlistError(
                f"y should have one column for loss={loss.name!r}, got {y.shape[1]}; "
                "several go with loss='squared'"
            )
        y = np.asarray(y, np.float64)
        if not np.isfinite(y).all():
            raise ShortlistError("y should be finite, it holds a NaN or an infinity")
        return y, Target(SquaredVector(), None, np.empty(0), n_outputs=y.shape[1])

    def _names_of(self, features: Sequence[str | int] | None) -> tuple[str, ...]:
        """Features that a user gave by name or by number, as names."""
        known = getattr(self, "feature_names_in_", None)
        if known is not None:
            numbers = [int(f) for f in features or () if _is_number(f)]
            if any(not 0 <= number < len(known) for number in numbers):
                raise ShortlistError(
                    f"features should be from 0 to {len(known) - 1}, got {numbers}"
                )
            return tuple(
                str(known[f]) if _is_number(f) else str(f) for f in features or ()
            )
        # Columns of arrays are called x0, x1, ...; ids of a source by their digits.
        prefix = "x" if hasattr(self, "n_features_in_") else ""
        return tuple(
            f"{prefix}{f}" if _is_number(f) else str(f) for f in features or ()
        )

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

    @property
    def _is_one_number(self) -> bool:
        """Whether a single number is predicted."""
        return not self.shortlist_.is_classifier and self.shortlist_.n_margins == 1

    def _came_by_source(self, X: Any) -> bool:
        """Whether X is a source, a path, or a table for a model that knows names."""
        if isinstance(X, RowSource | str | os.PathLike):
            return True
        return not hasattr(self, "n_features_in_") and is_table(X)

    def _source(self, X: Any) -> RowSource:
        """Rows of a source, or of arrays like the ones that were fitted."""
        if self._came_by_source(X):
            return with_pairs_as(self.shortlist_.params, open_source(X))
        kinds = (np.float64, np.float32)
        X = validate_data(self, X, accept_sparse="csr", dtype=kinds, reset=False)
        return with_pairs_as(self.shortlist_.params, ArraySource(X))

    def _margins(self, X: Any) -> tuple[Predictor, np.ndarray]:
        """Margins of all rows, and the predictor that knows what they mean."""
        check_is_fitted(self)
        predictor = Predictor(self.shortlist_)
        parts = [predictor.margins(block) for block in self._source(X).blocks()]
        none = np.empty((0, self.shortlist_.n_margins))
        return predictor, np.concatenate([none, *parts])

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels, or numbers for a regression.

        Parameters
        ----------
        X : array-like, sparse matrix or row source of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        predictor, margins = self._margins(X)
        if self.shortlist_.is_classifier:
            return np.asarray(self.classes_[predictor.codes(margins)])
        responses = predictor.responses(margins)
        return responses[:, 0] if self._is_one_number else responses

    @available_if(_knows("is_classifier"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Margins: one a row for two classes, one a class for more.

        Parameters
        ----------
        X : array-like, sparse matrix or row source of shape (n_samples, n_features)
        """
        _, margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    @available_if(_knows("has_probability"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or row source of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        predictor, margins = self._margins(X)
        p = predictor.responses(margins)
        return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy for classes, R^2 for numbers.

        Parameters
        ----------
        X : array-like, sparse matrix or row source of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            A source has labels, and weights, of its own.
        sample_weight : array-like of shape (n_samples,), default=None
        """
        if y is None and self._came_by_source(X):
            check_is_fitted(self)
            return evaluate(self.shortlist_, self._source(X)).value
        predicted = self.predict(X)
        metric = accuracy_score if self.shortlist_.is_classifier else r2_score
        return float(metric(y, predicted, sample_weight=sample_weight))


def _is_number(feature: Any) -> bool:
    return isinstance(feature, Integral)


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
