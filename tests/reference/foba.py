"""The paper's FoBa, transcribed: forward step, refit, backward steps, nothing else."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


class Problem:
    """Q(beta) with a free intercept, minimised by a general-purpose optimiser."""

    def __init__(self, A, y, loss, l2):
        self.A, self.y, self.loss, self.l2 = A, y, loss, l2

    def _terms(self, beta, b):
        z = self.A @ beta + b
        if self.loss == "squared":
            return 0.5 * (z - self.y) ** 2, z - self.y
        return np.logaddexp(0, -self.y * z), -self.y / (1 + np.exp(self.y * z))

    def value(self, beta, b):
        return self._terms(beta, b)[0].mean() + 0.5 * self.l2 * beta @ beta

    def gradient(self, beta, b):
        return self.A.T @ self._terms(beta, b)[1] / len(self.y) + self.l2 * beta

    def refit(self, F, beta, b):
        F = sorted(F)

        def unpack(theta):
            full = np.zeros(self.A.shape[1])
            full[F] = theta[:-1]
            return full, theta[-1]

        def both(theta):
            full, b = unpack(theta)
            slope = self._terms(full, b)[1]
            return self.value(full, b), np.append(
                self.gradient(full, b)[F], slope.mean()
            )

        start = np.append(beta[F], b)
        options = {"gtol": 1e-11, "maxiter": 2000}
        found = minimize(both, start, jac=True, method="BFGS", options=options)
        return unpack(found.x)


def foba(problem, k, criterion="gradient", epsilon=0.0, delta=0.0):
    """Supports after every forward and backward step, with their values of Q."""
    p = problem.A.shape[1]
    F, gain, history = [], {}, []
    beta, b = problem.refit(F, np.zeros(p), 0.0)
    while len(F) < k:
        out = [j for j in range(p) if j not in F]
        before = problem.value(beta, b)
        g = problem.gradient(beta, b)
        if criterion == "gradient":
            if np.abs(g[out]).max() < epsilon:
                break
            j = max(out, key=lambda j: abs(g[j]))
        else:

            def along(j, beta=beta, b=b):
                unit = np.eye(p)[j]
                return minimize_scalar(
                    lambda t: problem.value(beta + t * unit, b), tol=1e-10
                ).fun

            j = min(out, key=along)
            if before - along(j) < delta:
                break
        F.append(j)
        beta, b = problem.refit(F, beta, b)
        gain[len(F)] = before - problem.value(beta, b)
        history.append((frozenset(F), problem.value(beta, b)))
        while len(F) > 1:
            here = problem.value(beta, b)
            zeroed = {
                i: problem.value(beta - beta[i] * np.eye(p)[i], b) - here for i in F
            }
            i = min(F, key=zeroed.get)
            if zeroed[i] >= gain[len(F)] / 2:
                break
            F.remove(i)
            beta, b = problem.refit(F, beta, b)
            history.append((frozenset(F), problem.value(beta, b)))
    return history
