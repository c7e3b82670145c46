"""The methods that MISSION's real-data experiments compare, with equal means.

As in section 6.1 of the paper the Count-Sketch has as many numbers in all as feature
hashing has buckets. Iterative hard thresholding needs a table of the gradient besides its
k weights: SGD-IHT that of one example, Batch IHT as much memory as the sketch. All have
the same learning rate, one over the mean squared norm of an example, and an intercept.
"""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from shortlist._scoring import evaluate
from shortlist.sketch import SGDIHT, BatchIHT, HashedSGD, Mission

NAMES = {
    "mission_refit": "MISSION, refit (default)",
    "mission_paper": "MISSION, paper",
    "mission_lazy": "MISSION, paper, lazy",
    "sgd_iht": "SGD-IHT",
    "batch_iht": "Batch IHT",
    "iht_refit": "SGD-IHT, refit",
    "hashed": "feature hashing",
}
#: Those that do not depend on k.
WITHOUT_K = ("hashed",)
#: Features that an example may have for SGD-IHT.
LONGEST = 1 << 15
#: Changes that lazy updates keep from the top k, as a share of a usual step.
LAZY = 0.1


def default_cells(task):
    """Numbers in a sketch: the next power of two above the features.

    The paper has that many in all, classes included, for DNA, and so have we; for
    text, where there are few features, as many for each class.
    """
    cells = 1 << int(task.n_features).bit_length()
    return min(cells * task.n_margins, 1 << 24)


def cells_for_ids(n_ids, n_margins):
    """Numbers that a table of exact weights for so many ids takes."""
    return n_ids * (2 * n_margins + 6)


def usual_step(source):
    """Size of the step of a weight in the first rows, when a label is a surprise."""
    block = next(source.blocks())
    norm = np.sum(block.values**2) / block.n_rows
    return float(np.mean(np.abs(block.values)) / norm)


def rival(method, k, task, *, cells=None, passes=1):
    """An estimator, with the task's settings."""
    cells = cells or default_cells(task)
    common = {
        "loss": "softmax" if task.n_margins > 1 else "logistic",
        "passes": passes,
        **task.prepared,
    }
    sketched = common | {"memory": cells, "seed": task.split}
    small = cells_for_ids(LONGEST, task.n_margins)
    if method == "mission_refit":
        return Mission(k, recipe="refit", **sketched)
    if method == "mission_paper":
        return Mission(k, recipe="paper", **sketched)
    if method == "mission_lazy":
        scale = LAZY if task.prepared else LAZY * usual_step(task.train)
        return Mission(k, recipe="paper", lazy=scale, **sketched)
    if method == "sgd_iht":
        return SGDIHT(k, recipe="paper", memory=small, **common)
    if method == "iht_refit":
        return SGDIHT(k, recipe="refit", memory=small, **common)
    if method == "batch_iht":
        return BatchIHT(k, recipe="paper", memory=cells, **common)
    if method == "hashed":
        return HashedSGD(**sketched)
    raise ValueError(f"method: expected one of {', '.join(NAMES)}, got {method}")


def fitted(estimator, task):
    """Fit to a task; return the CPU seconds that took, all threads together.

    Threads of BLAS would burn time waiting for each other when the machine is busy.
    """
    with threadpool_limits(1, user_api="blas"):
        begin = time.process_time()
        estimator.fit_source(task.train, classes=task.classes)
        return time.process_time() - begin


def accuracies(estimator, task):
    """Accuracy on each part that is to be tested on."""
    model = estimator._responding()
    return {part: evaluate(model, rows).value for part, rows in task.tests.items()}


def share_found(estimator, task):
    """Share of what was chosen that is planted; empty where that is not known."""
    if task.planted is None or not hasattr(estimator, "shortlist_"):
        return ""
    return float(np.mean(np.isin(estimator.shortlist_.ids, task.planted)))
