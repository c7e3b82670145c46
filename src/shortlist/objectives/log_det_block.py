"""The log-det objective on one connected block of variables, by Newton's method.

Variables are in units that make their variances 1: R is a block of correlations. The
parameters theta are the diagonal entries of Theta, then those of its pairs (i, j) that
are open. With W = Theta^-1, c = 1/2 for a diagonal entry and c = 1 for a pair,

    dQ / da    = c_a (R_ij - W_ij) + l2_a theta_a                      a = (i, j)
    d2Q / dadb = c_a c_b (W_ik W_jl + W_il W_jk) + l2_a [a = b]        b = (k, l)

2Q is self-concordant. So from any positive definite start Newton steps of length
1 / (1 + decrement) stay positive definite and end at the minimum if there is one; if
there is none the decrement never falls below 1 and Theta grows without end.
"""

from __future__ import annotations

import numpy as np

from shortlist._protocols import Floats, Ints

# Below the first decrement full steps square it; one step from the second is the last.
_FULL, _LAST = 0.25, 1e-6

# theta_ii is 1 / (1 - R^2) of a variable given its neighbours. The condition of the
# Hessian is its square: from here on there would be no digit left in a step.
_LARGEST = 1e7

_MAX_STEPS = 1000


class Block:
    """Q of a few variables and the pairs that connect them.

    Parameters
    ----------
    R : ndarray of shape (n_variables, n_variables)
        Correlations.
    i, j : ndarray of shape (n_pairs,)
        Ends of the pairs.
    l2 : ndarray of shape (n_pairs,)
        Penalties.
    """

    def __init__(self, R: Floats, i: Ints, j: Ints, l2: Floats) -> None:
        self.n_variables = len(R)
        own = np.arange(self.n_variables)
        self._i, self._j = np.concatenate([own, i]), np.concatenate([own, j])
        self._c = np.where(self._i == self._j, 0.5, 1.0)
        self._r = R[self._i, self._j]
        self._l2 = np.concatenate([np.zeros(self.n_variables), l2])

    def matrix(self, theta: Floats) -> Floats:
        """Theta."""
        out = np.zeros((self.n_variables, self.n_variables))
        out[self._i, self._j] = out[self._j, self._i] = theta
        return out

    def value(self, theta: Floats) -> float:
        """Q; infinite where Theta is not positive definite."""
        try:
            pivots = np.diag(_factor(self.matrix(theta)))
        except np.linalg.LinAlgError:
            return np.inf
        linear = (self._c * self._r + 0.5 * self._l2 * theta) @ theta
        value = float(linear - np.log(pivots).sum())
        return value if np.isfinite(value) else np.inf

    def inverse(self, theta: Floats) -> Floats:
        """W; raises ``LinAlgError`` where Theta is not positive definite."""
        return _inverse(self.matrix(theta))

    def hessian(self, W: Floats) -> Floats:
        """Second derivatives, of all parameters."""
        i, j = self._i, self._j
        cross = W[np.ix_(i, j)]
        H = W[np.ix_(i, i)] * W[np.ix_(j, j)] + cross * cross.T
        H *= np.outer(self._c, self._c)
        H[np.diag_indices_from(H)] += self._l2
        return np.asarray(H)

    def inverse_hessian(self, theta: Floats) -> Floats:
        """Inverse of the Hessian, for the pairs only."""
        H = self.hessian(self.inverse(theta))
        return _inverse(H)[self.n_variables :, self.n_variables :]

    def minimise(self, start: Floats) -> Floats | None:
        """Return the best theta; None if there is none, to working precision.

        Starts from the identity where ``start`` is of no use.
        """
        from scipy.linalg.lapack import dpotrs

        theta, n = start, self.n_variables
        if not theta[:n].max() <= _LARGEST or self.value(theta) == np.inf:
            theta = np.where(np.arange(len(start)) < n, 1.0, 0.0)
        for _ in range(_MAX_STEPS):
            try:
                W = self.inverse(theta)
                g = self._c * (self._r - W[self._i, self._j]) + self._l2 * theta
                factor = _factor(self.hessian(W))
            except np.linalg.LinAlgError:
                return None
            step = -dpotrs(factor, g, lower=1)[0]
            decrement = float(np.sqrt(max(-2.0 * (g @ step), 0.0)))  # that of 2Q
            if decrement <= _LAST:
                return np.asarray(theta + step)
            theta = theta + step / (1.0 if decrement <= _FULL else 1.0 + decrement)
            if theta[:n].max() > _LARGEST:
                return None
        return None


def _factor(A: Floats) -> Floats:
    """Lower Cholesky factor, from LAPACK: blocks are small, checks would take longer."""
    from scipy.linalg.lapack import dpotrf

    L, failed = dpotrf(A, lower=1)
    if failed:
        raise np.linalg.LinAlgError("not positive definite")
    return np.asarray(L)


def _inverse(A: Floats) -> Floats:
    """Inverse; by solving, since threads in LAPACK's dpotri make small blocks slow."""
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(_factor(A), np.eye(len(A)), lower=1)[0])
