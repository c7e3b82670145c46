"""Rows near to others, and how their columns differ: the two loops of ReliefF.

Columns are scaled so that numbers differ by at most 1; categories differ by 1 or not at
all. A block of rows, the *probes*, is compared with all rows at once, so that a row is
fetched once a block. Sparse tables only visit what is not zero: if both rows have a zero
in a column they do not differ there.
"""

from typing import NamedTuple

import numpy as np

from shortlist.kernels._jit import kernel


class Compressed(NamedTuple):
    """A sparse table, by rows or by columns."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


@kernel
def _diff(is_category, a, b):
    if is_category:
        return 1.0 if a != b else 0.0
    return abs(a - b)


# Sums may be taken in any order, so that several differences are added at a time.
@kernel(fastmath={"reassoc"})
def _distance(a, b, n_numbers):
    far = 0.0
    for j in range(n_numbers):
        far += abs(a[j] - b[j])
    for j in range(n_numbers, len(a)):
        far += 1.0 if a[j] != b[j] else 0.0
    return far


@kernel
def dense_distances(X, n_numbers, probes, out):
    """Sum of the differences of each probe to each row.

    Columns of X from ``n_numbers`` on are categories.
    """
    for r in range(X.shape[0]):
        for b in range(len(probes)):
            out[b, r] = _distance(X[probes[b]], X[r], n_numbers)


@kernel
def sparse_distances(rows, columns, is_category, probes, out):
    """The same for a sparse table, given by rows and by columns.

    Rows differ by the sum of their sizes, less what their common columns have too much.
    """
    sizes = np.zeros(out.shape[1])
    for r in range(len(sizes)):
        for t in range(rows.indptr[r], rows.indptr[r + 1]):
            sizes[r] += _diff(is_category[rows.indices[t]], rows.values[t], 0.0)
    for b in range(len(probes)):
        i = probes[b]
        for r in range(len(sizes)):
            out[b, r] = sizes[i] + sizes[r]
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            j, x = rows.indices[t], rows.values[t]
            kind = is_category[j]
            own = _diff(kind, x, 0.0)
            for u in range(columns.indptr[j], columns.indptr[j + 1]):
                v = columns.values[u]
                excess = own + _diff(kind, v, 0.0) - _diff(kind, x, v)
                out[b, columns.indices[u]] -= excess


@kernel
def nearest(distances, group, probes, found, count):
    """Fill in the nearest rows of each group, the probe itself left out.

    ``found`` has shape (n_probes, n_groups, n_neighbours). Of equally near rows the first
    come first. Where a group has too few, the rest is the probe itself, from which it
    does not differ; ``count`` says how many there are.
    """
    wanted = found.shape[2]
    for b in range(len(probes)):
        far = distances[b]
        for g in range(found.shape[1]):
            count[b, g] = 0
            for m in range(wanted):
                found[b, g, m] = probes[b]
        for r in range(len(group)):
            if r == probes[b]:
                continue
            g = group[r]
            best, m = found[b, g], count[b, g]
            if m == wanted:
                if far[r] >= far[best[m - 1]]:
                    continue
                m -= 1
            else:
                count[b, g] += 1
            while m > 0 and far[best[m - 1]] > far[r]:
                best[m] = best[m - 1]
                m -= 1
            best[m] = r


@kernel
def add_dense_differences(X, n_numbers, probes, found, factor, out):
    """Add to ``out[s, j]`` how much probes and their neighbours differ in column j.

    ``found`` and ``factor[s]``, what a difference counts for, have a row a probe.
    """
    for b in range(len(probes)):
        own = X[probes[b]]
        for m in range(found.shape[1]):
            other = X[found[b, m]]
            for s in range(len(out)):
                weight, sums = factor[s, b, m], out[s]
                for j in range(n_numbers):
                    sums[j] += weight * abs(own[j] - other[j])
                for j in range(n_numbers, X.shape[1]):
                    sums[j] += weight if own[j] != other[j] else 0.0


@kernel
def add_sparse_differences(rows, is_category, probes, found, factor, out):
    """The same for a sparse table, given by rows."""
    own = np.zeros(out.shape[1])
    for b in range(len(probes)):
        i = probes[b]
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            own[rows.indices[t]] = rows.values[t]
        for s in range(len(out)):
            # As if all neighbours were empty rows ...
            total = 0.0
            for m in range(found.shape[1]):
                if found[b, m] != i:
                    total += factor[s, b, m]
            for t in range(rows.indptr[i], rows.indptr[i + 1]):
                j = rows.indices[t]
                out[s, j] += total * _diff(is_category[j], own[j], 0.0)
        for m in range(found.shape[1]):
            r = found[b, m]
            if r == i:
                continue
            # ... and what they have themselves changes.
            for t in range(rows.indptr[r], rows.indptr[r + 1]):
                j, v = rows.indices[t], rows.values[t]
                kind = is_category[j]
                more = _diff(kind, v, own[j]) - _diff(kind, own[j], 0.0)
                for s in range(len(out)):
                    out[s, j] += factor[s, b, m] * more
        for t in range(rows.indptr[i], rows.indptr[i + 1]):
            own[rows.indices[t]] = 0.0
