"""The six methods as the paper runs them, and B-ARDA with the package's defaults.

Paper: values as they come, 2 d / n passes, delta = .01 (half of that here, where losses
have a factor 1/2), eta and lambda from a grid (see ``tune``). Of each fit two accuracies:
of the weights of the stream, which is what the paper reports, and, up to 200 features, of
weights fitted again on the same ones, which is what the package publishes.
"""

from dataclasses import replace

import numpy as np

from shortlist._scoring import evaluate
from shortlist.engines import run
from shortlist.rows import _methods

NAMES = {
    "barda": "B-ARDA",
    "barda_naive": "B-ARDA, naive truncation",
    "bamd": "B-AMD",
    "bamd_naive": "B-AMD, naive truncation",
    "ofs": "OFS",
    "sofs": "SOFS",
    "l1arda": "l1-ARDA",
    "adafobos": "Ada-Fobos",
    "default": "B-ARDA, package defaults",
}
#: Methods with a budget that are tuned; naive truncation is tuned as its method is.
BUDGETED = ("barda", "bamd", "ofs", "sofs")
DELTA = 0.005
MOST_REFITTED = 200


def learner(method, k, settings, passes):
    """Make an algorithm; ``settings`` are those that were tuned."""
    refit = k <= MOST_REFITTED
    if method == "default":
        return _methods.barda(k, refit=refit)
    name, _, naive = method.partition("_")
    settings = {"passes": passes, "normalize": None, "refit": refit, **settings}
    if name not in ("ofs", "sofs"):
        settings["delta"] = DELTA
    if naive:
        settings["truncation"] = "naive"
    return getattr(_methods, name)(k, **settings)


def of_the_stream(found):
    """The same shortlist with the weights that the stream left."""
    trace = found.trace
    weights = trace["online_weights"]
    return replace(
        found,
        ids=trace["online_ids"],
        names=tuple(map(str, trace["online_ids"].tolist())),
        margin=trace["online_margin"],
        weights=weights,
        scores=np.abs(weights),
        errors=None,
        intercept=trace["online_bias"],
    )


def fitted(method, k, settings, task, seed):
    """A shortlist with weights of the stream, and one with weights fitted again or None."""
    algorithm = learner(method, k, settings, task.passes)
    found = run(algorithm, task.train(seed))
    return of_the_stream(found), found if algorithm.refit else None


def accuracies(shortlists, task):
    """Test accuracy with both kinds of weights, and how many features there are."""
    online, refitted = shortlists
    facts = {
        "online": evaluate(online, task.test).value,
        "features": len(np.unique(online.ids)),
    }
    if refitted is not None:
        facts["refit"] = evaluate(refitted, task.test).value
    return facts
