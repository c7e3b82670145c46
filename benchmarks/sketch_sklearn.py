"""scikit-learn's way from a libsvm file to weights, as a process of its own.

    python -m benchmarks.sketch_sklearn TRAIN ALPHA WEIGHTS

Loads all columns of the click log and fits SGDClassifier with l1, five epochs; the weights
and the intercept go to ``WEIGHTS``. ``benchmarks.sketch`` runs it beside the others.
"""

import sys

import numpy as np
from benchmarks.click_stream import N_IDS
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier


def load(path):
    X, y = load_svmlight_file(str(path), n_features=N_IDS + 1, zero_based=True)
    # SGDClassifier takes 32-bit indices only
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def main():
    train, alpha, weights = sys.argv[1:]
    model = SGDClassifier(
        loss="log_loss",
        penalty="l1",
        alpha=float(alpha),
        max_iter=5,
        tol=None,
        random_state=0,
    )
    model.fit(*load(train))
    np.savez(weights, weights=model.coef_[0], intercept=model.intercept_[0])


if __name__ == "__main__":
    main()
