"""All methods of the comparison, each from a problem and s to a support."""

import warnings

import numpy as np
from papers.os.naive import projected, proximal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.svm import LinearSVC

from shortlist import Grafting, OnlineSubstitution, ProjectedGradient

LOSS = {"regression": "squared", "classes": "squared_hinge"}
#: Tries for a penalty that leaves s features, or a few more.
_TRIES = 14

NAMES = {
    "os": "OS, defaults",
    "os_2": "OS, two passes",
    "os_steps": "OS, gradient steps, two passes",
    "os_letter": "OS, eta = .5 / L_F, two passes",
    "os_logistic": "OS, logistic loss",
    "projected_gradient": "Proj-GD",
    "l1": "L1 (batch)",
    "grafting": "Grafting, penalty of the batch",
    "grafting_k": "Grafting, s features at most",
    "naive_projected": "naive, projected",
    "naive_proximal": "naive, proximal",
}


def kind_of(problem):
    return "classes" if problem.is_classification else "regression"


def chosen(method, problem, s):
    """Support that a method finds."""
    kind = kind_of(problem)
    X, y = problem.X, problem.y
    if method == "l1":
        return batch(kind, X, y, s)[0]
    if method == "grafting":
        return grafted(kind, X, y, s)
    if method == "naive_projected":
        return projected(kind, X, y, s, 2)
    if method == "naive_proximal":
        return proximal(kind, X, y, s, 2, batch(kind, X, y, s)[1])
    found = estimator(method, s, LOSS[kind], X).fit(X, y)
    return found.get_support(indices=True)


def estimator(method, s, loss, X):
    """One of ours."""
    if method == "os":
        return OnlineSubstitution(s, loss=loss)
    if method == "os_2":
        return OnlineSubstitution(s, loss=loss, passes=2)
    if method == "os_steps":
        return OnlineSubstitution(s, loss=loss, passes=2, exchange="gradient")
    if method == "os_letter":
        eta = 0.5 / lipschitz(s, len(X))
        return OnlineSubstitution(
            s, loss=loss, passes=2, exchange="gradient", eta=eta, m=1.0
        )
    if method == "os_logistic":
        return OnlineSubstitution(s, loss="logistic")
    if method == "grafting_k":
        return Grafting(s, loss=loss, passes=2)
    return ProjectedGradient(s, loss=loss)


def grafted(kind, X, y, s):
    """The s largest weights after two passes under the penalty of the batch method.

    As many features may be in as the penalty leaves.
    """
    room, lam = min(X.shape[1], 6 * s), batch(kind, X, y, s)[1]
    found = Grafting(room, loss=LOSS[kind], lam=lam, passes=2, refit=False).fit(X, y)
    best = np.argsort(-np.abs(found.coef_.ravel()))[:s]
    return np.sort(best[found.coef_.ravel()[best] != 0])


def lipschitz(s, n):
    """L_F of s + 1 Gaussian columns of unit variance, about: the edge of the spectrum."""
    return (1.0 + np.sqrt((s + 1) / n)) ** 2


def batch(kind, X, y, s):
    """The Lasso, or the l1-penalised squared hinge, with s features or a few more.

    The s largest weights, and the penalty of a mean loss.
    """
    n = len(y)
    low, high, best = 1e-4, 10.0, None  # penalties: many features, none
    for _ in range(_TRIES):
        lam = np.sqrt(low * high)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            w = _penalised(kind, X, y, lam, n)
        if np.count_nonzero(w) >= s:
            low, best = lam, (w, lam)
        else:
            high = lam
        if np.count_nonzero(w) == s:
            break
    w, lam = best
    return np.sort(np.argsort(-np.abs(w))[:s]), lam


def _penalised(kind, X, y, lam, n):
    if kind == "regression":
        return Lasso(alpha=lam, tol=1e-3, max_iter=2000).fit(X, y).coef_
    # liblinear's squared hinge has no factor 1/2, and sums
    model = LinearSVC(
        penalty="l1", dual=False, C=0.5 / (lam * n), tol=1e-3, max_iter=2000
    )
    return model.fit(X, y).coef_[0]


def facts(problem, support):
    """Recall, and what the model is worth that is fitted on the support again."""
    s = len(problem.support)
    hits = len(np.intersect1d(support, problem.support))
    if problem.is_classification:
        model = LinearSVC(dual=False, C=1.0).fit(problem.X[:, support], problem.y)
        error = 1.0 - model.score(problem.X_test[:, support], problem.y_test)
    else:
        w = np.zeros(problem.X.shape[1])
        w[support] = np.linalg.lstsq(problem.X[:, support], problem.y, rcond=None)[0]
        error = np.linalg.norm(w - problem.w) / np.linalg.norm(problem.w)
    return {"recall": hits / s, "error": float(error)}
