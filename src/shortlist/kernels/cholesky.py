"""A Cholesky factor that grows by a row and shrinks by any row, in quadratic time."""

import math

import numpy as np

from shortlist.kernels._jit import kernel


@kernel
def append(L, m, row, diagonal, smallest):
    """Add a row to the factor of the leading m x m block; return its pivot, squared.

    ``row`` holds the new row of the matrix up to the diagonal. If the squared pivot does
    not exceed ``smallest`` the new row depends on the others and nothing is added.
    """
    left = diagonal
    for i in range(m):
        total = row[i]
        for j in range(i):
            total -= L[i, j] * L[m, j]
        L[m, i] = total / L[i, i]
        left -= L[m, i] * L[m, i]
    if left > smallest:
        L[m, m] = math.sqrt(left)
    return left


@kernel
def remove(L, m, which):
    """Drop a row and column of the factored m x m matrix.

    Rows below move up; what the lost column contributed to them is a rank-one update of
    their own block.
    """
    lost = np.empty(m - which - 1)
    for i in range(which + 1, m):
        lost[i - which - 1] = L[i, which]
        for j in range(which):
            L[i - 1, j] = L[i, j]
        for j in range(which + 1, i + 1):
            L[i - 1, j - 1] = L[i, j]
    for i in range(which, m - 1):
        x = lost[i - which]
        pivot = math.hypot(L[i, i], x)
        cosine, sine = pivot / L[i, i], x / L[i, i]
        L[i, i] = pivot
        for j in range(i + 1, m - 1):
            L[j, i] = (L[j, i] + sine * lost[j - which]) / cosine
            lost[j - which] = cosine * lost[j - which] - sine * L[j, i]


@kernel
def solve(L, m, b):
    """Solve the factored m x m system in place of b."""
    for i in range(m):
        total = b[i]
        for j in range(i):
            total -= L[i, j] * b[j]
        b[i] = total / L[i, i]
    for i in range(m - 1, -1, -1):
        b[i] /= L[i, i]
        for j in range(i):
            b[j] -= L[i, j] * b[i]


@kernel
def inverse_diagonal(L, m):
    """Diagonal of the inverse of the factored m x m matrix."""
    out, column = np.zeros(m), np.empty(m)
    for c in range(m):  # column c of the inverse of L, whose squares add up
        column[c] = 1.0 / L[c, c]
        out[c] = column[c] * column[c]
        for i in range(c + 1, m):
            total = 0.0
            for j in range(c, i):
                total -= L[i, j] * column[j]
            column[i] = total / L[i, i]
            out[c] += column[i] * column[i]
    return out
