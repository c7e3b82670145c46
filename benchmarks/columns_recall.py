"""What room columns finds of the features that make y, on drawn data.

``python -m benchmarks.columns --recall`` runs it.
"""

import numpy as np

from shortlist.columns import OnlineSubstitution


def sparse_design(n, p, s, seed, rho=0.0, signs=False, flipped=0.0):
    """Columns of unit variance, neighbours correlated by rho; s of them make y.

    Of signs a share may be flipped.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p if rho else 0):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    support = rng.choice(p, s, replace=False)
    w = rng.choice([-1.0, 1.0], s) if rho else rng.standard_normal(s)
    z = X[:, support] @ w
    noise = 0.5 if rho else 0.1
    if signs:
        wrong = rng.random(n) < flipped
        return X, np.where(wrong, -np.sign(z), np.sign(z)), set(support)
    return X, z + noise * rng.standard_normal(n), set(support)


def recall(X, y, support, **settings):
    found = OnlineSubstitution(len(support), **settings).fit(X, y)
    return len(set(found.get_support(indices=True)) & support) / len(support)


def l1_recall(X, y, support):
    """Of the largest weights of an l1-penalised SVM that leaves as many, or a few more."""
    from sklearn.svm import LinearSVC

    k, few, many, best = len(support), 1e-4, 10.0, None
    for _ in range(12):
        C = np.sqrt(few * many)
        model = LinearSVC(penalty="l1", dual=False, C=C, tol=1e-3, max_iter=3000)
        w = model.fit(X, y).coef_[0]
        if np.count_nonzero(w) >= k:
            many, best = C, w
        else:
            few = C
    chosen = np.argsort(-np.abs(best))[:k]
    return len(set(chosen.tolist()) & support) / k


def found_shares(quick):
    """Yield what was chosen from, by what, and the mean share of true features found."""
    seeds = range(2 if quick else 10)
    designs = {
        "regression, p = 2000": (1315, 2000, 100),
        "regression, p = 6000": (1506, 6000, 100),
        "correlated by 0.9": (800, 2000, 50, 0.9),
    }
    for name, (n, p, s, *rho) in designs.items():
        for exchange in ("exact", "gradient"):
            found = [
                recall(*sparse_design(n, p, s, seed, *rho), exchange=exchange)
                for seed in seeds
            ]
            yield f"{name}, {exchange}", n, p, s, 1, np.mean(found)
    yield from classes_found(seeds)
    for q in (1, 4, 8):
        found = [
            recall(*sparse_design(1000, 8192, 64, seed), n_workers=q, staleness=q)
            for seed in seeds
        ]
        yield f"regression, stale by {q}", 1000, 8192, 64, q, np.mean(found)


def classes_found(seeds):
    """Beside an L1-SVM, of labels that are signs, and with one in ten flipped."""
    for p, flipped in ((1000, 0.0), (2000, 0.0), (2000, 0.1)):
        n = int(1.2 * 100 * np.log2(p))
        tasks = [(n, p, 100, seed, 0.0, True, flipped) for seed in seeds]
        what = f"signs, p = {p}" + (", 10 % flipped" if flipped else "")
        for loss in ("logistic", "squared_hinge"):
            for exchange in ("exact", "gradient"):
                found = [
                    recall(*sparse_design(*task), loss=loss, exchange=exchange)
                    for task in tasks
                ]
                yield f"{what}, {loss}, {exchange}", n, p, 100, 1, np.mean(found)
        found = [l1_recall(*sparse_design(*task)) for task in tasks]
        yield f"{what}, L1-SVM", n, p, 100, 1, np.mean(found)
