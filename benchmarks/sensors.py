"""Chains of activities: a value and gradient of ours against one of CRFsuite's.

    python -m benchmarks.sensors [--quick] [--repeats 5] [--check] [--path 20]
    python -m benchmarks.sensors --write tests/objectives/crfsuite_chain.json

On a made-up house of the size in the FoBa paper, 40 sensors that say yes or no, 14
activities, 270,000 minutes. CRFsuite (python-crfsuite) is timed by its own log, the time of
its L-BFGS iterations over the evaluations in them; ours is ``gradient`` at points as random
as those of a search. Both have one thread, take turns, and are given CPU time. ``--check``
compares what the two say with the same weights; ``--path`` times paths of sensors;
``--write`` only keeps what CRFsuite says about a small house, for the tests, which do
without it.
"""

import argparse
import itertools
import json
import os
import tempfile
import time
from importlib.metadata import version

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # after the number of threads is set

from shortlist.objectives import ChainCRF, Fit
from shortlist.objectives.chain_model import unpacked


def make_house(n_steps=270_000, n_sensors=40, n_labels=14, day=1350, seed=0):
    """What sensors say, activities and lengths of days.

    An activity lasts 20 minutes on average. Each has some sensors of its own, which fire in
    six of ten minutes; all fire without reason in one of a hundred.
    """
    rng = np.random.default_rng(seed)
    changes = rng.random(n_steps) < 0.05
    y = rng.integers(0, n_labels, n_steps)[
        np.maximum.accumulate(np.where(changes, np.arange(n_steps), 0))
    ]
    own = rng.random((n_labels, n_sensors)) < 0.15
    X = own[y] & (rng.random((n_steps, n_sensors)) < 0.6)
    X |= rng.random((n_steps, n_sensors)) < 0.01
    lengths = [day] * (n_steps // day) + [n_steps % day] * (n_steps % day > 0)
    return X, y, np.array(lengths)


def said_of(X):
    """Rows as CRFsuite wants them."""
    names = [f"s{j}" for j in range(X.shape[1])]
    return [["bias", *(names[j] for j in np.flatnonzero(row))] for row in X]


def crfsuite_trainer(X, y, lengths, path, iterations):
    """Train CRFsuite, which writes its model to a file."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": 1.0,
            "max_iterations": iterations,
            "feature.possible_states": True,
            "feature.possible_transitions": True,
        }
    )
    begin = 0
    for n in lengths:
        labels = [str(label) for label in y[begin : begin + n]]
        trainer.append(said_of(X[begin : begin + n]), labels)
        begin += n
    trainer.train(path)
    return trainer


def crfsuite_seconds(X, y, lengths, iterations):
    """CPU seconds of CRFsuite for a value and gradient."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        log = crfsuite_trainer(X, y, lengths, path, iterations).logparser.iterations
    trials = [step.get("linesearch_trials", 1) for step in log]
    # its first iteration also evaluates the starting point
    return sum(step["time"] for step in log[1:]) / sum(trials[1:])


def weights_of(info, columns, n_labels):
    """Model of CRFsuite as one of ours; ``columns`` has the column of each attribute."""
    weights = np.zeros((len(columns), n_labels))
    bias, moves = np.zeros(n_labels), np.zeros((n_labels, n_labels))
    for (attribute, label), weight in info.state_features.items():
        if attribute == "bias":
            bias[int(label)] = weight
        else:
            weights[columns[attribute], int(label)] = weight
    for (one, other), weight in info.transitions.items():
        moves[int(one), int(other)] = weight
    nuisance = np.concatenate([bias, np.zeros(2 * n_labels), moves.ravel()])
    return unpacked(weights, nuisance)


def check(house):
    """Print how far CRFsuite and ours lie apart with the same weights."""
    import pycrfsuite

    X, y, lengths = house
    n_labels = int(y.max()) + 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        crfsuite_trainer(X, y, lengths, path, 30)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        columns = {f"s{j}": j for j in range(X.shape[1])}
        model = weights_of(tagger.info(), columns, n_labels)
        same, apart, logs = 0, 0.0, 0.0
        for day, n in enumerate(lengths[:3]):
            begin = sum(lengths[:day])
            rows, labels = X[begin : begin + n].astype(float), y[begin : begin + n]
            bounds = np.array([0, n])
            tagger.set(said_of(rows))
            same += (np.array(tagger.tag(), int) == model.decode(rows, bounds)).sum()
            marginals = model.marginals(rows, bounds)
            for t in range(0, n, 50):
                for label in range(n_labels):
                    gap = abs(tagger.marginal(str(label), t) - marginals[t, label])
                    apart = max(apart, gap)
            theirs = np.log(tagger.probability([str(label) for label in labels]))
            ours = -n * likelihood(model, rows, labels)
            logs = max(logs, abs(theirs - ours))
    print(
        f"same weights: {same} of {sum(lengths[:3])} labels the same, marginals apart by "
        f"{apart:.1e}, log-likelihoods by {logs:.1e}"
    )


def write_small(path):
    """Keep weights of CRFsuite for a small house, and what it says with them."""
    import pycrfsuite

    X, y, lengths = make_house(150, n_sensors=5, n_labels=4, day=60)
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        crfsuite_trainer(X, y, lengths, model, 30)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        columns = {f"s{j}": j for j in range(X.shape[1])}
        chain = weights_of(tagger.info(), columns, 4)
        said = {"tags": [], "marginals": [], "log_likelihoods": []}
        for begin, end in itertools.pairwise([0, *np.cumsum(lengths).tolist()]):
            tagger.set(said_of(X[begin:end]))
            said["tags"] += [int(label) for label in tagger.tag()]
            said["marginals"] += [
                [tagger.marginal(str(label), t) for label in range(4)]
                for t in range(end - begin)
            ]
            truth = [str(label) for label in y[begin:end]]
            said["log_likelihoods"].append(float(np.log(tagger.probability(truth))))
    scores = {"weights": chain.weights, "bias": chain.bias, "moves": chain.transitions}
    kept = {"X": X.astype(int), "y": y, "lengths": lengths} | scores
    facts = {"made by": "python-crfsuite " + version("python-crfsuite")}
    facts |= {name: numbers.tolist() for name, numbers in kept.items()} | said
    with open(path, "w") as out:
        out.write(json.dumps(facts).replace(', "', ',\n"') + "\n")


def likelihood(model, X, y):
    """Mean negative log-likelihood of a step, without the penalty."""
    l2 = 1e-4
    objective = ChainCRF(X, y, n_labels=model.n_labels, l2=l2)
    weights = model.weights.ravel()
    nuisance = np.concatenate(
        [model.bias, model.first, model.last, model.transitions.ravel()]
    )
    fit = Fit(np.arange(len(weights)), weights, nuisance, np.nan)
    return objective.value(fit) - 0.5 * l2 * (weights @ weights + nuisance @ nuisance)


def our_seconds(objective, times):
    """CPU seconds of ours for a value and gradient."""
    rng = np.random.default_rng(0)
    support, L = np.arange(objective.n_coordinates), objective.n_labels
    points = [
        Fit(
            support,
            *(0.3 * rng.normal(size=n) for n in (len(support), L * (L + 3))),
            0.0,
        )
        for _ in range(times + 1)
    ]
    objective.gradient(points.pop())  # compiles, if need be
    begun = time.process_time()
    for point in points:
        objective.gradient(point)
    return (time.process_time() - begun) / times


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--path", type=int, default=0, metavar="K")
    parser.add_argument("--write", metavar="FILE")
    asked = parser.parse_args()
    if asked.write:
        write_small(asked.write)
        return
    house = make_house(2700 if asked.quick else 270_000)
    X, y, lengths = house
    print(f"sensors: {len(y):,} steps, {X.shape[1]} sensors, {y.max() + 1} activities")
    objective = ChainCRF(X.astype(float), y, lengths)
    ratios = []
    for _ in range(1 if asked.quick else asked.repeats):
        ours = our_seconds(objective, 5)
        try:
            theirs = crfsuite_seconds(*house, 10)
        except ImportError:
            print(f"ours {1000 * ours:.1f} ms; CRFsuite is not installed")
            break
        ratios.append(ours / theirs)
        print(
            f"ours {1000 * ours:.1f} ms, CRFsuite {1000 * theirs:.1f} ms, "
            f"ratio {ratios[-1]:.3f}",
            flush=True,
        )
    if ratios:
        low, mid, high = np.quantile(ratios, [0.0, 0.5, 1.0])
        print(f"ratio: median {mid:.3f}, from {low:.3f} to {high:.3f}")
    if asked.check:
        check(make_house(2700, day=270))
    if asked.path:
        time_path(house, asked.path)


def time_path(house, k):
    """Seconds of paths of sensors up to k."""
    from shortlist import SensorSelector

    X, y, lengths = house
    for unit, direction in (("sensor", "both"), ("sensor", "backward")):
        begun = time.process_time()
        selector = SensorSelector(k, unit=unit, direction=direction)
        selector.fit(X, y, lengths=lengths)
        seconds = time.process_time() - begun
        errors = selector.path_[k].train
        print(
            f"path to {k} {unit}s, {direction}: {seconds:.0f} s, error {errors.plain:.3f}, "
            f"macro error {errors.macro:.3f}"
        )


if __name__ == "__main__":
    main()
