"""Weights of chosen coordinates, learned again from rows restricted to them.

A coordinate is a (feature, margin) pair. While the restricted rows stay small they are
kept, and the fit is exact: the minimum of

    sum_i s_i loss(y_i, z_i) + (ridge / 2) ||w||^2

by Newton's method, independent of the order of the rows (a sum over classes one class
after the other). Beyond ``exact_nnz`` nonzeros
or ``EXACT_ROWS`` rows they stream instead, each taking a diagonal Newton step
w_j += e x_j / (n_j + ridge), where n_j is the information h x_j^2 collected so far. All
these steps together may move the margin further than is right for this example alone;
then e is shortened (see ``shortlist._steps.shorten``). If columns lie far from zero, the
fit is exact as far as it can be, and the steps that follow centre such columns (see
``shortlist._centring``).

The ridge is a share of the mean squared distance of the restricted rows from their mean,
the streaming one a share of the mean squared norm of its first rows: it stands for a
fraction of one example, whatever the units. Features may
have units of their own, so that none is held back because its values are small numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._centring import (
    Centres,
    centres_of,
    completed,
    move_means,
    ridge_shares,
    spreads,
)
from shortlist._protocols import Fit, Floats, Ids, Ints, RowBlock
from shortlist._steps import (
    N_TOTALS,
    NORM,
    NORM_FROZEN_AFTER,
    NORM_ROWS,
    NORM_WEIGHT,
    ask,
    bias_step,
    count_norm,
    curvatures_on_the_way,
    is_cautious,
    judge,
    mean_norm,
    shorten,
)
from shortlist._targets import Target
from shortlist.kernels._jit import kernel, uncounted
from shortlist.kernels.masking import (
    Mask,
    MaskedRows,
    join,
    mask_of,
    part_at,
    renumber,
    restrict,
)
from shortlist.losses import n_margins, value_of

_inlined = kernel(_nrt=False, forceinline=True)

#: Nonzeros up to which a refit is exact: below it costs less than reading the data.
EXACT_NNZ = 1 << 19
#: Rows likewise: each costs a dozen numbers while the minimum is sought.
EXACT_ROWS = 1 << 16


class Coordinates(NamedTuple):
    """Weights by feature and margin, sorted by feature, then by margin."""

    ids: Ids  #: distinct features, increasing
    first: Ints  #: coordinates of feature u are first[u] ... first[u + 1] - 1
    margin: Ints
    weight: Floats
    information: Floats  #: diagonal of the Hessian of the summed loss
    evidence: Floats  #: the same, on average between no weights and these
    bias: Floats  #: one a margin
    bias_scale: Floats
    scale: Floats  #: unit of each distinct feature, which weights are of values in

    def id_of(self) -> Ids:
        """Feature of each coordinate."""
        return np.repeat(self.ids, np.diff(self.first))

    def scale_of(self) -> Floats:
        """Unit of the feature of each coordinate."""
        return np.repeat(self.scale, np.diff(self.first))

    def in_units(self, rows: MaskedRows) -> MaskedRows:
        """Rows over the distinct features, with values in the units of those."""
        if (self.scale == 1.0).all():
            return rows
        return rows._replace(values=rows.values / self.scale[rows.columns])


def coordinates(
    ids: Ids, margin: Ints, weight: Floats, bias: Floats, scale: Floats | None = None
) -> Coordinates:
    """Sort (id, margin, weight) triples into coordinates; ``scale`` as long as they."""
    order = np.lexsort((margin, ids))
    distinct, first, counts = np.unique(
        ids[order], return_index=True, return_counts=True
    )
    return Coordinates(
        distinct,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.ascontiguousarray(margin[order], np.int64),
        np.ascontiguousarray(weight[order], np.float64),
        np.zeros(len(order)),
        np.zeros(len(order)),
        np.array(bias, np.float64),
        np.zeros(len(bias)),
        np.ones(len(distinct)) if scale is None else scale[order][first],
    )


def keep(chosen: Coordinates, which: np.ndarray) -> Coordinates:
    """Coordinates at the true places of ``which`` only."""
    smaller = coordinates(
        chosen.id_of()[which],
        chosen.margin[which],
        chosen.weight[which],
        chosen.bias,
        chosen.scale_of()[which],
    )
    return smaller._replace(
        information=chosen.information[which], evidence=chosen.evidence[which]
    )


def places_among(ids: Ids, fewer: Ids) -> NDArray[np.int32]:
    """Place of each of some increasing ids among fewer of them; -1 if it is not there."""
    places = np.full(len(ids), -1, np.int32)
    places[np.searchsorted(ids, fewer)] = np.arange(len(fewer))
    return places


@_inlined
def _coordinates_of(loss, first, u):  # type: ignore[no-untyped-def]
    """Coordinates of a feature: of one margin the feature itself, so nothing is read."""
    if n_margins(loss, 2) == 1:
        return range(u, u + 1)
    return range(first[u], first[u + 1])


@_inlined
def _margin_of(loss, margin, j):  # type: ignore[no-untyped-def]
    return 0 if n_margins(loss, 2) == 1 else margin[j]


@_inlined
def _margins(loss, chosen, rows, i, z):  # type: ignore[no-untyped-def]
    for c in range(z.shape[0]):
        z[c] = chosen.bias[c]
    for t in range(rows.indptr[i], rows.indptr[i + 1]):
        for j in _coordinates_of(loss, chosen.first, np.int64(rows.columns[t])):
            c = _margin_of(loss, chosen.margin, j)
            z[c] += chosen.weight[j] * rows.values[t]


@_inlined
def _centre(loss, chosen, centres, rows, i, moves):  # type: ignore[no-untyped-def]
    """Centre the first values of row i; biases take up how far the means have moved."""
    values = rows.values[rows.indptr[i] : rows.indptr[i + 1]]
    move_means(centres, values, rows.weight[i], moves)
    for place in range(centres.columns.shape[0]):
        u = np.int64(centres.columns[place])
        for j in _coordinates_of(loss, chosen.first, u):
            c = _margin_of(loss, chosen.margin, j)
            chosen.bias[c] += chosen.weight[j] * moves[place]


@_inlined
def _ridge_of(share, ridge, u):  # type: ignore[no-untyped-def]
    return ridge if share is None else ridge * share[u]


@kernel
def _learn(loss, constants, chosen, rows, totals, centres, shares):  # type: ignore[no-untyped-def]
    """One diagonal Newton step a row, in order.

    ``centres`` and ``shares`` in the ridge may be None. With centres, rows should be
    ``completed``; their values change.
    """
    margins = n_margins(loss, chosen.bias.shape[0])
    moves = np.empty(0 if centres is None else centres.columns.shape[0])
    room = np.empty((5, margins)), np.empty((3, margins)), moves
    _learn_in(loss, constants, chosen, rows, totals, centres, shares, room)


@uncounted
def _learn_in(loss, constants, chosen, rows, totals, centres, shares, room):  # type: ignore[no-untyped-def]
    """``_learn`` in room for what is about the margins."""
    each, ways, moves = room
    share, bias_rate, cautious = constants
    margins = n_margins(loss, chosen.bias.shape[0])
    z, pulls, curvatures, give, means = each[0], each[1], each[2], each[3], each[4]
    first, margin = chosen.first, chosen.margin
    weight, information = chosen.weight, chosen.information
    evidence = chosen.evidence
    for i in range(rows.y.shape[0]):
        importance = rows.weight[i]
        if importance == 0.0:
            continue
        if centres is not None:
            _centre(loss, chosen, centres, rows, i, moves)
        norm = 0.0
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            norm += rows.values[t] * rows.values[t]
        count_norm(totals, norm, importance)
        ridge = share * mean_norm(totals)
        _margins(loss, chosen, rows, i, z)
        judge(loss, rows.y[i], z, importance, totals, pulls, curvatures)
        example, bias, scale = (rows.y[i], importance), chosen.bias, chosen.bias_scale
        bias_step(loss, example, bias_rate, bias, scale, z, pulls, curvatures)
        for c in range(margins):
            means[c] = curvatures[c]
        curvatures_on_the_way(loss, rows.y[i], z, bias, importance, ways, means)
        for c in range(margins):
            give[c] = 0.0
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            x, u = rows.values[t], np.int64(rows.columns[t])
            held = _ridge_of(shares, ridge, u)
            for j in _coordinates_of(loss, first, u):
                give[_margin_of(loss, margin, j)] += x * x / (information[j] + held)
        shorten(loss, example, cautious, give, z, pulls, curvatures)
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            x, u = rows.values[t], np.int64(rows.columns[t])
            for j in _coordinates_of(loss, first, u):
                c = _margin_of(loss, margin, j)
                information[j] += curvatures[c] * x * x
                evidence[j] += means[c] * x * x
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            x, u = rows.values[t], np.int64(rows.columns[t])
            held = _ridge_of(shares, ridge, u)
            for j in _coordinates_of(loss, first, u):
                pull = pulls[_margin_of(loss, margin, j)]
                weight[j] += pull * x / (information[j] + held)


@kernel
def _inform(loss, chosen, rows):  # type: ignore[no-untyped-def]
    """Collect information and evidence of all rows at the weights as they are.

    What a column has in common with the bias tells nothing of its weight: the information
    is sum h (x - mean)^2, with means weighted by h. The scale of the bias is sum h.
    """
    margins, n = n_margins(loss, chosen.bias.shape[0]), chosen.weight.shape[0]
    z, pulls, room = np.empty(margins), np.empty(margins), np.empty((3, margins))
    kinds = (chosen.information, chosen.evidence)
    h, of_bias = np.empty((2, margins)), np.zeros((2, margins))
    shared = np.zeros((2, n))
    for i in range(rows.y.shape[0]):
        y, importance = rows.y[i], rows.weight[i]
        if importance == 0.0:
            continue
        _margins(loss, chosen, rows, i, z)
        ask(loss, y, z, importance, pulls, h[0])
        h[1] = h[0]
        curvatures_on_the_way(loss, y, z, chosen.bias, importance, room, h[1])
        of_bias += h
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            x, u = rows.values[t], rows.columns[t]
            for j in range(chosen.first[u], chosen.first[u + 1]):
                for kind in range(2):
                    here = h[kind, chosen.margin[j]] * x
                    kinds[kind][j] += here * x
                    shared[kind, j] += here
    for c in range(margins):
        chosen.bias_scale[c] = of_bias[0, c]
    for kind in range(2):
        for j in range(n):
            total = of_bias[kind, chosen.margin[j]]
            if total > 0.0:
                common = shared[kind, j] * shared[kind, j] / total
                kinds[kind][j] = max(0.0, kinds[kind][j] - common)


@kernel
def _count(loss, chosen, rows, totals):  # type: ignore[no-untyped-def]
    """Take rows into the totals that were not judged one by one."""
    margins = n_margins(loss, chosen.bias.shape[0])
    z, pulls, curvatures = np.empty(margins), np.empty(margins), np.empty(margins)
    for i in range(rows.y.shape[0]):
        if rows.weight[i] > 0.0:
            _margins(loss, chosen, rows, i, z)
            judge(loss, rows.y[i], z, rows.weight[i], totals, pulls, curvatures)


@kernel
def losses_into(loss, chosen, rows, out):  # type: ignore[no-untyped-def]
    """Write the loss of each row, times its weight."""
    z = np.empty(n_margins(loss, chosen.bias.shape[0]))
    for i in range(rows.y.shape[0]):
        _margins(loss, chosen, rows, i, z)
        out[i] = rows.weight[i] * value_of(loss, rows.y[i], z)


@kernel
def predict_into(loss, chosen, rows, out):  # type: ignore[no-untyped-def]
    """Write the margins of each row."""
    for i in range(rows.y.shape[0]):
        _margins(loss, chosen, rows, i, out[i])


@dataclass
class Refit:
    """A refit in progress: ``step`` through restricted blocks, then ``finish``."""

    target: Target
    chosen: Coordinates
    ridge_share: float
    bias_rate: float
    exact_nnz: int = field(default_factory=lambda: EXACT_NNZ)
    exact: bool = True  #: all rows so far are kept
    totals: Floats = field(default_factory=lambda: np.zeros(N_TOTALS))
    kept: list[MaskedRows] = field(default_factory=list)
    apart: list[MaskedRows] = field(default_factory=list)  #: see ``_calibrating``
    doubt: float = 0.0  #: score below which weights are not trusted in full
    share: Floats | None = None  #: part of the ridge that a feature gets; None: all
    centres: Centres | None = None  #: biases belong to values about these means
    n_rows: int = 0
    nonzeros: Ints | None = None  #: of each feature, as long as rows are few
    mask: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.mask = mask_of(self.chosen.ids)
        if self.nonzeros is None:
            self.nonzeros = np.zeros(len(self.chosen.ids), np.int64)

    @property
    def ridge(self) -> float:
        """The ridge, as far as the rows so far tell."""
        return self.ridge_share * float(mean_norm(self.totals))

    def ridges(self) -> Floats:
        """The ridge of each coordinate."""
        share = np.ones(len(self.chosen.ids)) if self.share is None else self.share
        ridges: Floats = self.ridge * np.repeat(share, np.diff(self.chosen.first))
        return ridges

    def restricted(self, block: RowBlock) -> MaskedRows:
        """Leave of a block what is about the coordinates."""
        return self.chosen.in_units(restrict(self.mask, block))

    def step(self, rows: MaskedRows) -> None:
        """Take in restricted rows whose labels are encoded."""
        self._note_nonzeros(rows)
        self.kept.append(rows)
        nonzeros = sum(len(rows.values) for rows in self.kept)
        n_rows = sum(len(rows.y) for rows in self.kept)
        few = nonzeros <= self.exact_nnz and n_rows <= EXACT_ROWS
        if self.exact and not few:
            self.exact = False
            self._look_for_centres()
        if not self.exact:
            for part in self.kept:
                self.learn(part)
            self.kept.clear()

    def _note_nonzeros(self, rows: MaskedRows) -> None:
        assert self.nonzeros is not None
        self.n_rows += len(rows.y)
        if self.n_rows <= EXACT_ROWS:
            self.nonzeros += np.bincount(rows.columns, minlength=len(self.nonzeros))

    def could_keep(self, ids: Ids) -> bool:
        """Whether the rows so far are few enough to be kept for these features alone."""
        assert self.nonzeros is not None
        places = np.searchsorted(self.chosen.ids, ids)
        return bool(
            self.n_rows <= EXACT_ROWS and self.nonzeros[places].sum() <= self.exact_nnz
        )

    def _look_for_centres(self) -> None:
        """If columns of the rows so far lie far from zero, fit to these and centre.

        The rows are as many as an exact refit may have, wherever blocks end.
        """
        rows = join(self.kept)
        n = min(
            int(np.searchsorted(rows.indptr[1:], self.exact_nnz, "right")), EXACT_ROWS
        )
        head, rest = part_at(rows, n)
        self.centres = centres_of(head, len(self.chosen.ids))
        if self.centres is None:
            return
        self.kept = [rest]
        self._fit(head)
        _count(self.target.loss, self.chosen, head, self.totals)
        self.totals[NORM_ROWS] = NORM_FROZEN_AFTER
        self.chosen.bias[:] += self._at_means(self.chosen.weight)

    def learn(self, rows: MaskedRows) -> None:
        """Take a step for each row, now."""
        loss, centres = self.target.loss, self.centres
        rate, shares = self.bias_rate, None
        if centres is not None:
            # Of a growing column AdaGrad's bias would take up whatever the weight is
            # wrong by, again and again.
            rate, shares, rows = 0.0, self.share, completed(centres, rows)
        constants = (self.ridge_share, rate, is_cautious(loss))
        _learn(loss, constants, self.chosen, rows, self.totals, centres, shares)

    def weighing(self, weight: Floats) -> Coordinates:
        """The coordinates with these weights, and biases for values as they come."""
        chosen = self.chosen._replace(weight=weight)
        if self.centres is None:
            return chosen
        return chosen._replace(bias=chosen.bias - self._at_means(weight))

    def _at_means(self, weight: Floats) -> Floats:
        """What centred columns at their means give to each margin."""
        assert self.centres is not None
        place = np.repeat(self.centres.place, np.diff(self.chosen.first))
        given = np.where(place >= 0, weight * self.centres.mean[place], 0.0)
        at_means: Floats = np.zeros(len(self.chosen.bias))
        np.add.at(at_means, self.chosen.margin, given)
        return at_means

    def finish(self) -> None:
        """Bring the weights to the minimum, if the rows were kept."""
        if self.exact and self.kept:
            rows = join(self.kept)
            self.kept = [rows]
            self._fit(rows)

    def _fit(self, rows: MaskedRows) -> None:
        """Bring the weights to the minimum over some rows."""
        squares, about_means = spreads(rows, len(self.chosen.ids))
        self.totals[NORM_WEIGHT] = rows.weight.sum()
        self.totals[NORM] = about_means.sum()
        self.share = ridge_shares(squares, about_means)
        self.chosen = solve(self.target, self.chosen, rows, self.ridge * self.share)

    def narrowed(self, chosen: Coordinates) -> Refit:
        """Refit of fewer coordinates on the rows kept here; call only if ``exact``."""
        smaller = Refit(
            self.target,
            chosen,
            ridge_share=self.ridge_share,
            bias_rate=self.bias_rate,
            exact_nnz=self.exact_nnz,
        )
        places = places_among(self.chosen.ids, chosen.ids)
        smaller.kept += [renumber(places, rows) for rows in self.kept]
        return smaller


def solve(
    target: Target, chosen: Coordinates, rows: MaskedRows, ridge: Floats
) -> Coordinates:
    """Exact minimum over the coordinates, with their information and evidence there.

    ``ridge`` is that of each feature.
    """
    from scipy.sparse import csr_array

    from shortlist.objectives import LinearObjective

    total = float(rows.weight.sum())
    if total == 0.0:
        return chosen
    shape = (len(rows.y), len(chosen.ids))
    X = csr_array((rows.values, rows.columns, rows.indptr), shape=shape)
    n = target.n_margins
    objective = LinearObjective(
        target.loss,
        X,
        rows.y,
        l2=ridge / total,
        sample_weight=rows.weight,
        n_outputs=n,
    )
    feature = np.repeat(np.arange(len(chosen.ids)), np.diff(chosen.first))
    support = (feature * n + chosen.margin).astype(np.int64)
    fit = objective.refit(support, Fit(support, chosen.weight, chosen.bias, np.inf))
    weight, bias = fit.weights, fit.nuisance.copy()
    nothing = np.zeros((2, len(weight)))
    solved = chosen._replace(
        weight=weight,
        information=nothing[0],
        evidence=nothing[1],
        bias=bias,
        bias_scale=np.zeros(n),
    )
    _inform(target.loss, solved, rows)
    return solved


def margins_of(loss: object, chosen: Coordinates, block: RowBlock) -> Floats:
    """Margins of the rows of a block, shape (n_rows, n_margins)."""
    out = np.empty((block.n_rows, len(chosen.bias)))
    rows = chosen.in_units(restrict(mask_of(chosen.ids), block))
    predict_into(loss, chosen, rows, out)
    return out
