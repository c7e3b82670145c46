"""Which sensors are enough: selection for sequences of observations and activities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, validate_data

from shortlist._base import BaseSelector
from shortlist._protocols import Capabilities, Fit, Ints
from shortlist._shortlist import Shortlist
from shortlist._shortlist_text import build_frame
from shortlist.table._groups import read_groups
from shortlist.table._sensor_path import Errors, SensorTable, errors_of, sensor_path
from shortlist.table._sensor_search import SensorSearch, SensorStep, check_search
from shortlist.table._sensor_steps import (
    distinct_labels,
    label_codes,
    plain_labels,
    sequence_bounds,
)


class SensorSelector(BaseSelector):
    """Select the sensors that are enough to tell activities apart, over time.

    Activities follow each other, so they are modelled as a linear-chain conditional
    random field: what a sensor says weighs for some activities and against others, and
    what comes after what is always part of the model. Minimises the mean negative
    log-likelihood of a step, plus (l2 / 2) times the sum of squared weights, over at most
    k sensors, or k weights, by forward-backward greedy steps (FoBa).

    Parameters
    ----------
    k : int, default=10
        The budget. One fit answers every smaller one too, see ``path_``.
    unit : {"sensor", "feature"}, default="sensor"
        What k counts: whole sensors, or single weights of a column for an activity, as
        in the paper.
    sensors : mapping or sequence, default=None
        Columns that belong to the same sensor: ``{"door": ["door opened", "door last"]}``,
        or a sensor for each column. None: each column is a sensor.
    direction : {"forward", "both", "backward"}, default="both"
        Add only; add and drop what has become cheap; or begin with all sensors and drop.
    l2 : float, default=1e-4
        Penalty of all weights, also of those that are always in. Too much, and rare
        activities are never predicted.
    epsilon : float, default=0.0
        Stop when no gradient exceeds this.
    cv : int, default=0
        Folds for the held-out errors of the path: whole sequences take turns in being
        held out. 0: none.
    unlabelled : sequence, default=()
        Labels that mean that nobody knows, besides None, NaN and the empty text.
    n_jobs : int, default=1
        Threads, each with sequences of its own.
    report : callable, default=None
        Called after each refit with a ``SensorStep``: ``fold`` (0: all sequences),
        ``units`` of k in the model, ``sensors``, ``objective``.

    Attributes
    ----------
    shortlist_ : Shortlist
        Columns and weights for k; margins are activities.
    sensors_ : tuple of str
        The sensors chosen for k.
    path_ : dict of int to SensorPoint
        For each size, in units of k: sensors, number of features, objective, errors in
        training and held out (plain, macro, by activity), model.
    model_ : ChainModel
        Weights, bias, first, last and transitions for k.
    sensor_names_ : tuple of str
        All sensors.
    classes_ : ndarray
        Activities.

    Notes
    -----
    Rows are steps in time. Rows of a sequence (a day, a recording) stand together; say
    which is which by ``lengths`` or ``sequence``, else all rows are one sequence.
    Predictions depend on whole sequences, so this class takes no part in scikit-learn's
    checks of estimators, which reorder rows. Steps without a label cut a sequence in two
    for training and are not learned from; predictions go through them.

    Besides plain errors there are macro ones, the mean over activities: where two
    activities fill the day, all others can be wrong in a model with small plain error.

    References
    ----------
    Liu, Fujimaki, Ye. Forward-Backward Greedy Algorithms for General Convex Smooth
    Functions over A Cardinality Constraint. ICML 2014, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import SensorSelector
    >>> rng = np.random.default_rng(0)
    >>> activity = np.tile(np.repeat(["sleep", "cook", "out"], 10), 8)
    >>> X = rng.random((240, 5)) < 0.1
    >>> X[:, 1] |= activity == "cook"
    >>> X[:, 3] |= activity == "out"
    >>> selector = SensorSelector(k=2).fit(X, activity, lengths=[30] * 8)
    >>> selector.sensors_
    ('x1', 'x3')
    >>> float(selector.score(X, activity, lengths=[30] * 8)) > 0.95
    True
    """

    capabilities = Capabilities(
        method="sensors",
        room="table",
        summary="linear-chain CRF over few sensors, by FoBa",
        algorithm="",
        estimator="shortlist.table:SensorSelector",
        losses=(),
        citation=(
            "Liu, Fujimaki, Ye (2014). Forward-Backward Greedy Algorithms for General "
            "Convex Smooth Functions over A Cardinality Constraint. ICML."
        ),
    )
    loss = "auto"
    always = never = feature_groups = None

    def __init__(
        self,
        k: int = 10,
        *,
        unit: str = "sensor",
        sensors: Any = None,
        direction: str = "both",
        l2: float = 1e-4,
        epsilon: float = 0.0,
        cv: int = 0,
        unlabelled: Sequence[Any] = (),
        n_jobs: int = 1,
        report: Callable[[SensorStep], None] | None = None,
    ) -> None:
        self.k = k
        self.unit = unit
        self.sensors = sensors
        self.direction = direction
        self.l2 = l2
        self.epsilon = epsilon
        self.cv = cv
        self.unlabelled = unlabelled
        self.n_jobs = n_jobs
        self.report = report

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags()
        tags.regressor_tags = None
        return tags

    def fit(self, X: Any, y: Any, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Select sensors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_steps, n_columns)
            What sensors say, in the order of time; yes and no, or numbers.
        y : array-like of shape (n_steps,)
            Activities, texts or numbers.
        lengths : array-like of int of shape (n_sequences,), default=None
            How many rows each sequence has.
        sequence : array-like of shape (n_steps,), default=None
            Or the sequence of each row.

        Returns
        -------
        self : object
        """
        self._check_request()
        search = SensorSearch(
            int(self.k), self.unit, self.direction, self.epsilon, self.report
        )
        check_search(search)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        labels = plain_labels(y, X.shape[0])
        classes = distinct_labels(labels, self.unlabelled)
        codes = label_codes(labels, classes, self.unlabelled)
        bounds = sequence_bounds(lengths, sequence, X.shape[0])
        names = self._all_names()
        groups = (
            [[j] for j in range(len(names))] if self.sensors is None else self.sensors
        )
        sensor_of, sensor_names = read_groups(groups, names, len(names))
        self.sensor_names_ = tuple(names) if self.sensors is None else sensor_names
        table = SensorTable(X, codes, bounds, len(classes))
        self.path_, fits = sensor_path(
            table,
            search,
            sensor_of,
            self.sensor_names_,
            l2=self.l2,
            n_jobs=self.n_jobs,
            cv=self.cv,
        )
        reached = max(size for size in fits if size <= self.k)
        self.model_ = self.path_[reached].model
        self.sensors_ = self.path_[reached].sensors
        n_labelled = int((codes >= 0).sum())
        self._publish(self._shortlist(fits[reached], names, classes, n_labelled))
        return self

    def predict(self, X: Any, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Most probable activities of whole sequences (Viterbi).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_steps, n_columns)
        lengths, sequence
            As in ``fit``.
        """
        X, bounds = self._steps(X, lengths, sequence)
        return self.classes_[self.model_.decode(X, bounds)]

    def predict_proba(
        self, X: Any, *, lengths: Any = None, sequence: Any = None
    ) -> Any:
        """Probability of each activity in each step, given all of its sequence.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_steps, n_columns)
        lengths, sequence
            As in ``fit``.
        """
        X, bounds = self._steps(X, lengths, sequence)
        return self.model_.marginals(X, bounds)

    def errors(
        self, X: Any, y: Any, *, lengths: Any = None, sequence: Any = None
    ) -> Errors:
        """Plain error, macro error and error of each activity.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_steps, n_columns)
        y : array-like of shape (n_steps,)
            Steps without a label count for nothing; an activity that was not there in
            training is always missed, and comes last.
        lengths, sequence
            As in ``fit``.
        """
        X, bounds = self._steps(X, lengths, sequence)
        labels = plain_labels(y, X.shape[0])
        codes = label_codes(labels, self.classes_.tolist(), self.unlabelled)
        table = SensorTable(X, codes, bounds, len(self.classes_))
        return errors_of(self.model_, table)

    def score(  # type: ignore[override]
        self, X: Any, y: Any, *, lengths: Any = None, sequence: Any = None
    ) -> float:
        """Share of labelled steps whose activity is right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_steps, n_columns)
        y : array-like of shape (n_steps,)
        lengths, sequence
            As in ``fit``.
        """
        return 1.0 - self.errors(X, y, lengths=lengths, sequence=sequence).plain

    def path_frame(self, backend: str = "pandas") -> Any:
        """Return the path as a data frame, a row for each size.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default="pandas"

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            Columns size, sensors (how many), features, objective, error, macro_error,
            held_out_error, held_out_macro_error and name (those of the sensors).
        """
        check_is_fitted(self)
        points = self.path_.values()
        unknown = Errors(np.nan, np.nan, np.empty(0))
        held_out = [point.held_out or unknown for point in points]
        columns: dict[str, list[Any]] = {
            "size": list(self.path_),
            "sensors": [len(point.sensors) for point in points],
            "features": [point.n_features for point in points],
            "objective": [point.objective for point in points],
            "error": [point.train.plain for point in points],
            "macro_error": [point.train.macro for point in points],
            "held_out_error": [errors.plain for errors in held_out],
            "held_out_macro_error": [errors.macro for errors in held_out],
            "name": [", ".join(point.sensors) for point in points],
        }
        whole = ("size", "sensors", "features")
        types_of = {
            name: "int64" if name in whole else "float64" for name in [*columns][:-1]
        }
        return build_frame(columns, types_of, backend)

    def _steps(self, X: Any, lengths: Any, sequence: Any) -> tuple[Any, Ints]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return X, sequence_bounds(lengths, sequence, X.shape[0])

    def _all_names(self) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        if given is None:
            return [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in given]

    def _shortlist(
        self, fit: Fit, names: list[str], classes: list[Any], n_examples: int
    ) -> Shortlist:
        column, margin = np.divmod(fit.support, len(classes))
        n_columns = len(np.unique(column))
        settings = ("unit", "direction", "l2", "epsilon")
        return Shortlist(
            method=self.capabilities.method,
            room=self.capabilities.room,
            loss="ChainCRF",
            k=max(1, n_columns) if self.unit == "sensor" else self.k,
            ids=column.astype(np.uint64),
            names=tuple(names[j] for j in column.tolist()),
            margin=margin,
            weights=fit.weights,
            scores=np.abs(fit.weights),
            intercept=self.model_.bias,
            classes=tuple(classes),
            n_examples=n_examples,
            n_features=len(names),
            params={name: getattr(self, name) for name in settings}
            | {"objective": fit.value, "sensors": list(self.sensors_)},
            notes=(
                "what follows what is part of the model and not listed here",
                f"k = {self.k} counts {self.unit}s; {len(self.sensors_)} sensors with "
                f"{n_columns} columns are used",
            ),
        )
