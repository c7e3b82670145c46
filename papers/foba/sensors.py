"""The sensor study: errors against the number of sensors, for chains of activities.

    python -m papers.foba.sensors [--quick] [--houses kasteren_houseA] [--methods foba]
                                  [--repeats 5]

Houses are recordings in minutes, observed by "has just changed" and "was the last to
change" of each sensor; minutes without a label are left out, as if the rest followed each
other. Days are dealt to four folds at random, anew in each repeat. Weights have the ridge
1e-4 a step throughout.

- ``foba``, ``forward``: single weights of a column for an activity, as in the paper, with
  and without backward steps (FoBa-gdt-CRF, Forward-gdt-CRF)
- ``group``, ``group_forward``, ``eliminate``: whole sensors, by FoBa, by forward steps
  alone, and by elimination from all
- ``l1``, ``l1_refit``: CRFsuite with an L1 penalty, as it is and with the weights of its
  support fitted again (python-crfsuite). Penalties are tried between those that differ by
  more than a sensor, until every number of sensors that there is has been seen.

Writes ``results/sensors.csv``: a line a house, method, repeat, fold and number of sensors,
for the model with most weights that has so many, with the steps that are wrong and all of
them by activity, and a line with the CPU time of the whole search. What is there is not
run again. ``papers.foba.sensors_report`` reads it.
"""

import argparse
import itertools
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # after the number of threads is set
from benchmarks.data import Missing, house
from benchmarks.sensors import make_house, weights_of
from papers.results import Ledger

from shortlist.objectives import ChainCRF
from shortlist.table._sensor_search import SensorSearch, sensors_of

RESULTS = Path(__file__).parent / "results" / "sensors.csv"
HOUSES = ("kasteren_houseA", "uci_adl_ordonezA", "mit_subject1")
METHODS = {  # unit and direction of a search
    "group": ("sensor", "both"),
    "group_forward": ("sensor", "forward"),
    "eliminate": ("sensor", "backward"),
    "foba": ("feature", "both"),
    "forward": ("feature", "forward"),
    "l1": None,
}
KEYS = ("house", "method", "repeat", "fold", "sensors")
FACTS = ("features", "size", "objective", "counts", "names", "seconds")
DONE = (
    "done"  #: in place of sensors, in the line that says that a search is written whole
)
FOLDS, REPEATS, RIDGE = 4, 5, 1e-4
MOST_SENSORS, MOST_NAMES = 30, 10
#: c1 of CRFsuite, of the sum over steps: the first ones, and the least factor between two
PENALTIES, LEAST_FACTOR = (3000.0, 0.5), 1.02


class Recording:
    """A house, or some days of it."""

    def __init__(self, X, y, day, sensors, activities):
        self.X, self.y, self.day = X, y, day
        self.sensors, self.activities = sensors, activities
        self.sensor_of = np.tile(np.arange(len(sensors)), X.shape[1] // len(sensors))
        self.lengths = np.unique(day, return_counts=True)[1]
        self.bounds = np.concatenate([[0], np.cumsum(self.lengths)])

    def days(self, kept):
        rows = np.isin(self.day, kept)
        parts = (self.X[rows], self.y[rows], self.day[rows])
        return Recording(*parts, self.sensors, self.activities)

    def objective(self):
        return ChainCRF(
            self.X, self.y, self.lengths, l2=RIDGE, n_labels=len(self.activities)
        )


def recorded(name):
    """Labelled minutes of a real house."""
    found = house(name)
    known = found["y"] > 0
    X = np.hstack([found["X_change"], found["X_last"]])[known].astype(float)
    y = found["y"][known].astype(int) - 1
    sensors = [str(sensor) for sensor in found["sensor_names"]]
    return Recording(
        X, y, found["day"][known], sensors, found["activity_names"][1:].tolist()
    )


def made_up():
    """A small house for a try."""
    X, y, lengths = make_house(600, n_sensors=6, n_labels=3, day=60)
    day = np.repeat(np.arange(len(lengths)), lengths)
    return Recording(
        X.astype(float), y, day, [f"s{j}" for j in range(6)], ["a", "b", "c"]
    )


def searched(train, unit, direction, k):
    """Size, model, sensors, number of weights and objective, for each size."""
    objective = train.objective()
    fits = SensorSearch(k, unit, direction).run(objective, train.sensor_of)
    for size, fit in fits.items():
        chosen = sensors_of(fit, objective.n_labels, train.sensor_of)
        yield size, objective.model(fit), chosen, len(fit.support), fit.value


def l1_models(train, quick):
    """Method, penalty, and the rest as above: CRFsuite as it is, and fitted again."""
    objective, start, before = train.objective(), None, None
    for penalty, raw in sorted(l1_path(train, quick).items(), reverse=True):
        support = np.flatnonzero(raw.weights.ravel())
        chosen = sensors_with_weights(raw, train)
        yield "l1", penalty, raw, chosen, len(support), np.nan
        if before is not None and np.array_equal(support, before):
            continue  # fitted already
        start, before = objective.refit(support, start), support
        model = objective.model(start)
        yield "l1_refit", penalty, model, chosen, len(support), start.value


def l1_path(train, quick):
    """Models of CRFsuite by penalty, fine enough for every number of sensors.

    From a penalty that leaves no sensor to a small one; where neighbours differ by more
    than one sensor (by more than a tenth, where there are many), one between them is tried.
    """
    every = len(train.sensors)
    high, low = (30.0, 1.0) if quick else PENALTIES
    models, count = {}, {}

    def solve(penalty):
        models[penalty] = crfsuite_model(train, penalty)
        count[penalty] = len(sensors_with_weights(models[penalty], train))
        return count[penalty]

    while solve(high) and not quick:
        high *= 4.0
    while solve(low) < every and low > 0.1 and not quick:
        low /= 2.0
    gaps = [(min(models), max(models))]
    while gaps:
        small, large = gaps.pop()
        jump = abs(count[small] - count[large])
        if jump <= max(1, min(count[small], count[large]) // 10):
            continue
        if large / small < (3.0 if quick else LEAST_FACTOR):
            continue
        middle = float(np.sqrt(small * large))
        solve(middle)
        gaps += [(small, middle), (middle, large)]
    return models


def sensors_with_weights(model, train):
    return np.unique(train.sensor_of[np.flatnonzero(model.weights.any(axis=1))])


def crfsuite_model(train, penalty):
    """Weights of CRFsuite with an L1 penalty; it has no scores of first and last labels."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {
            "c1": float(penalty),
            "c2": RIDGE * len(train.y) / 2.0,  # of the sum over steps, without a half
            "max_iterations": 300,
            "delta": 1e-7,  # of the objective in ten iterations, not 1e-5
            "feature.possible_states": True,
            "feature.possible_transitions": True,
        }
    )
    for begin, end in itertools.pairwise(train.bounds):
        said = [
            {"bias": 1.0} | {str(j): float(row[j]) for j in np.flatnonzero(row)}
            for row in train.X[begin:end]
        ]
        trainer.append(said, [str(label) for label in train.y[begin:end]])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        info = tagger.info()
    columns = {str(j): j for j in range(train.X.shape[1])}
    return weights_of(info, columns, len(train.activities))


def counts_of(model, test):
    """Wrong and all steps of each activity, as text."""
    wrong = model.decode(test.X, test.bounds) != test.y
    L = len(test.activities)
    pairs = zip(
        np.bincount(test.y, wrong, L).astype(int),
        np.bincount(test.y, minlength=L),
        strict=True,
    )
    return " ".join(f"{bad}/{each}" for bad, each in pairs)


def models(method, train, quick):
    """Yield name, size, model, sensors, number of weights and objective."""
    if method == "l1":
        yield from l1_models(train, quick)
        return
    unit, direction = METHODS[method]
    most = MOST_SENSORS
    if unit == "feature":
        most = 6 if quick else 60 if len(train.sensors) <= 20 else 150
    for found in searched(train, unit, direction, most):
        yield method, *found


def largest(found):
    """For each method and number of sensors the model with most weights."""
    kept = {}
    for each in found:  # of equals the last: of L1 the one that shrinks least
        kind, _, _, chosen, n_features, _ = each
        if n_features >= kept.get((kind, len(chosen)), each)[4]:
            kept[kind, len(chosen)] = each
    return [kept[place] for place in sorted(kept)]


def study(name, recording, methods, repeat, folds, ledger, quick):
    days = np.unique(recording.day)
    turns = np.random.default_rng(repeat).permutation(len(days)) % FOLDS
    for fold, method in itertools.product(range(folds), methods):
        if (name, method, repeat, fold, DONE) in ledger:
            continue
        tested = days[turns == fold]
        train, test = recording.days(np.setdiff1d(days, tested)), recording.days(tested)
        begun = time.process_time()
        found = list(models(method, train, quick))
        seconds = time.process_time() - begun
        for kind, size, model, chosen, n_features, value in largest(found):
            facts = {
                "features": n_features,
                "size": size,
                "objective": value,
                "counts": counts_of(model, test),
                "names": "; ".join(recording.sensors[s] for s in chosen)
                if len(chosen) <= MOST_NAMES
                else "",
            }
            place = (name, kind, repeat, fold, len(chosen))
            if place not in ledger:  # a run may have been cut short while writing
                ledger.add(place, facts)
        ledger.add((name, method, repeat, fold, DONE), {"seconds": seconds})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--houses", nargs="+", default=HOUSES)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    asked = parser.parse_args()
    methods = list(asked.methods)
    try:
        import pycrfsuite  # noqa: F401
    except ImportError:
        print("sensors: l1 left out, python-crfsuite is not installed")
        methods = [method for method in methods if method != "l1"]
    if asked.quick:
        print("foba: sensors of a made-up house")
        ledger = Ledger(None, KEYS, FACTS)
        study("made up", made_up(), methods, 0, 1, ledger, quick=True)
        return
    ledger = Ledger(RESULTS, KEYS, FACTS)
    for repeat, name in itertools.product(range(asked.repeats), asked.houses):
        try:
            recording = recorded(name)
        except Missing as missing:
            print(missing)
            continue
        study(name, recording, methods, repeat, FOLDS, ledger, quick=False)


if __name__ == "__main__":
    main()
