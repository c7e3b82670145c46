"""Standard errors of chosen weights: how far chance alone may have moved them.

Of rows that were kept, the error of a weight is the root of its entry in the diagonal of
the inverse Hessian of the penalised loss, over all weights of its margin and the bias, so
features that go together have the large errors they should have. Margins of a softmax
are taken one by one, as if the others were known, which is somewhat too small an error.
Of rows that streamed by, only the diagonal of the Hessian is known, and steps by the
diagonal may end far from the minimum. So errors are lower bounds there: they tell of
chance, not of how far the weights still had to go, which after one pass may be several
times as much.

Inverse Hessians are variances if the slopes of a loss vary as much as it curves, as those
of a probability do. For other losses the ratio of the two is estimated: for the squared
loss it is the variance of the residuals. Nothing is known about losses without curvature
(hinge, epsilon-insensitive), nor about what choosing features by the same rows adds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import Floats
from shortlist._refit import Coordinates, Refit, predict_into
from shortlist._rules import Found
from shortlist._steps import LOSS, WEIGHT
from shortlist._targets import Target
from shortlist.kernels.masking import MaskedRows
from shortlist.losses import curvature_into

#: Weights up to which it is asked how features go together; of several margins the cubes
#: count, which are what it takes to find out.
MOST_TOGETHER = 2000


def weight_errors(
    found: Found, loss: Any, refit: Refit | None, mean_loss: float
) -> Floats:
    """Errors of what was found by a refit that has finished, or without one.

    ``mean_loss`` is that of the last examples before each was learned from.
    """
    if refit is not None:
        return refit_errors(refit)
    if found.information is None:
        return found.error
    noise = streamed_noise(loss, mean_loss)
    errors: Floats = np.sqrt(found.error**2 + noise / found.information)
    return errors


def refit_errors(refit: Refit) -> Floats:
    """Errors of the weights of a refit that has finished, in the units of the data."""
    chosen, loss = refit.chosen, refit.target.loss
    if refit.exact and refit.kept:
        feature_ridge = refit.ridge * (1.0 if refit.share is None else refit.share)
        ridge = np.broadcast_to(feature_ridge, chosen.ids.shape)
        errors = _kept_errors(refit.target, chosen, refit.kept[0], ridge)
    else:
        mean_loss = float(refit.totals[LOSS] / (refit.totals[WEIGHT] or np.nan))
        known = chosen.information + refit.ridges()
        errors = np.sqrt(streamed_noise(loss, mean_loss) / known)
    scaled: Floats = errors / chosen.scale_of()
    return scaled


def streamed_noise(loss: Any, mean_loss: float) -> float:
    """How much slopes vary for how much the loss curves, if only its mean is known.

    That of the squared loss is half the variance; where targets are real numbers the others
    are much like it.
    """
    if not _curves(loss):
        return np.nan
    return 2.0 * mean_loss if loss.target == "real" else 1.0


def _curves(loss: Any) -> bool:
    out = np.empty(2 if loss.is_vector else 1)
    for z in (0.0, 1.0):
        curvature_into(loss, 1.0, np.full_like(out, z), out)
        if out.any():
            return True
    return False


def _kept_errors(
    target: Target, chosen: Coordinates, rows: MaskedRows, ridge: Floats
) -> Floats:
    """Errors at the minimum, in the units of the refit; a ridge for each feature."""
    from scipy.sparse import csr_array

    from shortlist.losses.arrays import curvatures_into, slopes_into
    from shortlist.objectives.columns import gather

    errors, total = np.full(len(chosen.weight), np.nan), float(rows.weight.sum())
    if total == 0.0:
        return errors
    Z = np.empty((len(rows.y), target.n_margins))
    predict_into(target.loss, chosen, rows, Z)
    G, H = np.empty_like(Z), np.empty_like(Z)
    slopes_into(target.loss, rows.y, Z, rows.weight, G)
    curvatures_into(target.loss, rows.y, Z, rows.weight, H)
    counts = rows.weight > 0.0
    # weights may be numbers of repetitions, or sum to 1
    n = max(total, float(np.count_nonzero(counts)))
    variation = (G[counts] ** 2 / rows.weight[counts, np.newaxis]).sum(axis=0)
    shape = (len(rows.y), len(chosen.ids))
    X = csr_array((rows.values, rows.columns, rows.indptr), shape=shape)
    columns = gather(X, np.arange(len(chosen.ids)), rows.weight, center=True)
    feature_of = np.repeat(np.arange(len(chosen.ids)), np.diff(chosen.first))
    work = (np.bincount(chosen.margin).astype(np.float64) ** 3).sum()
    for c in range(target.n_margins):
        here = np.flatnonzero(chosen.margin == c)
        curvature = H[:, c].sum()
        if not curvature > 0.0 or not len(here):
            continue
        feature, h = feature_of[here], np.ascontiguousarray(H[:, c])
        # what a column shares with the bias tells nothing of its weight
        shared = columns.transposed_times(h[:, np.newaxis])[feature, 0]
        if work <= MOST_TOGETHER**3:
            hessian = columns.gram(h, feature, feature)
            hessian -= np.outer(shared, shared / curvature)
            hessian[np.diag_indices(len(here))] += ridge[feature]
            variance = _inverse_diagonal(hessian)
        else:
            spread = columns.squares(h[:, np.newaxis])[feature, 0]
            spread = np.maximum(spread - shared**2 / curvature, 0.0)
            variance = 1.0 / (spread + ridge[feature])
        noise = 1.0
        if not target.loss.has_probability:
            free = n - 1.0 - (1.0 - ridge[feature] * variance).sum()
            noise = variation[c] / curvature * n / max(free, 1.0)
        errors[here] = np.sqrt(noise * variance)
    return errors


def _inverse_diagonal(matrix: Floats) -> Floats:
    """Diagonal of the inverse of a positive definite matrix; NaN if it is not."""
    from scipy.linalg import lapack

    unit = np.sqrt(matrix.diagonal())
    factor, failed = lapack.dpotrf(matrix / np.outer(unit, unit), overwrite_a=True)
    if failed:
        return np.full(len(matrix), np.nan)
    inverse, _ = lapack.dtrtri(factor, overwrite_c=True)
    diagonal: Floats = (inverse**2).sum(axis=1) / unit**2
    return diagonal
