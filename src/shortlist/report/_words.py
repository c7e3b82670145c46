"""Rooms, losses and settings in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shortlist._in_words import spelled

ROOMS = {
    "table": "The whole table was at hand.",
    "columns": "Features came one by one.",
    "rows": "Examples came one by one; there were numbers for every feature.",
    "sketch": "Examples came one by one; features were held in a sketch of fixed size.",
}

LOSSES = {
    "squared": "squared error",
    "logistic": "logistic loss",
    "softmax": "softmax loss, all classes at once",
    "hinge": "hinge loss",
    "squared_hinge": "squared hinge loss",
    "huber": "Huber loss, which large errors upset less",
    "poisson": "Poisson loss, for counts",
    "epsilon_insensitive": "errors beyond a tolerance",
    "squared_vector": "squared error, all outputs at once",
    "ChainCRF": "likelihood of a linear-chain CRF",
}

#: What settings mean, by name; some have another meaning in a room.
SETTINGS = {
    "backward": "whether features that have become dispensable leave again",
    "batch": "examples a batch",
    "bins": "bins that numbers are divided into",
    "class_weight": "weight of each class",
    "criterion": "what the next feature is chosen by",
    "delta": "least gain of a step",
    "doubt": "Wald score below which weights are made smaller",
    "drop": "when a vanishing feature is dropped",
    "epsilon": "least gradient of a step",
    "eta": "step size",
    "exchange": "how features are exchanged",
    "forget": "examples after which the past counts less",
    "gamma": "fading of what is not among the best",
    "interactions": "products of features to choose from",
    "intercept": "what stands for no features",
    "l2": "ridge penalty",
    "lam": "penalty",
    "lazy": "whether the best are updated lazily",
    "log1p": "whether values are log(1 + x)",
    "m": "steps an arrival",
    "max_iter": "most iterations",
    "memory": "memory for weights",
    "n_neighbors": "neighbours of a row that are looked at",
    "n_samples": "rows that are compared with others",
    "n_workers": "workers",
    "normalize": "how each row is scaled",
    "overshoot": "share of features beyond k to go up to before coming down",
    "p": "exponent of the penalty",
    "passes": "times the data are gone through",
    "r": "exponent of the loss",
    "recipe": "variant of the method",
    "redundancy": "measure of redundancy",
    "refit": "whether weights are fitted anew to what was chosen",
    "relevance": "measure of relevance",
    "rows": "rows of the sketch",
    "scale": "units of the features",
    "scheme": "how relevance and redundancy are set off",
    "search_l2": "ridge penalty while features are chosen",
    "seed": "seed of all that is random",
    "sketch": "how weights are held",
    "smoothing": "smoothing of the penalty at 0",
    "standardize": "whether columns are standardised",
    "step": "rule of step sizes",
    "step_size": "step size",
    "table": "how the table was read",
    "tol": "change at which to stop",
    "truncation": "rule that cuts to k",
    "unit": "what the budget counts",
    "direction": "whether sensors are added or taken away",
}
SETTINGS_IN = {
    ("rows", "delta"): "start of the sums that steps are divided by",
    ("columns", "delta"): "start of the sums that steps are divided by",
}

#: Parameters that are told elsewhere, or are no settings.
NO_SETTINGS = {
    "k",
    "call",
    "chosen_sensors",
    "command",
    "data",
    "direct_command",
    "holdout",
    "k_auto",
    "name_collision_probability",
    "objective",
    "picked",
    "stability",
}


def settings(room: str, params: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """Settings of a method: their names, values as text and meanings if known."""
    return [
        {
            "name": name,
            "value": spelled(value),
            "meaning": SETTINGS_IN.get((room, name), SETTINGS.get(name)),
        }
        for name, value in params.items()
        if name not in NO_SETTINGS
    ]


def loss_in_words(loss: str) -> str:
    """Name a loss, which may have parameters after colons, for people.

    Examples
    --------
    >>> loss_in_words("huber:1.5")
    'Huber loss, which large errors upset less (1.5)'
    """
    name, *numbers = loss.split(":")
    return LOSSES.get(name, name) + (f" ({', '.join(numbers)})" if numbers else "")
