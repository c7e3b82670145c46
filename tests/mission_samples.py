"""Small data that tests of MISSION share."""

import numpy as np
from scipy import sparse

from shortlist import ArraySource


def sparse_stream(seed, n=600, p=5000, nnz=8, n_true=4, n_classes=2):
    """Rows of a few ones; the first n_true columns, two a row, decide the label."""
    rng = np.random.default_rng(seed)
    told = np.argsort(rng.random((n, n_true)), axis=1)[:, :2]
    columns = np.hstack([told, rng.integers(n_true, p, (n, nnz - 2))])
    rows = np.repeat(np.arange(n), nnz)
    X = sparse.csr_array((np.ones(n * nnz), (rows, columns.ravel())), shape=(n, p))
    weights = np.linspace(-2, 2, n_true * n_classes).reshape(n_true, n_classes)
    weights = rng.permuted(weights, axis=0)
    y = np.argmax(X[:, :n_true] @ weights + rng.gumbel(size=(n, n_classes)) / 3, axis=1)
    return X, y


class PassingRows(ArraySource):
    """Rows whose labels nobody knows before they come by, as with a file."""

    all_labels = None


def sparse_regression(n=6000, p=500, s=10):
    """Rows with noise, and the features planted in them."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, p), density=0.05, format="csr", rng=rng)
    X.data[:] = rng.normal(size=X.nnz)
    w = np.zeros(p)
    planted = rng.choice(p, s, replace=False)
    w[planted] = rng.choice([-1.0, 1.0], s)
    return X, X @ w + 0.2 * rng.normal(size=n), set(planted.tolist())
