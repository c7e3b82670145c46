"""What an objective is given, checked and brought into shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._protocols import Floats, ShortlistError
from shortlist.kernels.repeats import has_repeats


def as_table(X: Any) -> Any:
    """Return X as an array, or a sparse matrix in CSR or CSC form, each entry once.

    It is copied only if it has other forms, or entries that come in several parts.
    """
    if hasattr(X, "tocsr"):
        X = X if X.format in ("csr", "csc") else X.tocsr()
        n_places = X.shape[X.format == "csr"]
        if not X.has_canonical_format and has_repeats(X.indptr, X.indices, n_places):
            X = X.copy()
            X.sum_duplicates()
    else:
        X = np.asanyarray(X)
        if X.dtype.kind not in "biuf":
            raise ShortlistError(f"X should hold numbers, got dtype {X.dtype}")
    if len(X.shape) != 2 or X.shape[0] == 0:
        raise ShortlistError(f"X should have 2 dimensions and rows, got {X.shape}")
    return X


def as_covariance(given: Any) -> Floats:
    """Return S as a symmetric matrix of float64 with a positive diagonal."""
    S = np.asarray(given)
    if S.dtype.kind not in "biuf":
        raise ShortlistError(f"S should hold numbers, got dtype {S.dtype}")
    if S.ndim != 2 or len(S) == 0 or S.shape[0] != S.shape[1]:
        raise ShortlistError(f"S should be a square matrix, got shape {S.shape}")
    S = S.astype(np.float64)
    if not np.isfinite(S).all():
        raise ShortlistError("S should be finite, it holds a NaN or an infinity")
    variances = np.diag(S)
    if not (variances > 0.0).all():
        i = int(np.argmin(variances > 0.0))
        raise ShortlistError(
            f"variances on the diagonal of S should be above 0, "
            f"S[{i}, {i}] is {variances[i]:g}; drop constant variables"
        )
    d = np.sqrt(variances)
    # relative to what covariances can be; float32 has seven digits
    unequal = np.abs(S - S.T) / d / d[:, np.newaxis] > 1e-6
    if unequal.any():
        i, j = np.argwhere(unequal)[0]
        raise ShortlistError(
            f"S should be symmetric, S[{i}, {j}] is {S[i, j]:g} "
            f"and S[{j}, {i}] is {S[j, i]:g}"
        )
    return np.asarray(0.5 * (S + S.T))


def as_target(loss: Any, given: Any, n_samples: int) -> Floats:
    """Return y as float64 of our own, after checking that the loss can take it."""
    # compiled kernels want one kind of array: writeable, C-contiguous
    y: Floats = np.array(given, dtype=np.float64, order="C")
    name, target = type(loss).name, type(loss).target
    rows = type(loss).is_vector and target == "real"
    if y.ndim != 1 + rows:
        raise ShortlistError(
            f"y should have {1 + rows} dimension(s) for the loss {name}, got {y.ndim}"
        )
    if len(y) != n_samples:
        raise ShortlistError(f"y should have {n_samples} rows, as X has, got {len(y)}")
    if not np.isfinite(y).all():
        raise ShortlistError("y should be finite, it holds a NaN or an infinity")
    if target == "sign":
        wrong, wanted = np.abs(y) != 1.0, "-1 or +1"
    elif target == "count":
        wrong, wanted = y < 0.0, "at least 0"
    elif target == "class":
        wrong, wanted = (y < 0.0) | (y != np.floor(y)), "class codes 0, 1, ..."
    else:
        return y
    if wrong.any():
        raise ShortlistError(
            f"y should be {wanted} for the loss {name}, got {y[wrong][0]:g}"
        )
    return y


def count_outputs(loss: Any, y: Floats, n_outputs: int | None) -> int:
    """How many margins a loss of this y has, checked against what a user says."""
    if not type(loss).is_vector:
        wanted = 1
    elif y.ndim == 2:
        wanted = y.shape[1]
    else:
        wanted = int(y.max(initial=0.0)) + 1
        if n_outputs is not None and n_outputs > wanted:
            return n_outputs
    if n_outputs is not None and n_outputs != wanted:
        raise ShortlistError(
            f"n_outputs should be {wanted} for this loss and y, got {n_outputs}"
        )
    return wanted


def as_penalty(l2: Any, n_features: int) -> Floats:
    """One penalty a feature; a number takes no memory for being repeated."""
    penalty = np.asarray(l2, dtype=np.float64)
    if penalty.shape not in ((), (n_features,)):
        raise ShortlistError(
            f"l2 should be a number or have shape ({n_features},), got {penalty.shape}"
        )
    if not (np.isfinite(penalty).all() and (penalty >= 0.0).all()):
        raise ShortlistError(f"l2 should be at least 0 and finite, got {l2}")
    return np.broadcast_to(penalty, (n_features,))


def as_weight(sample_weight: Any, n_samples: int) -> Floats:
    """Return the importance of each example, checked."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.array(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ShortlistError(
            f"sample_weight should have shape ({n_samples},), got {weight.shape}"
        )
    if not (np.isfinite(weight).all() and (weight >= 0.0).all() and weight.any()):
        raise ShortlistError(
            "sample_weight should be finite, at least 0 and not 0 everywhere"
        )
    return weight
