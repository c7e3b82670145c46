"""Shortlists of all kinds, made by hand: reports of them need no fit."""

import numpy as np

from shortlist._shortlist import Shortlist

NASTY = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>"


def shortlist(**changes):
    """Two classes, three features, weights and errors."""
    values = {
        "method": "mission",
        "room": "sketch",
        "loss": "logistic",
        "k": 3,
        "ids": np.array([2**64 - 1, 7, 3], np.uint64),
        "names": ("price", "size", NASTY),
        "margin": np.zeros(3, np.int64),
        "weights": np.array([-0.5, 2.0, 1.25]),
        "scores": np.array([0.5, 2.0, 1.25]),
        "errors": np.array([0.1, np.nan, 0.3]),
        "intercept": np.array([0.5]),
        "classes": ("ham", "spam"),
        "n_examples": 20_000,
        "n_features": 1_048_576,
        "params": {
            "seed": 3,
            "memory": "16MB",
            "command": "shortlist select a.svm -k 3",
        },
        "trace": {
            "rows": np.array([1000, 2000, 3000]),
            "loss": np.array([0.7, 0.5, np.nan]),
            "accuracy": np.array([0.5, 0.75, 0.8]),
        },
        "notes": ("one <pass>",),
        "version": "0.0.1",
    }
    return Shortlist(**(values | changes))


def several_classes():
    """A budget for each class; a feature in two of them."""
    return shortlist(
        loss="softmax",
        k=2,
        budget="per_class",
        ids=np.array([3, 7, 3, 9], np.uint64),
        names=("price", "size", "price", "age"),
        margin=np.array([1, 1, 0, 2]),
        weights=np.array([-0.5, 2.0, 1.25, 1.0]),
        scores=np.array([0.5, 2.0, 1.25, 1.0]),
        errors=None,
        intercept=np.array([0.0, 1.0, -1.0]),
        classes=("a", "b", NASTY),
    )


def path():
    """A path of three sizes, in which a feature leaves again."""
    return shortlist(
        method="foba",
        room="table",
        loss="squared",
        errors=None,
        classes=None,
        params={"objective": 0.25, "overshoot": 0.2},
        trace={
            "path_sizes": np.array([1, 2, 3]),
            "path_objective": np.array([1.0, 0.5, 0.25]),
            "path_ends": np.array([1, 3, 6]),
            "path_ids": np.array([11, 7, 3, 7, 3, 2**64 - 1], np.uint64),
            "path_margin": np.zeros(6, np.int64),
            "path_weights": np.array([3, 2.5, 1.5, 2, 1.25, -0.5], np.float32),
            "left_ids": np.array([11], np.uint64),
            "left_names": np.array(["early <b>bird</b>"]),
            "cv_sizes": np.array([1, 2, 3]),
            "cv_loss": np.array([1.1, 0.7, 0.6]),
            "cv_error": np.array([0.1, 0.1, 0.1]),
        },
    )


def members():
    """Who was a member when."""
    return shortlist(
        method="barda",
        room="rows",
        loss="squared_hinge",
        params={"eta": 0.3},
        trace={
            "rows": np.array([500]),
            "loss": np.array([0.7]),
            "stay_ids": np.array([7, 11, 3, 7, 12], np.uint64),
            "stay_margin": np.zeros(5, np.int64),
            "stay_entered": np.array([0, 0, 40, 300, 10]),
            "stay_left": np.array([100, 40, 500, 500, 12]),
            "stays_forgotten": np.array([4]),
            "left_ids": np.array([11], np.uint64),
            "left_names": np.array([NASTY]),
        },
    )


def exchanges():
    """What came in, and what left for it."""
    return shortlist(
        method="online_substitution",
        room="columns",
        errors=None,
        params={"passes": 2, "objective": 0.1},
        trace={
            "entered": np.array(["price", NASTY]),
            "left": np.array(["", "price"]),
            "arrival": np.array([1, 9]),
            "pass": np.array([1, 2]),
            "entered_in_pass": np.array([1, 1]),
            "loss": np.array([0.5, 0.25]),
        },
    )


def scores_only():
    """No model: scores, some below 0, and nothing else."""
    return shortlist(
        method="relieff",
        room="table",
        weights=None,
        errors=None,
        scores=np.array([-0.5, 2.0, 1.25]),
        trace={},
    )


def outputs():
    """Two numbers to predict, under one budget."""
    return shortlist(
        loss="squared_vector",
        ids=np.array([3, 7, 3, 7], np.uint64),
        names=("price", "size", "price", "size"),
        margin=np.array([0, 0, 1, 1]),
        weights=np.array([1.0, 2.0, -3.0, 4.0]),
        scores=np.array([1.0, 2.0, 3.0, 4.0]),
        errors=None,
        intercept=np.zeros(2),
        classes=None,
        trace={"objective": np.array([3.0, 2.0, 1.0])},
    )


def nothing():
    """An empty list, by somebody else's method."""
    return shortlist(
        method="mine <i>",
        room="elsewhere",
        loss="My<Loss>(0.5)",
        ids=np.empty(0, np.uint64),
        names=(),
        margin=np.empty(0, np.int64),
        weights=np.empty(0),
        scores=np.empty(0),
        errors=None,
        params={},
        trace={},
        notes=(),
        n_features=None,
    )


def with_stability():
    """Shares of resamples, of two features of three."""
    return shortlist(
        trace={
            "stability": np.array([0.98, 0.5]),
            "stability_ids": np.array([7, 3], np.uint64),
        }
    )


def with_second_look():
    """Shares of halves with bounds, others that halves chose, and substitutes."""
    facts = {
        "pairs": 12,
        "asked": 50,
        "mean_chosen": 3.0,
        "features": 90,
        "threshold": 0.75,
        "stable": 1,
        "worst_case": 0.2,
        "unimodal": 0.11,
    }
    return shortlist(
        params={"stability": facts},
        trace={
            "stability": np.array([0.98, 0.5, 0.4]),
            "stability_ids": np.array([7, 3, 99], np.uint64),
            "stability_names": np.array(["seven", "three", "<b>other"]),
            "substitute_of": np.array([7, 7], np.uint64),
            "substitute_ids": np.array([99, 98], np.uint64),
            "substitute_names": np.array(["<b>other", "ninety-eight"]),
            "substitute_kept": np.array([0.9, 0.6]),
            "substitute_increase": np.array([0.01, np.inf]),
        },
    )


def without_substitutes():
    """Substitutes were looked for, and there are none."""
    texts = {"substitute_names": np.array([], np.str_)}
    numbers = dict.fromkeys(("substitute_kept", "substitute_increase"), np.array([]))
    ids = dict.fromkeys(("substitute_of", "substitute_ids"), np.array([], np.uint64))
    return shortlist(trace={**ids, **texts, **numbers})


def many(n=10_000):
    """As many features as a report should still open with at once."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=n)
    return shortlist(
        k=n,
        ids=rng.permutation(2**63 // n * np.arange(n, dtype=np.uint64)),
        names=tuple(f"namespace^feature number {i}" for i in range(n)),
        margin=np.zeros(n, np.int64),
        weights=weights,
        scores=np.abs(weights) * 10,
        errors=rng.uniform(0.01, 0.1, n),
    )


SAMPLES = {
    "binary": shortlist,
    "several_classes": several_classes,
    "path": path,
    "members": members,
    "exchanges": exchanges,
    "scores_only": scores_only,
    "outputs": outputs,
    "nothing": nothing,
    "with_stability": with_stability,
    "with_second_look": with_second_look,
    "without_substitutes": without_substitutes,
}
