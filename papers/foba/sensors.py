"""The sensor study: errors against the number of sensors, for chains of activities.

    python -m papers.foba.sensors [--quick] [--houses kasteren_houseA] [--methods foba]

Houses are recordings in minutes, observed by "has just changed" and "was the last to
change" of each sensor; minutes without a label are left out, as if the rest followed each
other. Days take turns in five folds. Weights have the ridge 1e-4 a step throughout.

- ``foba``, ``forward``: single weights of a column for an activity, as in the paper, with
  and without backward steps (FoBa-gdt-CRF, Forward-gdt-CRF)
- ``group``, ``eliminate``: whole sensors, by FoBa and by elimination from all
- ``l1``, ``l1_refit``: CRFsuite with an L1 penalty, as it is and with the weights of its
  support fitted again (python-crfsuite)

Writes ``results/sensors.csv``: a line a house, method, fold and size, with the steps that
are wrong and all steps by activity. ``papers.foba.sensors_report`` reads it.
"""

import argparse
import os
import tempfile
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
METHODS = ("group", "eliminate", "foba", "forward", "l1")
KEYS = ("house", "method", "fold", "size")
FACTS = ("sensors", "features", "objective", "counts", "names")
FOLDS, RIDGE = 5, 1e-4
PENALTIES = np.geomspace(3000.0, 0.5, 20)  #: c1 of CRFsuite, of the sum over steps


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
    """Models by size, with what the ledger says of them."""
    objective = train.objective()
    fits = SensorSearch(k, unit, direction).run(objective, train.sensor_of)
    for size, fit in fits.items():
        chosen = sensors_of(fit, objective.n_labels, train.sensor_of)
        yield size, objective.model(fit), chosen, len(fit.support), fit.value


def l1_models(train, penalties):
    """Models of CRFsuite, as they are and fitted again, for each penalty."""
    objective, start = train.objective(), None
    for place, penalty in enumerate(penalties):
        raw = crfsuite_model(train, penalty)
        support = np.flatnonzero(raw.weights.ravel())
        chosen = np.unique(train.sensor_of[support // objective.n_labels])
        yield "l1", place, raw, chosen, len(support), np.nan
        start = objective.refit(support, start)
        model = objective.model(start)
        yield "l1_refit", place, model, chosen, len(support), start.value


def crfsuite_model(train, penalty):
    """Weights of CRFsuite with an L1 penalty; it has no scores of first and last labels."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {
            "c1": float(penalty),
            "c2": RIDGE * len(train.y) / 2.0,  # of the sum over steps, without a half
            "max_iterations": 300,
            "feature.possible_states": True,
            "feature.possible_transitions": True,
        }
    )
    for begin, end in zip(train.bounds[:-1], train.bounds[1:], strict=True):
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
    n_sensors = len(train.sensors)
    if method == "l1":
        yield from l1_models(train, PENALTIES[::9] if quick else PENALTIES)
        return
    unit = "sensor" if method in ("group", "eliminate") else "feature"
    k = min(n_sensors, 20) if unit == "sensor" else (6 if quick else 60)
    directions = {"forward": "forward", "eliminate": "backward"}
    for found in searched(train, unit, directions.get(method, "both"), k):
        yield method, *found


def study(name, recording, methods, folds, ledger, quick):
    days = np.unique(recording.day)
    for fold in range(folds):
        tested = days[np.arange(len(days)) % FOLDS == fold]
        train = recording.days(np.setdiff1d(days, tested))
        test = recording.days(tested)
        for method in methods:
            if (name, method, fold, 0) in ledger:
                continue
            if method == "eliminate" and len(recording.sensors) > 20:
                continue  # a fit of all weights for each of many sensors
            # sizes from the largest, so that what is written last says that all is done
            for found in reversed(list(models(method, train, quick))):
                kind, size, model, chosen, n_features, value = found
                facts = {
                    "sensors": len(chosen),
                    "features": n_features,
                    "objective": value,
                    "counts": counts_of(model, test),
                    "names": "; ".join(recording.sensors[s] for s in chosen),
                }
                ledger.add((name, kind, fold, size), facts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--houses", nargs="+", default=HOUSES)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    asked = parser.parse_args()
    methods = list(asked.methods)
    try:
        import pycrfsuite  # noqa: F401
    except ImportError:
        print("sensors: l1 left out, python-crfsuite is not installed")
        methods = [method for method in methods if method != "l1"]
    if asked.quick:
        print("foba: sensors of a made-up house")
        study("made up", made_up(), methods, 1, Ledger(None, KEYS, FACTS), quick=True)
        return
    ledger = Ledger(RESULTS, KEYS, FACTS)
    for name in asked.houses:
        try:
            recording = recorded(name)
        except Missing as missing:
            print(missing)
            continue
        study(name, recording, methods, FOLDS, ledger, quick=False)


if __name__ == "__main__":
    main()
