"""What an estimator that predicts does, whether or not it selects.

Arrays are validated and become a source with a target; margins become labels, numbers and
probabilities. What was learned is ``_learned``: a Shortlist, or anything else with its
``loss``, ``classes``, ``n_margins``, ``is_classifier`` and ``params``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from shortlist._protocols import Capabilities, RowBlock, RowSource, ShortlistError
from shortlist._scoring import Responding, evaluate
from shortlist._targets import Target, choose_target
from shortlist.losses import (
    Squared,
    SquaredVector,
    binary_of,
    get_loss,
    is_loss,
    one_vs_rest,
)
from shortlist.sources import ArraySource, is_table, open_source
from shortlist.sources._labels import check_weights
from shortlist.sources._text_in_frames import (
    AS_CATEGORIES,
    ELSEWHERE,
    naming_text_columns,
)
from shortlist.sources.pairs import with_pairs_as


def _knows(what: str) -> Any:
    """Whether an estimator has probabilities, or decisions between classes.

    Before fitting the loss that was asked for tells; "auto" promises neither.
    """

    def check(self: BasePredictor) -> bool:
        if self.__sklearn_is_fitted__():
            loss = self._learned.loss
            if isinstance(loss, str) and not is_loss(loss):
                return False
            return bool(getattr(get_loss(loss), what))
        return self.loss != "auto" and bool(getattr(get_loss(self.loss), what))

    return check


class BasePredictor(BaseEstimator):
    """Base of all estimators; see the module.

    Subclasses store at least ``loss`` in ``__init__``, set ``capabilities`` and implement
    what follows.
    """

    capabilities: ClassVar[Capabilities]
    #: Sparse tables that a fit takes as they are; others become the first of these.
    _sparse_forms: ClassVar[tuple[str, ...]] = ("csr",)
    loss: Any

    @property
    def _learned(self) -> Any:
        """What the fit has left behind."""
        raise NotImplementedError

    def _responding(self) -> Responding:
        """Return what makes margins of blocks, and responses of margins."""
        raise NotImplementedError

    def _check_request(self) -> None:
        """Refuse settings that make no sense or that this estimator cannot honour."""
        raise NotImplementedError

    def _publish(self, learned: Any) -> None:
        """Make a result the state of this fitted estimator."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        raise NotImplementedError

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
                many = loss.is_vector or one_vs_rest(loss) is not None
                tags.classifier_tags = ClassifierTags(multi_class=many)
            else:
                tags.estimator_type = "regressor"
                tags.regressor_tags = RegressorTags()
                tags.target_tags.positive_only = loss.target == "count"
        return tags

    # Before the fit ------------------------------------------------------------------

    def _check_loss(self) -> None:
        """Refuse losses that this estimator cannot learn by."""
        if not (isinstance(self.loss, str) and self.loss == "auto"):
            loss = get_loss(self.loss)
            ours = type(loss).__module__.startswith("shortlist.")
            if ours and binary_of(loss).name not in self.capabilities.losses:
                raise ShortlistError(
                    f"{type(self).__name__} works with loss="
                    f"{', '.join(self.capabilities.losses)}, got {loss.name!r}"
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
        with naming_text_columns(X, self._about_text()):
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse=self._sparse_forms,
                dtype=(np.float64, np.float32),
                multi_output=self.capabilities.outputs,
                reset=reset,
            )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            check_weights(sample_weight, len(sample_weight), "array: sample_weight")
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

    def _about_text(self) -> str:
        """What to do about a column of text."""
        return AS_CATEGORIES if hasattr(self, "categorical_features") else ELSEWHERE

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
        if y.dtype == object and None in (listed := y.tolist()):
            row = listed.index(None) + 1
            raise ShortlistError(
                f"y should have a label for every row, got None in row {row}"
            )
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

    # After the fit -------------------------------------------------------------------

    @property
    def _is_one_number(self) -> bool:
        """Whether a single number is predicted."""
        return not self._learned.is_classifier and self._learned.n_margins == 1

    def _came_by_source(self, X: Any) -> bool:
        """Whether X is a source, a path, or a table for a model that knows names."""
        if isinstance(X, RowSource | str | os.PathLike):
            return True
        return not hasattr(self, "n_features_in_") and is_table(X)

    def _source(self, X: Any) -> RowSource:
        """Rows of a source, or of arrays like the ones that were fitted."""
        if self._came_by_source(X):
            return with_pairs_as(self._learned.params, open_source(X))
        source = ArraySource(self._like_fitted(X, ("csr",)))
        return with_pairs_as(self._learned.params, source)

    def _like_fitted(self, X: Any, sparse_forms: tuple[str, ...]) -> Any:
        """Validate arrays to predict for."""
        kinds = (np.float64, np.float32)
        with naming_text_columns(X, self._about_text()):
            return validate_data(
                self, X, accept_sparse=sparse_forms, dtype=kinds, reset=False
            )

    def _blocks(self, X: Any) -> Iterator[RowBlock]:
        """Rows to predict for; features that have no weight may be left out."""
        return self._source(X).blocks()

    def _margins(self, X: Any) -> tuple[Responding, np.ndarray]:
        """Margins of all rows, and the predictor that knows what they mean."""
        check_is_fitted(self)
        predictor = self._responding()
        parts = [predictor.margins(block) for block in self._blocks(X)]
        none = np.empty((0, self._learned.n_margins))
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
        if self._learned.is_classifier:
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
            return evaluate(self._responding(), self._source(X)).value
        predicted = self.predict(X)
        metric = accuracy_score if self._learned.is_classifier else r2_score
        return float(metric(y, predicted, sample_weight=sample_weight))
