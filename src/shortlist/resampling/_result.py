"""What resampling found: shares, bounds, a frame and a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shortlist._displays import new_axes, safe_label
from shortlist._findings import StabilityFacts, stability_line
from shortlist._protocols import Floats, Ids, Ints, ShortlistError
from shortlist._shortlist import Shortlist
from shortlist.resampling._bounds import check_threshold, unimodal, worst_case

#: Features other than the chosen ones whose shares a Shortlist keeps, the largest.
MOST_OTHERS = 200
_CHOSEN, _OTHER = "#1f77b4", "#b0b0b0"


class Tally:
    """Counts what halves choose, pair by pair.

    Parameters
    ----------
    group_of : callable, default=None
        Groups of features by their ids, where whole ones are chosen; None: features are.
    """

    def __init__(self, group_of: Callable[[Ids], Ints] | None = None) -> None:
        self.counts: Counter[int] = Counter()
        self.unit = "feature" if group_of is None else "group"
        self.n_pairs = self._n_chosen = 0
        self._group_of = group_of

    def add(self, one: Ids, other: Ids) -> None:
        """Count what both halves of a pair have chosen, each feature once a half."""
        for support in (one, other):
            self.counts.update(np.unique(support).tolist())
            self._n_chosen += self.n_units(support)
        self.n_pairs += 1

    def n_units(self, ids: Ids) -> int:
        """How many features these are, or how many groups they are of."""
        return len(np.unique(ids if self._group_of is None else self._group_of(ids)))

    @property
    def mean_chosen(self) -> float:
        """Features, or groups of them, that a half chose on average."""
        return self._n_chosen / (2 * self.n_pairs)

    def ids(self, chosen: Ids) -> Ids:
        """Features that a half chose or that are chosen, the most frequent first."""
        every = {*self.counts, *chosen.tolist()}
        order = sorted(every, key=lambda feature: (-self.counts[feature], feature))
        return np.array(order, np.uint64)


class Stability:
    """How often halves of the examples choose each feature.

    Made by ``shortlist.stability``.

    Attributes
    ----------
    ids : ndarray of uint64
        Features that a half chose, and the chosen ones, the largest share first.
    names : tuple of str
    shares : ndarray of float64
        Share of the halves that chose each.
    n_pairs : int
        Complementary pairs of halves that were fitted.
    asked : int
        Pairs that were asked for: more, if Ctrl-C came.
    mean_chosen : float
        Features that a half chose on average, q; groups, if whole ones are chosen.
    n_features : int or None
        Features to choose from, p, or groups; None if nobody knows, and there are no
        bounds then.
    unit : str
        What q and p count: "feature" or "group".
    threshold : float
        Share from which on a feature is called stable.
    shortlist : Shortlist or None
        What all examples together choose, with the shares in its table, its files and its
        report; None for a selector that makes no Shortlist.
    """

    def __init__(
        self,
        tally: Tally,
        shortlist: Shortlist | None,
        name: Callable[[Ids], Sequence[str]],
        *,
        asked: int,
        n_features: int | None,
        threshold: float,
        chosen: Ids | None = None,
    ) -> None:
        if not tally.n_pairs:
            raise ShortlistError("no pair of halves has been fitted")
        if chosen is None:
            chosen = np.empty(0, np.uint64) if shortlist is None else shortlist.support
        self.n_pairs, self.asked = tally.n_pairs, asked
        self.ids = tally.ids(chosen)
        counts = np.array([tally.counts[i] for i in self.ids.tolist()], np.float64)
        self.shares: Floats = counts / (2 * self.n_pairs)
        self.names = tuple(name(self.ids))
        self.mean_chosen, self.unit = tally.mean_chosen, tally.unit
        self._n_units = tally.n_units
        self.n_features, self.threshold = n_features, float(threshold)
        self._chosen = set(chosen.tolist())
        self.shortlist = None if shortlist is None else self._attached_to(shortlist)

    def stable(self, threshold: float | None = None) -> tuple[str, ...]:
        """Names of the features whose share reaches a threshold, the largest first."""
        least = self._threshold(threshold) - 1e-9
        return tuple(np.array(self.names, object)[self.shares >= least].tolist())

    def expected_false(
        self, threshold: float | None = None, *, assume: str = "unimodal"
    ) -> float | None:
        """Bound on how many features are stable by chance, as expected.

        Of the features that a half chooses with probability q / p at most, as blind
        choice would; see docs/stability.md. Never more than there are stable ones, if any.
        Where whole groups are chosen, it is on groups.

        Parameters
        ----------
        threshold : float, default=None
            Above 0.5; None: that of the result.
        assume : {"unimodal", "nothing"}, default="unimodal"
            "nothing": the bound that always holds, about twice as large.

        Returns
        -------
        bound : float or None
            None if the number of features is not known.
        """
        bounds = {"unimodal": unimodal, "nothing": worst_case}
        if assume not in bounds:
            raise ShortlistError(
                f"assume should be 'unimodal' or 'nothing', got {assume!r}"
            )
        least = self._threshold(threshold)
        if not self.n_features:
            return None
        bound = bounds[assume](self.mean_chosen, self.n_features, least, self.n_pairs)
        return min(bound, float(self._n_stable(least) or self.n_features))

    def _n_stable(self, threshold: float) -> int:
        """How many features, or groups of them, reach a threshold."""
        return self._n_units(self.ids[self.shares >= threshold - 1e-9])

    def _threshold(self, threshold: float | None) -> float:
        threshold = self.threshold if threshold is None else threshold
        check_threshold(threshold)
        return threshold

    @property
    def facts(self) -> StabilityFacts:
        """The numbers that a Shortlist keeps."""
        return StabilityFacts(
            pairs=self.n_pairs,
            asked=self.asked,
            mean_chosen=self.mean_chosen,
            features=self.n_features,
            threshold=self.threshold,
            stable=self._n_stable(self.threshold),
            worst_case=self.expected_false(assume="nothing"),
            unimodal=self.expected_false(),
            unit=self.unit,
        )

    def _attached_to(self, shortlist: Shortlist) -> Shortlist:
        """The same result with shares of its features, and of the best others."""
        chosen = np.isin(self.ids, shortlist.support)
        kept = chosen | (np.cumsum(~chosen) <= MOST_OTHERS)
        trace = {
            "stability_ids": self.ids[kept],
            "stability_names": np.array(self.names, np.str_)[kept],
            "stability": self.shares[kept],
        }
        notes = shortlist.notes
        if self.n_pairs < self.asked:
            said = (
                f"partial: {self.n_pairs} of {self.asked} pairs of halves were fitted"
            )
            notes = (*notes, said)
        return replace(
            shortlist,
            trace={**shortlist.trace, **trace},
            params={**shortlist.params, "stability": self.facts._asdict()},
            notes=notes,
        )

    @property
    def frame(self) -> Any:
        """A DataFrame with a row a feature: name, id, share, chosen."""
        import pandas as pd

        ids = self.ids.tolist()
        return pd.DataFrame(
            {
                "name": self.names,
                "id": self.ids,
                "share": self.shares,
                "chosen": [i in self._chosen for i in ids],
            }
        )

    def plot(self, *, ax: Any = None, most: int = 30) -> Stability:
        """Draw the largest shares, in blue those of features that are chosen.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        most : int, default=30
            Features to draw.
        """
        n = min(most, len(self.ids))
        ax = new_axes(ax, "Stability.plot", (7.0, 1.5 + 0.22 * n))
        colours = [
            _CHOSEN if i in self._chosen else _OTHER for i in self.ids[:n].tolist()
        ]
        ax.barh(np.arange(n), self.shares[:n], color=colours, height=0.7)
        ax.set_yticks(range(n), map(safe_label, self.names[:n]))
        ax.invert_yaxis()
        ax.axvline(self.threshold, color="black", lw=1, ls="--")
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel(f"share of {2 * self.n_pairs} halves; chosen by all rows: blue")
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def __repr__(self) -> str:
        return f"<{stability_line(self.facts)}>"

    def _repr_html_(self) -> str | None:
        return None if self.shortlist is None else self.shortlist._repr_html_()
