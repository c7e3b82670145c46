"""GSR: rows of a weight matrix, few of which survive, by reweighted least squares.

Minimises, over W with a row for each feature and a column for each output,

    J(W, b) = sum_i s_i ||a_i W + b - y_i||^r + lam sum_u ||W_u||^p,

for 0 < r <= 2 and 0 < p <= 1, where u runs over features, or groups of them, and each
norm is read as sqrt(||.||^2 + sigma). Both powers are concave in the squared norm, so
each has a tangent that is a weighted square: minimising their sum never raises J.

The weighted problems are ridge regressions of columns scaled by D = S2^(-1/2),

    (D A' S1 A D + lam I) V = D A' S1 Y,  W = D V,

or, with fewer rows than columns, their dual. Units whose norm has collapsed are dropped
for good, if J is not larger without them; the later one goes, the better it ranks.

A step that raises J, which rounding alone can make it do, is not taken. In single precision
the whole run is made again in double precision then, unless J has ceased to fall anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shortlist._protocols import DataError, Floats, Ints
from shortlist.table._gsr_problem import (
    KEPT_RIDGE,
    SURVIVES,
    GsrProblem,
    GsrSettings,
    times_rows,
)

#: A unit survives if its norm is larger than so many times what smoothing takes for 0.
_ABOVE_ZERO = 2.0
#: A Gram matrix is worth its cost if used this many times.
_USES = 8
#: J may rise by this share, or the tolerance, by rounding where it has ceased to fall.
_ROUNDING = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-6}
#: Residuals that a dual solve gives for free are taken if rounding leaves them as exact.
_EXACT = 1e-10


class Standing(NamedTuple):
    """The units that were still in, and their norms, after a step."""

    units: Ints
    norms: Floats


@dataclass
class Reweighted:
    """Where the minimisation ended, and how it went there."""

    columns: Ints  #: that are still in
    W: Floats  #: shape (n_columns, n_outputs)
    b: Floats
    values: list[float]  #: J after each step
    history: list[Standing]  #: after each step
    left: list[Standing]  #: units dropped, in the order of going, with their last norms
    converged: bool
    smoothing: float

    def order(self, n_units: int) -> Ints:
        """All units, best first: survivors by norm, then the last to go."""
        key = np.full((2, n_units), -1.0)
        for when, gone in enumerate(self.left):
            key[0, gone.units], key[1, gone.units] = when, gone.norms
        key[0, self.history[-1].units] = np.inf
        key[1, self.history[-1].units] = self.history[-1].norms
        return np.lexsort((np.arange(n_units), -key[1], -key[0]))

    def scores(self, n_units: int) -> Floats:
        """Norms of the survivors; below these, those that went, in their order."""
        scores = np.zeros(n_units)
        last = self.history[-1]
        scores[last.units] = last.norms
        order = self.order(n_units)
        gone = order[np.isin(order, last.units, invert=True)]
        above = scores[last.units].min(initial=np.inf)
        above = above if 0.0 < above < np.inf else 1.0
        scores[gone] = above * np.arange(len(gone), 0, -1) / (len(gone) + 1)
        return scores

    def n_survivors(self, kept: np.ndarray) -> int:
        """How many units that were free to go are still of some size, among these."""
        units, norms = self.history[-1]
        norms = norms[~kept[units]]
        least = max(SURVIVES * norms.max(initial=0.0), _ABOVE_ZERO * self.smoothing)
        return int(np.count_nonzero(norms > least))


@dataclass
class _Point:
    """A point: its residuals, norms and value."""

    W: Floats
    b: Floats
    E: Floats
    residual: Floats  #: smoothed squared norms of the rows of E
    norms: Floats  #: squared, of units
    value: float


def reweight(
    problem: GsrProblem, settings: GsrSettings, lam: float, *, fewest: int = 0
) -> Reweighted:
    """Minimise J for a lam above 0.

    With ``fewest`` give up, not converged, once fewer free units than that are left.
    """
    try:
        return _descend(problem, settings, lam, fewest)
    except _TooFewDigits:
        return _descend(problem.in_double, settings, lam, fewest)


class _TooFewDigits(ArithmeticError):
    """Single precision does not do."""


def _descend(
    problem: GsrProblem, settings: GsrSettings, lam: float, fewest: int
) -> Reweighted:
    active = _Active(problem, settings, lam)
    S, spread = problem.weight, problem.evenly
    values: list[float] = []
    history: list[Standing] = []
    left: list[Standing] = []
    converged = False
    last = np.inf
    for _ in range(settings.max_iter):
        new = active.at(*active.solve(S, spread))
        if new.value > last:
            converged = active.is_rounding(new.value - last, last)
            break
        point = new
        values.append(point.value)
        history.append(Standing(active.units, np.sqrt(point.norms)))
        if len(values) > 1 and values[-2] - point.value <= settings.tol * point.value:
            converged = True
            break
        gone, point = active.drop(point)
        if len(gone.units):
            left.append(gone)
        if fewest > 0 and active.n_free < fewest:
            break
        last = point.value
        S = active.row_weights(point)
        spread = active.column_spreads(point)
    if len(active.units) < len(history[-1].units):  # the last step dropped some
        history[-1] = Standing(active.units, np.sqrt(point.norms))
    return Reweighted(
        active.columns,
        point.W,
        point.b,
        values,
        history,
        left,
        converged,
        settings.smoothing,
    )


class _Active:
    """The columns that are still in, and what is computed of them."""

    def __init__(self, problem: GsrProblem, settings: GsrSettings, lam: float) -> None:
        self.problem, self.settings, self.lam = problem, settings, lam
        self.part, self.columns = problem.table, np.arange(len(problem.unit_of))
        self.units, self.place = np.arange(problem.n_units), problem.unit_of
        self.sigma = settings.sigma_of_rows

    @property
    def n_free(self) -> int:
        """Units that are still in and need not be."""
        return int(np.count_nonzero(~self.problem.kept[self.units]))

    def solve(self, S: Floats, spread: Floats) -> tuple[Floats, Floats, Floats | None]:
        """Minimise sum_i S_i ||e_i||^2 + lam sum_j ||w_j||^2 / spread_j.

        Returns W, b and, if they come with these, the residuals.
        """
        part, Y = self.part, self.problem.Y
        plain = S is self.problem.weight  # Y and the columns are centred for these
        center, level, E = None, np.zeros(Y.shape[1], Y.dtype), None
        if self.settings.moving and not plain:
            share = (S / S.sum()).astype(part.dtype)
            center = part.transposed_times(share[:, np.newaxis])[:, 0]
            level = share @ Y
            Y = Y - level
        if self._primal_is_cheaper(plain):
            if plain:
                n_columns = len(self.problem.unit_of)
                moments = self.problem.moments
                G, cross = moments.of(part, self.columns, n_columns, S, Y)
            else:
                G = part.gram(S, center)
                cross = part.transposed_times(times_rows(S, Y))
            D = np.sqrt(spread).astype(part.dtype)
            W = times_rows(D, _ridge_solve(G, D, self.lam, times_rows(D, cross))[0])
        else:
            root = np.sqrt(S).astype(part.dtype)
            if plain and spread is self.problem.evenly:
                K = self.problem.moments.kernel(part, spread)
            else:
                K = part.kernel(spread, center)
            V, error = _ridge_solve(K, root, self.lam, times_rows(root, Y))
            if error <= _EXACT:  # root K root V + lam V = root Y, and A W = K root V
                E = times_rows(-self.lam / root, V)
            U = times_rows(root, V)
            W = part.transposed_times(U)
            if center is not None:
                W -= np.outer(center, U.sum(axis=0))
            W = times_rows(spread, W)
        return W, level if center is None else level - center @ W, E

    def _primal_is_cheaper(self, plain: bool) -> bool:
        n, m = map(float, self.part.shape)
        gram = n * m**2
        if plain and self.problem.moments.covers(self.columns):
            gram = 0.0
        elif plain and self.settings.r == 2.0:
            gram /= _USES
        return gram + m**3 / 3 <= n**2 * m + n**3 / 3

    def at(self, W: Floats, b: Floats, E: Floats | None) -> _Point:
        """Evaluate a point, whose residuals may be known."""
        if E is None:
            E = self.part.times(W) + b - self.problem.Y
        squares = _square_norms(W)
        norms = np.bincount(self.place, squares, len(self.units)).astype(np.float64)
        return self._point(W, b, E, norms)

    def _point(self, W: Floats, b: Floats, E: Floats, norms: Floats) -> _Point:
        settings, kept = self.settings, self.problem.kept[self.units]
        residual = _square_norms(E) + settings.sigma_of_residuals
        # what smoothing makes of 0 is taken off: units of size 0 may go without a trace
        powers = (norms + self.sigma) ** (settings.p / 2) - self.sigma ** (
            settings.p / 2
        )
        penalty = np.where(kept, KEPT_RIDGE * norms, powers).sum()
        loss = self.problem.weight @ residual ** (settings.r / 2)
        value = float(loss + self.lam * penalty)
        return _Point(W, b, E, residual, norms, value)

    def is_rounding(self, rise: float, value: float) -> bool:
        """Whether J, which has risen, has ceased to fall."""
        share = max(self.settings.tol, _ROUNDING[self.part.dtype])
        if rise > share * value and self.part.dtype == np.float32:
            raise _TooFewDigits
        return rise <= share * value

    def drop(self, point: _Point) -> tuple[Standing, _Point]:
        """Leave out units that have collapsed, if that does not raise J."""
        nobody = Standing(self.units[:0], point.norms[:0])
        free = ~self.problem.kept[self.units]
        limit = self.settings.drop**2 * point.norms[free].max(initial=0.0)
        out = (point.norms < limit) & free
        if not out.any():
            return nobody, point
        lost = out[self.place]
        rows, stay = np.flatnonzero(lost), np.flatnonzero(~lost)
        E = point.E - self.part.take(rows).times(point.W[rows])
        gone = Standing(self.units[out], np.sqrt(point.norms[out]))
        before = (self.part, self.columns, self.units, self.place)
        self.part, self.columns = self.part.take(stay), self.columns[stay]
        self.units = self.units[~out]
        self.place = (np.cumsum(~out) - 1)[self.place[stay]]
        without = self._point(point.W[stay], point.b, E, point.norms[~out])
        if without.value > point.value:
            self.part, self.columns, self.units, self.place = before
            return nobody, point
        return gone, without

    def row_weights(self, point: _Point) -> Floats:
        """S1, times the rows' own weights."""
        r = self.settings.r
        if r == 2.0:
            return self.problem.weight
        weights: Floats = self.problem.weight * (r / 2) * point.residual ** (r / 2 - 1)
        return weights

    def column_spreads(self, point: _Point) -> Floats:
        """Inverse of S2, for each column."""
        p, kept = self.settings.p, self.problem.kept[self.units]
        spreads = (2 / p) * (point.norms + self.sigma) ** (1 - p / 2)
        spreads[kept] = 1.0 / KEPT_RIDGE
        return spreads[self.place]


def _ridge_solve(G: Floats, d: Floats, lam: float, rhs: Floats) -> tuple[Floats, float]:
    """Solve (diag(d) G diag(d) + lam I) V = rhs for a positive semidefinite G.

    Returns V and a bound, up to a small factor, of the relative error of lam V as what the
    product with G leaves of rhs; infinite if the system was changed to be solved, which it
    is not in single precision.
    """
    # here: it takes longer to import than many a run that lists all methods
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    for extra in _extras(G.dtype, len(d)):
        M = G * d
        M *= d[:, np.newaxis]
        diagonal = np.einsum("ii->i", M)  # a view
        largest = float(diagonal.max(initial=0.0))
        if not np.isfinite(largest):
            if G.dtype == np.float32:
                raise _TooFewDigits
            break
        # in proportion to columns, but they may have lost all digits
        diagonal += extra * (np.abs(diagonal) + extra * largest)
        diagonal += lam
        try:
            factor = cho_factor(M.T, overwrite_a=True, check_finite=False)
        except LinAlgError:  # lam is lost in the rounding of G
            if G.dtype == np.float32:
                raise _TooFewDigits from None
            continue
        solution: Floats = cho_solve(factor, rhs, check_finite=False)
        error = np.inf if extra else float(np.finfo(G.dtype).eps) * largest / lam
        return solution, error
    raise DataError(
        "X should hold columns of sizes whose squares can be added up, a weighted Gram "
        "matrix of them is not finite; scale its columns"
    )


def _extras(dtype: np.dtype, size: int) -> Iterator[float]:
    """Shares of the diagonal to add: none, then more than rounding takes away."""
    yield 0.0
    extra = 4.0 * size * float(np.finfo(dtype).eps)
    while True:
        yield extra
        if extra > size:  # the diagonal is more than the sum of all else
            return
        extra *= 30.0


def _square_norms(rows: Floats) -> Floats:
    squares: Floats = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return squares
