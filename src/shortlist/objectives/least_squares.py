"""Squared losses are solved in one step, without iterating.

Margins that use the same features share one factorisation. Well-conditioned problems
are solved through the normal equations, followed by one step of refinement whose
residual comes from the data; the others through a QR decomposition of the rows, read
in blocks, and a singular value decomposition of its small factor. Where columns depend
on each other the solution of least norm is taken.
"""

from __future__ import annotations

import numpy as np

from shortlist._protocols import Floats, Ints
from shortlist.objectives.newton import Minimum
from shortlist.objectives.restricted import Restricted

# Below this reciprocal condition number the normal equations lose too many digits for
# one refinement to bring them back.
_WELL_CONDITIONED = 1e-8


def solve_squared(problem: Restricted) -> Minimum:
    """Minimise Q for the loss ``Squared`` or ``SquaredVector``."""
    theta = np.zeros(problem.n_parameters)
    Y = problem.y.reshape(len(problem.y), -1)
    by_features: dict[bytes, list[int]] = {}
    for c, features in enumerate(problem.features):
        by_features.setdefault(features.tobytes(), []).append(c)
    for outputs in by_features.values():
        features = problem.features[outputs[0]]
        solution = _ridge(problem, features, Y[:, outputs])
        for k, c in enumerate(outputs):
            theta[problem.places[c]] = solution[: len(features), k]
            if problem.fit_intercept:
                theta[problem.n_weights + c] = solution[-1, k]
    Z = problem.margins(theta)
    g = problem.gradient(theta, problem.slopes(Z))
    return Minimum(theta, problem.value(theta, Z), Z, g, 0.0)


def _ridge(problem: Restricted, features: Ints, Y: Floats) -> Floats:
    """Weights (and intercepts, last row) for targets that use the same features."""
    from scipy.linalg import cho_solve, cholesky
    from scipy.linalg.lapack import dpocon

    columns, weight = problem.columns, problem.weight
    m, ones = len(features), int(problem.fit_intercept)
    l2 = problem.feature_l2[features]
    gram = np.empty((m + ones, m + ones))
    gram[:m, :m] = columns.gram(weight, features, features)
    gram[np.diag_indices(m)] += l2
    if ones:
        means = columns.transposed_times(weight[:, np.newaxis])[features, 0]
        gram[m, :m] = gram[:m, m] = means
        gram[m, m] = weight.sum()

    def residual(theta: Floats) -> Floats:
        W = np.zeros((len(columns.center), Y.shape[1]))
        W[features] = theta[:m]
        R = Y - columns.times(W)
        if ones:
            R -= theta[m]
        R *= weight[:, np.newaxis]
        weights = columns.transposed_times(R)[features] - l2[:, np.newaxis] * theta[:m]
        return np.vstack([weights, R.sum(axis=0)]) if ones else weights

    # unit diagonal: whether a problem is well conditioned must not depend on units
    unit = np.sqrt(np.diag(gram))
    unit[unit == 0.0] = 1.0
    gram /= np.outer(unit, unit)
    try:
        factor = cholesky(gram, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return _least_norm(problem, features, Y, unit)
    norm = np.abs(gram).sum(axis=0).max(initial=0.0)
    if len(gram) and dpocon(factor, norm, uplo="L")[0] < _WELL_CONDITIONED:
        return _least_norm(problem, features, Y, unit)
    theta = np.zeros((m + ones, Y.shape[1]))
    for _ in range(2):
        step = cho_solve((factor, True), residual(theta) / unit[:, np.newaxis])
        theta += step / unit[:, np.newaxis]
    return theta


def _least_norm(problem: Restricted, features: Ints, Y: Floats, unit: Floats) -> Floats:
    """Solve the same problem by orthogonal transformations of the rows themselves."""
    columns, m = problem.columns, len(features)
    ones, n = len(unit) - m, len(Y)
    root = np.sqrt(problem.weight)
    # rows of the penalty come first, then R absorbs the data block by block
    stack = np.zeros((m, m + ones + Y.shape[1]))
    stack[np.diag_indices(m)] = np.sqrt(problem.feature_l2[features]) / unit[:m]
    step = max(1024, 4 * (m + 1))
    for first in range(0, n, step):
        part = slice(first, min(n, first + step))
        block = [columns.rows(part.start, part.stop)[:, features] / unit[:m]]
        if ones:
            block.append(np.full((part.stop - first, 1), 1.0 / unit[m]))
        block.append(Y[part])
        rows = np.hstack(block) * root[part, np.newaxis]
        stack = np.asarray(np.linalg.qr(np.vstack([stack, rows]), mode="r"))
    R, target = stack[:, : m + ones], stack[:, m + ones :]
    U, s, Vt = np.linalg.svd(R, full_matrices=True)
    # what rounding makes of a zero: it grows with the size of R and slowly with n
    floor = 8.0 * np.finfo(np.float64).eps * max(m + ones, n**0.5) * s.max(initial=0.0)
    rank = int((s > floor).sum())
    theta = Vt[:rank].T @ ((U[:, :rank].T @ target) / s[:rank, np.newaxis])
    theta /= unit[:, np.newaxis]
    # of all solutions theta + null t, the one whose weights are shortest
    null = Vt[rank:].T / unit[:, np.newaxis]
    t = np.linalg.lstsq(null[:m], theta[:m], rcond=None)[0]
    return np.asarray(theta - null @ t)
