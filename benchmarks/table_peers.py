"""Methods that choose k columns of a table: ours and the peers, by one signature.

Each takes X, y, k and whether y holds labels 0 and 1, and returns the chosen columns.
Peers come with ``pip install --group bench``.
"""

import numpy as np


class NotForThis(Exception):
    """A method that cannot do what is asked."""


def by_foba(X, y, k, logistic, **settings):
    """FoBa as it is by default: overshoot, then eliminate."""
    from shortlist import FoBa

    loss = "logistic" if logistic else "squared"
    return FoBa(k, loss=loss, **settings).fit(X, y).get_support(indices=True)


#: The paper has one objective throughout and goes no further than k.
TO_THE_LETTER = {"overshoot": 0.0, "search_l2": None}


def by_foba_paper(X, y, k, logistic):
    """FoBa-gdt to the letter."""
    return by_foba(X, y, k, logistic, **TO_THE_LETTER)


def by_foba_obj(X, y, k, logistic):
    """FoBa-obj to the letter."""
    return by_foba(X, y, k, logistic, criterion="objective", **TO_THE_LETTER)


def by_forward(X, y, k, logistic):
    """Forward steps only."""
    return by_foba(X, y, k, logistic, backward=False, **TO_THE_LETTER)


def by_abess(X, y, k, logistic):
    from abess.linear import LinearRegression, LogisticRegression

    model = (LogisticRegression if logistic else LinearRegression)(support_size=k)
    return np.flatnonzero(model.fit(X, y).coef_)


def by_omp(X, y, k, logistic):
    from sklearn.linear_model import OrthogonalMatchingPursuit

    if logistic:
        raise NotForThis("least squares only")
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(X, y)
    return np.flatnonzero(model.coef_)


def by_l1(X, y, k, logistic):
    """Celer's path, cut where k features are in; the measures refit them."""
    from celer import celer_path

    kind = "logreg" if logistic else "lasso"
    target = 2.0 * y - 1 if logistic else y - y.mean()
    grid = {"n_alphas": 40, "eps": 1e-2, "tol": 1e-4}
    _, coefs, _ = celer_path(X, target, pb=kind, **grid)
    sizes = (coefs != 0).sum(axis=0)
    enough = int(np.argmax(sizes >= k)) if (sizes >= k).any() else coefs.shape[1] - 1
    return np.sort(np.argsort(-np.abs(coefs[:, enough]))[:k])


def _by_skscope(solver_name, X, y, k, logistic):
    import jax.numpy as jnp
    import skscope

    X, y = jnp.asarray(X), jnp.asarray(y, dtype=float)

    def loss(w):
        z = X @ w
        if logistic:
            return jnp.mean(jnp.logaddexp(0.0, z) - y * z)
        return jnp.mean((y - z) ** 2) / 2

    solver = getattr(skscope, solver_name)(X.shape[1], k)
    solver.solve(loss, jit=True)
    return np.sort(np.asarray(solver.get_support()))


def by_skscope_foba(X, y, k, logistic):
    return _by_skscope("FobaSolver", X, y, k, logistic)


def by_scope(X, y, k, logistic):
    return _by_skscope("ScopeSolver", X, y, k, logistic)


METHODS = {
    "foba": by_foba,
    "foba_paper": by_foba_paper,
    "foba_obj": by_foba_obj,
    "forward": by_forward,
    "abess": by_abess,
    "omp": by_omp,
    "l1": by_l1,
    "skscope_foba": by_skscope_foba,
    "scope": by_scope,
}
