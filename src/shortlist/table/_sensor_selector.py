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
from shortlist.engines import Interrupted
from shortlist.sources._text_in_frames import TO_ENCODE, naming_text_columns
from shortlist.table._groups import read_groups
from shortlist.table._path_trace import left_behind, path_trace
from shortlist.table._selected import PathStep
from shortlist.table._sensor_path import (
    ChainSettings,
    Errors,
    SensorPath,
    SensorPoint,
    SensorTable,
    errors_of,
    sensor_path,
)
from shortlist.table._sensor_search import SensorSearch, SensorStep, check_search
from shortlist.table._sensor_steps import (
    distinct_labels,
    label_codes,
    listed,
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
    standardize : bool, default=True
        Measure columns that hold other numbers than 0 and 1 in units of two standard
        deviations, which is what a column of as many yes as no spans, and from their
        mean unless most are 0: else a pressure in pascal comes before any door, however
        little it says. Weights are those of the columns as they are.
    epsilon : float, default=0.0
        Stop when no gradient exceeds this.
    cv : int, default=0
        Folds for the held-out errors of the path: whole sequences take turns in being
        held out. 0: none.
    unlabelled : sequence, default=()
        Labels that mean that nobody knows, besides None, NaN and the empty text; a text
        is one label.
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
        standardize: bool = True,
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
        self.standardize = standardize
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
            Activities, texts or whole numbers.
        lengths : array-like of int of shape (n_sequences,), default=None
            How many rows each sequence has.
        sequence : array-like of shape (n_steps,), default=None
            Or the sequence of each row.

        Returns
        -------
        self : object

        Raises
        ------
        KeyboardInterrupt
            In mid-search: the estimator is fitted with the sizes reached by then, if
            there are any up to k.
        """
        self._check_request()
        search = SensorSearch(
            int(self.k), self.unit, self.direction, self.epsilon, self.report
        )
        check_search(search)
        with naming_text_columns(X, TO_ENCODE):
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        labels, unlabelled = plain_labels(y, X.shape[0]), listed(self.unlabelled)
        classes = distinct_labels(labels, unlabelled)
        codes = label_codes(labels, classes, unlabelled)
        bounds = sequence_bounds(lengths, sequence, X.shape[0])
        names = self._all_names()
        groups = (
            [[j] for j in range(len(names))] if self.sensors is None else self.sensors
        )
        sensor_of, sensor_names = read_groups(groups, names, len(names))
        self.sensor_names_ = tuple(names) if self.sensors is None else sensor_names
        table = SensorTable(X, codes, bounds, len(classes))
        found = sensor_path(
            table,
            search,
            sensor_of,
            self.sensor_names_,
            settings=ChainSettings(self.l2, self.standardize, self.n_jobs),
            cv=self.cv,
        )
        within = [size for size in found.points if size <= self.k]
        if not within:
            raise KeyboardInterrupt
        self.path_ = found.points
        self.model_ = self.path_[within[-1]].model
        self.sensors_ = self.path_[within[-1]].sensors
        shortlist = self._shortlist(found, names, classes, int((codes >= 0).sum()))
        self._publish(shortlist)
        if found.interrupted:
            raise Interrupted(shortlist)
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
        unlabelled = listed(self.unlabelled)
        codes = label_codes(labels, self.classes_.tolist(), unlabelled)
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
        self, found: SensorPath, names: list[str], classes: list[Any], n_examples: int
    ) -> Shortlist:
        steps = {
            size: _entries(found.points[size], found.fits[size]) for size in found.fits
        }
        step = steps[max(size for size in steps if size <= self.k)]
        path = path_trace(steps, self.k)
        left = left_behind(path, step.ids)
        if len(left):
            path |= {"left_ids": left, "left_names": np.array(names)[left]}
        n_columns = len(np.unique(step.ids))
        notes = [
            "what follows what is part of the model and not listed here",
            f"k = {self.k} counts {self.unit}s; {len(self.sensors_)} sensors with "
            f"{n_columns} columns are used",
        ]
        if found.interrupted:
            notes.append("partial: interrupted before the search was done")
        settings = ("k", "unit", "direction", "l2", "standardize", "epsilon")
        return Shortlist(
            method=self.capabilities.method,
            room=self.capabilities.room,
            loss="ChainCRF",
            k=max(1, n_columns) if self.unit == "sensor" else self.k,
            ids=step.ids,
            names=tuple(names[j] for j in step.ids.tolist()),
            margin=step.margin,
            weights=step.weights,
            scores=step.scores,
            intercept=step.intercept,
            classes=tuple(classes),
            n_examples=n_examples,
            n_features=len(names),
            params={name: getattr(self, name) for name in settings}
            | {"objective": step.objective, "chosen_sensors": list(self.sensors_)},
            trace=path,
            notes=tuple(notes),
        )


def _entries(point: SensorPoint, fit: Fit) -> PathStep:
    """A size of the path as entries of a Shortlist."""
    model = point.model
    column, margin = np.divmod(fit.support, model.n_labels)
    return PathStep(
        ids=column.astype(np.uint64),
        margin=margin,
        weights=model.weights[column, margin],
        scores=np.abs(fit.weights),  # in units that compare
        intercept=model.bias,
        objective=fit.value,
    )
