"""Pictures of a result, each with the numbers under it as a frame.

They follow scikit-learn's displays: ``plot`` draws and returns the display, whose ``ax_``
and ``figure_`` are then what was drawn on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shortlist._held_out_curve import HeldOutCurve, held_out_curve
from shortlist._protocols import ShortlistError
from shortlist._shortlist import Shortlist
from shortlist._shortlist_text import printable
from shortlist._stays import has_stays, longest_members

_CHOSEN, _GONE = "#1f77b4", "#b0b0b0"
_UP, _DOWN = "#3b82f6", "#f97316"
_NAME_LETTERS = 30


def safe_label(name: str) -> str:
    """A name as text of a picture: printable, short, and no formula."""
    return printable(name)[:_NAME_LETTERS].replace("$", r"\$")


def pyplot_for(what: str) -> Any:
    """What draws; a line that says how to get it if it is not there."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ShortlistError(
            f"{what} needs matplotlib: pip install 'shortlist[plot]'"
        ) from None
    return pyplot


def new_axes(ax: Any, what: str, size: tuple[float, float]) -> Any:
    """Axes to draw on: those given, or those of a new figure."""
    pyplot = pyplot_for(what)
    if ax is not None:
        return ax
    return pyplot.subplots(figsize=size, layout="constrained")[1]


class Display:
    """A picture and its data."""

    ax_: Any  #: axes that were drawn on last
    figure_: Any

    def __init__(self, shortlist: Shortlist, columns: Mapping[str, Any]) -> None:
        self.shortlist = shortlist
        self._columns = dict(columns)

    @property
    def frame(self) -> Any:
        """The data under the picture, as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(self._columns)

    def _drawn_on(self, ax: Any) -> Any:
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def __repr__(self) -> str:
        n = len(next(iter(self._columns.values())))
        return f"<{type(self).__name__} of {self.shortlist.method}, {n:,} rows of data>"


class WeightsDisplay(Display):
    """Weights of the chosen features, with their errors where these are known.

    Made by ``Shortlist.plot_weights``. ``frame``: name, class, weight (or score, if there
    are no weights), error, share of halves that chose the feature (``stability``) if known.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from shortlist import FoBa
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> display = FoBa(k=2).fit(X, X[:, 3] - 2 * X[:, 8]).plot_weights()
    >>> display.frame["name"].tolist()
    ['x8', 'x3']
    """

    def __init__(self, shortlist: Shortlist) -> None:
        frame = shortlist.to_frame()
        self.measure = "score" if shortlist.weights is None else "weight"
        wanted = ("name", "class", self.measure, "error", "stability")
        known = [c for c in wanted if c in frame and not frame[c].isna().all()]
        super().__init__(shortlist, {c: frame[c].tolist() for c in known})

    def plot(self, *, ax: Any = None, most: int = 30) -> WeightsDisplay:
        """Draw a bar for each of the best entries of every class.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        most : int, default=30
            Entries to draw of a class.
        """
        frame, shortlist = self.frame, self.shortlist
        several = shortlist.n_margins > 1
        if several and "class" in frame:
            frame = frame.groupby("class", sort=False).head(most)
        else:
            frame = frame.head(most)
        n = len(frame)
        ax = new_axes(ax, "plot_weights", (7.0, 1.5 + 0.22 * n))
        values = frame[self.measure].to_numpy()
        errors = frame["error"].fillna(0.0).to_numpy() if "error" in frame else None
        ax.barh(
            np.arange(n),
            values,
            xerr=None if self.measure == "score" else errors,
            color=np.where(values >= 0.0, _UP, _DOWN),
            height=0.7,
            ecolor="#555555",
            capsize=2,
        )
        labels = [safe_label(name) for name in frame["name"]]
        if several and "class" in frame:
            owners = [safe_label(str(owner)) for owner in frame["class"]]
            labels = [f"{c}: {name}" for c, name in zip(owners, labels, strict=True)]
        ax.set_yticks(range(n), labels)
        ax.invert_yaxis()
        ax.axvline(0.0, color="black", lw=0.8)
        ax.set_xlabel(self._about())
        ax.spines[["top", "right"]].set_visible(False)
        drawn: WeightsDisplay = self._drawn_on(ax)
        return drawn

    def _about(self) -> str:
        classes = self.shortlist.classes
        if self.measure == "weight" and classes is not None and len(classes) == 2:
            low, high = (safe_label(str(label)) for label in classes)
            return f"weight; above 0: {high}, below: {low}"
        return self.measure


class PathDisplay(Display):
    """Weights of features, or the objective, at every budget; and how budgets did.

    Made by ``Shortlist.plot_path``, of methods that keep their path, and of results whose
    budget was found (``k="auto"``, ``FoBaCV``). ``frame``: k, objective, name, class (if
    there are several), weight; a row for each budget and entry. Of a result without a path
    it is ``held_out``.

    Attributes
    ----------
    held_out : DataFrame or None
        A row for each budget: k, loss or score on rows held out, error.
    """

    def __init__(self, shortlist: Shortlist) -> None:
        self._curve = held_out_curve(shortlist)
        self._has_path = len(shortlist.trace.get("path_sizes", ())) > 1
        if self._has_path:
            columns = _path_columns(shortlist)
        elif self._curve is not None:
            columns = _curve_columns(self._curve)
        else:
            raise ShortlistError(
                f"a shortlist by {shortlist.method} keeps no path over budgets; those by "
                "foba and other searches of a table do, and k='auto' keeps their scores"
            )
        super().__init__(shortlist, columns)

    @property
    def held_out(self) -> Any:
        """How each budget did on rows held out; None if nobody has looked."""
        import pandas as pd

        return (
            None if self._curve is None else pd.DataFrame(_curve_columns(self._curve))
        )

    def plot(
        self, what: str = "auto", *, ax: Any = None, most: int = 12
    ) -> PathDisplay:
        """Draw a line for each feature that has a weight at the largest budgets.

        Parameters
        ----------
        what : {"auto", "weight", "objective", "held_out"}, default="auto"
            "auto": weights, and how budgets did on rows held out, as far as known.
        ax : matplotlib Axes, default=None
        most : int, default=12
            Lines that have a name in the legend: those of the largest weights at the end.
        """
        if what not in ("auto", "weight", "objective", "held_out"):
            raise ShortlistError(
                f"what should be 'auto', 'weight', 'objective' or 'held_out', got {what!r}"
            )
        if what in ("weight", "objective") and not self._has_path:
            raise ShortlistError(
                f"a shortlist by {self.shortlist.method} keeps no path over budgets, only "
                "how they did on rows held out (what='held_out')"
            )
        if what == "held_out" and self._curve is None:
            raise ShortlistError(
                "nobody has looked how budgets do on rows held out; k='auto' does"
            )
        ax = new_axes(ax, "plot_path", (7.0, 4.5))
        if what == "objective":
            once = self.frame.drop_duplicates("k")
            ax.plot(once["k"], once["objective"], "o-", ms=3)
            ax.set_ylabel(what)
        elif what == "held_out" or not self._has_path:
            self._scores(ax)
        else:
            both = what == "auto" and self._curve is not None
            self._lines(ax, self.frame, most, aside=1.15 if both else 1.0)
            ax.set_ylabel("weight")
            if both:
                self._scores(ax.twinx(), color="black", ls="--", lw=1.0)
        ax.set_xlabel("features")
        ax.grid(alpha=0.3)
        drawn: PathDisplay = self._drawn_on(ax)
        return drawn

    def _scores(self, ax: Any, **style: Any) -> None:
        """Draw how budgets did, and the one that was chosen."""
        assert self._curve is not None
        sizes, values, errors, measure = self._curve
        style = {"ls": "-", "marker": "o", "ms": 3, "capsize": 2, **style}
        ax.errorbar(sizes, values, np.nan_to_num(errors), **style)
        ax.axvline(self.shortlist.k, color="black", lw=0.8, ls=":")
        ax.set_ylabel(f"{measure.replace('_', ' ')}, held out")

    def _lines(self, ax: Any, frame: Any, most: int, aside: float) -> None:
        sizes = np.unique(frame["k"])
        keys = ["name", "class"] if "class" in frame else ["name"]
        last = frame[frame["k"] == sizes[-1]].set_index(keys)["weight"].abs()
        named = set(last.sort_values(ascending=False).head(most).index)
        for key, part in frame.groupby(keys, sort=False):
            # a feature that leaves has no weight until it comes back
            line = part.set_index("k")["weight"].reindex(sizes)
            owner = key if len(keys) > 1 else key[0]
            label = ": ".join(map(safe_label, reversed(key)))
            shown = owner in named
            ax.plot(
                sizes,
                line.to_numpy(),
                "o-" if shown else "-",
                ms=3,
                lw=1.2 if shown else 0.8,
                color=None if shown else _GONE,
                label=label if shown else None,
            )
        ax.axhline(0.0, color="black", lw=0.8)
        ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(aside, 0.5))


def _path_columns(shortlist: Shortlist) -> dict[str, Any]:
    """The path of a search, a row for each budget and entry."""
    trace, names = shortlist.trace, _names_of(shortlist)
    repeats = np.diff(trace["path_ends"], prepend=0)
    columns = {
        "k": np.repeat(trace["path_sizes"], repeats).tolist(),
        "objective": np.repeat(trace["path_objective"], repeats).tolist(),
        "name": [names.get(i, f"#{i}") for i in trace["path_ids"].tolist()],
        "weight": trace["path_weights"].astype(np.float64).tolist(),
    }
    if shortlist.n_margins > 1:
        labels = shortlist.margin_labels
        columns["class"] = [str(labels[m]) for m in trace["path_margin"].tolist()]
    return columns


def _curve_columns(curve: HeldOutCurve) -> dict[str, Any]:
    return {
        "k": curve.sizes.tolist(),
        curve.measure: curve.values.tolist(),
        "error": curve.errors.tolist(),
    }


class MembershipDisplay(Display):
    """Which features were members from when to when, of methods of the room ``rows``.

    Made by ``plot_membership``. ``frame``: name, class, entered, left (in examples),
    chosen; a row a stay.

    Parameters
    ----------
    shortlist : Shortlist
        With stays in its trace.
    most : int, default=40
        Features to draw, those that were members longest.
    name_of : callable, default=None
        Names, by id, of features that the shortlist does not name. It names those it chose
        and those that were members longest.
    """

    def __init__(
        self,
        shortlist: Shortlist,
        most: int = 40,
        name_of: Callable[[int], str] | None = None,
    ) -> None:
        if not has_stays(shortlist):
            raise ShortlistError(
                f"a shortlist by {shortlist.method} does not say who was a member when"
            )
        self._members, _ = longest_members(shortlist, most)
        known = _names_of(shortlist)
        unnamed = name_of or (lambda number: f"#{number}")
        self._names = [known.get(m.number) or unnamed(m.number) for m in self._members]
        labels = shortlist.margin_labels
        rows = [
            (name, str(labels[m.margin]), begin, end, m.chosen)
            for name, m in zip(self._names, self._members, strict=True)
            for begin, end in m.stays.tolist()
        ]
        columns = ("name", "class", "entered", "left", "chosen")
        parts = {c: [row[i] for row in rows] for i, c in enumerate(columns)}
        if shortlist.n_margins == 1:
            del parts["class"]
        super().__init__(shortlist, parts)

    def plot(self, *, ax: Any = None) -> MembershipDisplay:
        """Draw a bar for each stay, blue if the feature is chosen in the end.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        """
        members, shortlist = self._members, self.shortlist
        ax = new_axes(ax, "plot_membership", (8.0, 1.5 + 0.2 * len(members)))
        labels = []
        for y, (name, member) in enumerate(zip(self._names, members, strict=True)):
            spans = [(begin, end - begin) for begin, end in member.stays.tolist()]
            colour = _CHOSEN if member.chosen else _GONE
            ax.broken_barh(spans, (y - 0.4, 0.8), color=colour)
            owner = f"{shortlist.margin_labels[member.margin]}: "
            labels.append((owner if shortlist.n_margins > 1 else "") + safe_label(name))
        ax.set_yticks(range(len(members)), labels)
        ax.invert_yaxis()
        ax.set_xlabel("examples")
        ax.set_title(f"members of {shortlist.method}, blue if chosen in the end")
        drawn: MembershipDisplay = self._drawn_on(ax)
        return drawn


def _names_of(shortlist: Shortlist) -> dict[int, str]:
    """Names by id, of features that left too."""
    names = shortlist.names_by_id()
    if "left_ids" in shortlist.trace:
        ids, left = shortlist.trace["left_ids"], shortlist.trace["left_names"]
        names = dict(zip(ids.tolist(), left.tolist(), strict=True)) | names
    return names
