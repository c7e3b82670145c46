"""Algorithm 1 of the FoBa paper, line by line: nothing cached, nothing updated.

Line 15 of the paper reads F^(k+1) where F^(k) is meant: badness is that of the present
features.
"""

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit


def correlated(seed, n=80, p=12, s=4, rho=0.9, noise=0.5):
    """X in odd units, y and the true support: columns as an AR(1) process, weights +-1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    support = np.sort(rng.choice(p, s, replace=False))
    w = np.zeros(p)
    w[support] = rng.choice([-1.0, 1.0], s)
    return X * rng.uniform(0.1, 10, p), X @ w + noise * rng.normal(size=n), support


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


class Problem:
    """Q(beta) = mean loss of A beta + b, plus (l2 / 2) ||beta||^2; b is always in."""

    def __init__(self, A, y, loss, l2):
        self.A, self.y, self.loss, self.l2 = A, y, loss, l2

    def value(self, beta, b):
        z = self.A @ beta + b
        if self.loss == "squared":
            losses = 0.5 * (z - self.y) ** 2
        else:
            losses = np.logaddexp(0.0, -self.y * z)
        return losses.mean() + 0.5 * self.l2 * beta @ beta

    def gradient(self, beta, b):
        return self.A.T @ self._slopes(beta, b) / len(self.y) + self.l2 * beta

    def _slopes(self, beta, b):
        z = self.A @ beta + b
        return z - self.y if self.loss == "squared" else -self.y * expit(-self.y * z)

    def refit(self, F):
        """Minimise over the weights of F and the intercept."""
        F, n = sorted(F), len(self.y)
        B = np.column_stack([self.A[:, F], np.ones(n)])
        ridge = self.l2 * np.diag([1.0] * len(F) + [0.0])
        if self.loss == "squared":
            rows = np.vstack([B / np.sqrt(n), np.sqrt(ridge)])
            target = np.append(self.y / np.sqrt(n), np.zeros(len(ridge)))
            return self._spread(F, np.linalg.lstsq(rows, target)[0])

        def value(theta):
            return self.value(*self._spread(F, theta))

        def jac(theta):
            return B.T @ self._slopes(*self._spread(F, theta)) / n + ridge @ theta

        def hess(theta):
            share = expit(B @ theta)
            return (B * (share * (1 - share))[:, None]).T @ B / n + ridge

        theta, options = np.zeros(len(ridge)), {"gtol": 1e-12, "maxiter": 200}
        found = minimize(
            value, theta, method="trust-exact", jac=jac, hess=hess, options=options
        )
        assert np.abs(found.jac).max() < 1e-9, found.message
        return self._spread(F, found.x)

    def _spread(self, F, theta):
        beta = np.zeros(self.A.shape[1])
        beta[F] = theta[:-1]
        return beta, theta[-1]


def foba(problem, k, criterion="gradient", epsilon=0.0, delta=0.0):
    """Supports, with their values of Q, after every forward and every backward step."""
    p = problem.A.shape[1]
    e = np.eye(p)
    F, reached, history = [], {}, []
    beta, b = problem.refit(F)

    def decrease(j):
        along = minimize_scalar(lambda t: problem.value(beta + t * e[j], b), tol=1e-10)
        return problem.value(beta, b) - along.fun

    while len(F) < k:
        outside = [j for j in range(p) if j not in F]
        if criterion == "gradient":
            goodness, threshold = np.abs(problem.gradient(beta, b)), epsilon
        else:
            goodness, threshold = {j: decrease(j) for j in outside}, delta
        best = max(outside, key=lambda j: goodness[j])
        if goodness[best] < threshold:  # line 4
            break
        before = problem.value(beta, b)
        F = [*F, best]
        beta, b = problem.refit(F)
        reached[len(F)] = before - problem.value(beta, b)  # delta^(k) of line 11
        history.append((frozenset(F), problem.value(beta, b)))
        while F:
            badness = {i: problem.value(beta - beta[i] * e[i], b) for i in F}
            worst = min(F, key=lambda i: badness[i])
            rise = badness[worst] - problem.value(beta, b)
            if rise >= reached[len(F)] / 2:  # line 15
                break
            F = [i for i in F if i != worst]
            beta, b = problem.refit(F)
            history.append((frozenset(F), problem.value(beta, b)))
    return history
