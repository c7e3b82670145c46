"""Shortlist: the frozen result that library, command line and report exchange."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist import storage
from shortlist._findings import Substitute, substitutes_of
from shortlist._pictures import Pictures
from shortlist._plain_values import (
    Label,
    frozen,
    frozen_json,
    frozen_trace,
    plain_count,
    plain_floats,
    plain_integers,
    plain_json,
    plain_labels,
    plain_mapping,
    plain_text,
    plain_texts,
)
from shortlist._protocols import DataError, Floats, Ids, Ints, ShortlistError
from shortlist._shortlist_text import (
    as_csv,
    as_dict,
    as_frame,
    as_html,
    as_text,
    ranks,
)

if TYPE_CHECKING:
    from shortlist.report import Report

KIND = "shortlist"
VERSION = 1
_ARRAYS = ("ids", "margin", "weights", "scores", "errors", "intercept")
_TEXTS = ("method", "room", "loss", "budget", "version")


def _package_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("shortlist")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Shortlist(Pictures):
    """The features that were chosen, by name, and how.

    Long form: one entry for each chosen feature and margin (a margin is a class, or an
    output of a regression). Entries are kept ordered by margin, then by decreasing
    score, ties by id. Nothing in it can be changed: arrays are read-only copies,
    mappings are read-only and lists in ``params`` become tuples.

    Parameters
    ----------
    method : str
        Name of the selector.
    room : str
        How the data came: "table", "columns", "rows" or "sketch".
    loss : str
        The loss, as ``losses.spell`` writes it.
    k : int
        The budget, at least 1.
    budget : {"shared", "per_class"}, default="shared"
        Whether ``k`` counts distinct features, or entries of each margin.
    ids : ndarray of uint64 of shape (n_entries,)
        Feature of each entry.
    names : tuple of str of length n_entries
        Name of that feature.
    margin : ndarray of int64 of shape (n_entries,)
        Margin of each entry; zeros if there is only one.
    weights : ndarray of float64 of shape (n_entries,), default=None
        Finite weights; None for a method without a model.
    scores : ndarray of float64 of shape (n_entries,)
        What entries are ranked by, larger is better; not NaN.
    errors : ndarray of float64 of shape (n_entries,), default=None
        Standard errors of the weights, given the choice; NaN where they are not known.
        See ``Mission`` for how far those of a stream can be trusted.
    intercept : ndarray of float64 of shape (n_margins,)
        One for each margin, so its length says how many there are.
    classes : tuple of str, int, float or bool, default=None
        Labels in the order of the margins; two labels and one margin make a binary
        classifier, whose margin speaks for the last one. None for a regression.
    n_examples : int
        How many examples were learned from.
    n_features : int, default=None
        How many features there were to choose from; None if nobody knows.
    params : mapping, default={}
        Settings of the method, JSON values.
    trace : mapping of str to ndarray, default={}
        What was recorded on the way: bools, numbers, text or times.
    notes : tuple of str, default=()
        What a reader of the result should know.
    version : str, default=version of this package
        Version of the package that made it.

    Notes
    -----
    Two shortlists are equal if every field is: arrays bit for bit (so NaN equals the
    same NaN, and 0.0 differs from -0.0), other values by value and type (1 differs from
    1.0 and from True). Equal shortlists have equal hashes.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist._shortlist import Shortlist
    >>> chosen = Shortlist(
    ...     method="mission", room="sketch", loss="logistic", k=2,
    ...     ids=np.array([907, 12]), names=("cheap", "meeting"),
    ...     margin=np.array([0, 0]), weights=np.array([1.5, -2.25]),
    ...     scores=np.array([1.5, 2.25]), intercept=np.array([0.5]),
    ...     classes=("ham", "spam"), n_examples=20_000, n_features=1_048_576,
    ... )
    >>> print(chosen)
    2 of 1,048,576 features chosen by mission (logistic), 20,000 examples
    classes: ham (-), spam (+)
    rank  name     weight  score
       1  meeting   -2.25   2.25
       2  cheap     +1.50   1.50
    >>> chosen.support
    array([ 12, 907], dtype=uint64)
    """

    method: str
    room: str
    loss: str
    k: int
    budget: str = "shared"
    ids: Ids
    names: tuple[str, ...]
    margin: Ints
    weights: Floats | None = None
    scores: Floats
    errors: Floats | None = None
    intercept: Floats
    classes: tuple[Label, ...] | None = None
    n_examples: int
    n_features: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    trace: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    version: str = field(default_factory=_package_version)

    def __post_init__(self) -> None:
        self._set(**{name: plain_text(name, getattr(self, name)) for name in _TEXTS})
        if self.budget not in ("shared", "per_class"):
            raise ShortlistError(
                f"budget should be 'shared' or 'per_class', got {self.budget!r}"
            )
        self._set(k=plain_count("k", self.k, at_least=1))
        self._set(n_examples=plain_count("n_examples", self.n_examples))
        if self.n_features is not None:
            self._set(n_features=plain_count("n_features", self.n_features))
        self._set(
            names=plain_texts("names", self.names),
            notes=plain_texts("notes", self.notes),
            params=frozen_json(
                plain_json("params", plain_mapping("params", self.params))
            ),
            trace=frozen_trace(plain_mapping("trace", self.trace)),
            intercept=frozen(plain_floats("intercept", self.intercept)),
        )
        if not self.n_margins:
            raise ShortlistError("intercept should have a value a margin, got none")
        if self.classes is not None:
            self._set(classes=plain_labels(self.classes, self.n_margins))
        self._set_entries()
        self._check_entries()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _set_entries(self) -> None:
        """Copy the columns, put the entries in order and freeze them."""
        n = len(self.names)
        columns: dict[str, NDArray[Any]] = {
            "ids": plain_integers("ids", self.ids, n, np.uint64),
            "margin": plain_integers("margin", self.margin, n, np.int64),
            "scores": plain_floats("scores", self.scores, n, finite=False),
        }
        if np.isnan(columns["scores"]).any():
            raise ShortlistError("scores should be numbers, got NaN")
        if self.weights is not None:
            columns["weights"] = plain_floats("weights", self.weights, n)
        if self.errors is not None:
            columns["errors"] = plain_floats("errors", self.errors, n, finite=False)
        order = np.lexsort((columns["ids"], -columns["scores"], columns["margin"]))
        self._set(**{name: frozen(array[order]) for name, array in columns.items()})
        self._set(names=tuple(self.names[i] for i in order))

    def _check_entries(self) -> None:
        margins, counts = np.unique(self.margin, return_counts=True)
        if len(margins) and not 0 <= margins[0] <= margins[-1] < self.n_margins:
            raise ShortlistError(
                f"margin should lie between 0 and {self.n_margins - 1} (intercept has "
                f"{self.n_margins}), got {margins[0]} to {margins[-1]}"
            )
        if self.n_selected < len(self):  # else there is nothing that could be twice
            self._check_repeated_ids()
        if self.budget == "shared" and self.n_selected > self.k:
            raise ShortlistError(
                f"a shared budget of k = {self.k} allows {self.k} distinct features, "
                f"got {self.n_selected}"
            )
        if len(counts) and counts.max() > self.k:
            raise ShortlistError(
                f"k = {self.k} allows {self.k} entries a margin, got {counts.max()}"
            )

    def _check_repeated_ids(self) -> None:
        pairs = set(zip(self.ids.tolist(), self.margin.tolist(), strict=True))
        if len(pairs) < len(self):
            raise ShortlistError("a feature should have one entry a margin, got more")
        if len(set(zip(self.ids.tolist(), self.names, strict=True))) > self.n_selected:
            raise ShortlistError("an id should have one name, got several")

    @property
    def support(self) -> Ids:
        """Ids of the chosen features, distinct and increasing."""
        return np.unique(self.ids)

    @property
    def n_margins(self) -> int:
        """Number of margins: one for binary classes and for a single output."""
        return len(self.intercept)

    @property
    def n_selected(self) -> int:
        """Number of distinct features that were chosen."""
        return len(self.support)

    @property
    def is_classifier(self) -> bool:
        """Whether there are classes."""
        return self.classes is not None

    @property
    def margin_labels(self) -> tuple[Label, ...]:
        """What each margin speaks for: a class, or the number of an output."""
        if self.classes is None:
            return tuple(range(self.n_margins))
        return tuple(self.classes[-self.n_margins :])

    def __len__(self) -> int:
        return len(self.names)

    def __bool__(self) -> bool:
        return True  # a shortlist on which nothing stands is still a result

    def names_by_id(self) -> dict[int, str]:
        """Name of every chosen feature."""
        return dict(zip(self.ids.tolist(), self.names, strict=True))

    def top(self, n: int, always: Sequence[int] | Ids = ()) -> Shortlist:
        """Keep the best and lower the budget to ``n``; weights are not refitted.

        Parameters
        ----------
        n : int
            With a budget per class, how many entries each margin keeps; with a shared
            budget, how many features stay, ranked by their best score in any margin.
        always : sequence of int, default=()
            Ids of features that stay before all others, whatever their scores.

        Returns
        -------
        Shortlist
            This one if ``n`` is not below ``k``.
        """
        n = plain_count("n", n, at_least=1)
        if n >= self.k:
            return self
        entitled = np.isin(self.ids, np.asarray(always, np.uint64))
        scores = np.where(entitled, np.inf, self.scores)
        if self.budget == "per_class":
            kept = np.empty(len(self), bool)
            kept[np.lexsort((self.ids, -scores, self.margin))] = ranks(self) <= n
        else:
            best_first = np.lexsort((self.ids, -scores))
            features = dict.fromkeys(self.ids[best_first].tolist())
            kept = np.isin(self.ids, np.array(list(features)[:n], dtype=np.uint64))
        return replace(
            self,
            k=n,
            ids=self.ids[kept],
            names=tuple(compress(self.names, kept)),
            margin=self.margin[kept],
            weights=None if self.weights is None else self.weights[kept],
            scores=self.scores[kept],
            errors=None if self.errors is None else self.errors[kept],
        )

    def _header(self) -> dict[str, Any]:
        """All that is not an array, as JSON values; ``save`` and equality use it."""
        header = {
            part.name: getattr(self, part.name)
            for part in fields(self)
            if part.name not in _ARRAYS
        }
        # Traces may have any name; arrays in a file may not.
        return header | {"trace": sorted(self.trace)}

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {
            f"trace.{i}": self.trace[n] for i, n in enumerate(sorted(self.trace))
        }
        return {name: array for name, array in arrays.items() if array is not None}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shortlist):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        return (
            mine.keys() == theirs.keys()
            and all(_same_bits(mine[name], theirs[name]) for name in mine)
            and storage.to_json(self._header()) == storage.to_json(other._header())
        )

    def __hash__(self) -> int:
        return hash((self.method, self.loss, self.k, self.names, self.ids.tobytes()))

    def __reduce__(self) -> tuple[Callable[..., Shortlist], tuple[Any, ...]]:
        # Read-only mappings cannot be pickled, and unpickled arrays can be written:
        # build it anew.
        header = storage.from_json(storage.to_json(self._header()))
        return self._build, (header, self._arrays())

    @classmethod
    def _build(
        cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Shortlist:
        """Undo ``_header`` and ``_arrays``."""
        values = {**header, **arrays}
        names = values["trace"]
        values["trace"] = {n: values.pop(f"trace.{i}") for i, n in enumerate(names)}
        return cls(**values)

    def to_frame(self, backend: str = "pandas") -> Any:
        r"""Return the entries as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default="pandas"
            Library of the frame.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            Columns rank, name, id, class (only with several margins), weight, score,
            error, stability (only if halves were fitted: the share that chose the
            feature); weight and error are empty if there are none. Letters in names that
            no text encoding holds (lone surrogates) are written out, as in ``\udcff``.
        """
        return as_frame(self, backend)

    def to_csv_text(self) -> str:
        """Return the entries as CSV with a header line; columns as in ``to_frame``."""
        return as_csv(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values, for other programs.

        Numbers that are not finite become None, as JSON has none; ``save`` keeps them.
        """
        return as_dict(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all; ``load`` gives back an equal one."""
        storage.save(
            path,
            kind=KIND,
            version=VERSION,
            header=self._header(),
            arrays=self._arrays(),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Shortlist:
        """Read a shortlist that was saved."""
        header, arrays = storage.load(path, kind=KIND, version=VERSION)
        try:
            return cls._build(header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}: not a valid shortlist: {error}") from error

    def report(self, path: str | os.PathLike[str] | None = None) -> Report:
        """Tell all about it on a page for browsers: one file that needs no network.

        Parameters
        ----------
        path : path-like, default=None
            HTML file to write, whole or not at all; None: write nothing.

        Returns
        -------
        Report
            Shows itself in a notebook; has ``html``, ``summary`` and ``save``.
        """
        from shortlist.report import Report

        report = Report(self)
        if path is not None:
            report.save(path)
        return report

    @property
    def substitutes(self) -> tuple[Substitute, ...]:
        """Features that could take the place of chosen ones, best first for each.

        Empty unless ``shortlist.substitutes`` has looked for them; ``DataFrame`` makes a
        table of it.
        """
        return substitutes_of(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return (
        one.dtype == other.dtype
        and one.shape == other.shape
        and one.tobytes() == other.tobytes()
    )
