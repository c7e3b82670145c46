"""Whether ``select`` picks well: its own choice of a method against all of ``compare``.

    python -m benchmarks.front_door [--data colon ...] [--repeats 1]

Run it from the project's root. In each fold every method chooses from the rows to learn
from, with its own settings, and one judge says how well the chosen columns predict the
others, as in ``shortlist compare``. ``select`` is given the rows to learn from, and picks a
method by their kind and size, then by its trial on parts of them; the score of that method
in that fold is its score. It is within one standard error on a set if it is so at most
budgets; "all" is the mean over budgets.

Whoever changes the order of methods in ``shortlist.front`` should look at the sets in
``DEVELOP`` only; those in ``JUDGE`` say how good it is. The Parquet file of columns is
MNIST's 4 against 9, written to a file and read back, as ``select`` would.

``seconds`` are CPU seconds of choosing in a fold, ``total`` those of the whole comparison,
kernels that had to be compiled included.

A line for each fold goes to ``results/front_door.csv``, and one for each score of a trial,
in the order in which methods are preferred, to ``results/front_door_trials.csv``. What is
there is not measured again (--repeats 0 only prints): what ``select`` makes of the scores
of a trial is asked of it anew each time, and goes to ``results/front_door_picks.csv``.
"""

import argparse
import csv
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.data import Missing, load

RESULTS = Path(__file__).parent / "results" / "front_door.csv"
TRIALS = RESULTS.with_name("front_door_trials.csv")
PICKS = RESULTS.with_name("front_door_picks.csv")
TRIAL_FIELDS = (
    "data",
    "repeat",
    "fold",
    "k",
    "by_rule",
    "method",
    "part",
    "score",
    "seconds",
)
FIELDS = (
    "data",
    "repeat",
    "method",
    "k",
    "fold",
    "metric",
    "score",
    "seconds",
    "total",
)
KS = (5, 10, 20, 50, 100)
DEVELOP = (
    "leukemia", "prostate_ge", "arcene", "rcv1_small", "basehock", "madelon", "semeion",
    "farm_ads", "a9a", "news20_multiclass",
)  # fmt: skip
#: By the kind of data; by the largest mean of a trial; by what ``select`` makes of it.
WAYS = ("by_rule", "largest", "picked")
JUDGE = ("colon", "dexter", "newsgroups20", "parquet")


def table_of(name):
    """X and y of a set."""
    if name != "parquet":
        return load(name)
    import pyarrow as pa
    import pyarrow.parquet as pq

    from shortlist.sources import open_source
    from shortlist.table._gather import gather

    X, y = load("mnist_4v9")
    names = [f"p{j}" for j in range(X.shape[1])]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pixels.parquet"
        columns = {name: X[:, j] for j, name in enumerate(names)}
        pq.write_table(pa.table({**columns, "y": y}), path)
        source = open_source(path, target="y")
        table = gather(list(source.blocks()), source.n_features)
        return table.X.toarray(), table.y


def measure(name, repeat):
    """Lines of one comparison."""
    from shortlist import compare

    X, y = table_of(name)
    begun = time.process_time()
    cv = 5 if len(y) < 5000 else 3
    done = compare(X, y, ks=KS, cv=cv, seed=repeat)
    total = time.process_time() - begun
    for method, reason in done.left_out.items():
        print(f"{name}: left out {method}: {reason}", flush=True)
    for r in done.results:
        score = r.metrics[done.main_metric]
        facts = (name, repeat, r.method, r.k, r.fold, done.main_metric)
        yield (*facts, f"{score:.6f}", f"{r.seconds:.3f}", f"{total:.1f}")


def trials(name, repeat):
    """Lines of what methods score in the trial of ``select`` in each fold."""
    from shortlist._splits import folds
    from shortlist.evaluate._compare import are_classes

    X, y = table_of(name)
    cv = 5 if len(y) < 5000 else 3
    pairs = folds(y, cv, None, classes=are_classes(y), seed=repeat)
    for fold, (train, _) in enumerate(pairs):
        begun = time.process_time()
        by_rule, standings = trial(X[train], y[train], KS, repeat)
        seconds = f"{time.process_time() - begun:.1f}"
        for place, k in enumerate(KS):
            for method, scores in standings.scores.items():
                for part, score in enumerate(scores[:, place]):
                    facts = (name, repeat, fold, k, by_rule[k], method, part)
                    yield (*facts, f"{score:.6f}", seconds)


def trial(X, y, ks, seed):
    """What ``select`` would pick at each budget by rule, and how its trial ends.

    Those that it tries at the largest budget are tried at all: others are not in the
    comparison, as they would take too long there. So one trial is enough.
    """
    from shortlist._registry import selector
    from shortlist.evaluate._compare import are_classes
    from shortlist.evaluate._examples import Examples
    from shortlist.front._choice import choose
    from shortlist.front._facts import facts_of_rows
    from shortlist.front._order import Order, chooser
    from shortlist.front._trial import Standings, try_methods
    from shortlist.sources import ArraySource

    source, classes = ArraySource(X, y), are_classes(y)
    choices = {k: choose(facts_of_rows(source, k=k)) for k in ks}
    by_rule = {k: choice.method for k, choice in choices.items()}
    names = source.names(np.arange(X.shape[1]))
    rivals = choices[max(ks)].rivals
    contestants = {m: chooser(Order(selector(m), seed=seed), names) for m in rivals}
    examples = Examples(X, y)
    done = try_methods(contestants, examples, ks, classes=classes, seed=seed)
    if done is None:  # one method, or too few rows: the first is it
        done = Standings("none", {by_rule[max(ks)]: np.full((1, len(ks)), np.nan)})
    return by_rule, done


def kept(path):
    """Lines measured so far."""
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def add(path, fields, lines):
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(fields)
        writer.writerows(lines)


def run(names, repeats):
    """Measure what is not there yet."""
    tasks = ((RESULTS, FIELDS, measure), (TRIALS, TRIAL_FIELDS, trials))
    for repeat in range(repeats):
        for name in names:
            for path, fields, task in tasks:
                known = {(line["data"], int(line["repeat"])) for line in kept(path)}
                if (name, repeat) in known:
                    continue
                try:
                    lines = list(task(name, repeat))
                except Missing as error:
                    print(error)
                    continue
                add(path, fields, lines)
                print(f"{name}: {task.__name__}, {len(lines)} lines", flush=True)


def picks(lines):
    """What ``select`` makes of the scores of its trials: a line a fold and budget."""
    from shortlist.front._trial import Standings

    keys = ["data", "repeat", "fold", "k"]
    for place, part in lines.groupby(keys, sort=False):
        scores = {
            method: own["score"].to_numpy()[:, None]
            for method, own in part.groupby("method", sort=False)
        }
        standings = Standings("", scores)
        means = standings.means()
        facts = dict(zip(keys, place, strict=True))
        rest = part.iloc[0]
        yield {
            **facts,
            "by_rule": rest["by_rule"],
            "largest": max(means, key=means.__getitem__),
            "picked": standings.best,
            "seconds": rest["seconds"],
        }


def show(names):
    """For each set and budget: the pick, the best, and whether one error lies between."""
    import pandas as pd

    kinds = {"k": int, "fold": int, "score": float, "total": float}
    frame = pd.DataFrame(kept(RESULTS)).astype(kinds)
    kinds = {"k": int, "fold": int, "score": float, "seconds": float}
    chosen = pd.DataFrame(picks(pd.DataFrame(kept(TRIALS)).astype(kinds)))
    chosen.to_csv(PICKS, index=False, lineterminator="\n")
    print(
        "| data | k | by rule | picked | scores: by rule | largest mean | picked | best "
        "| its score | error | within |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    overall = {}
    for name in names:
        part, own = (table[table["data"] == name] for table in (frame, chosen))
        if part.empty or own.empty:
            continue
        keys = ["repeat", "fold", "k"]
        wide = part.pivot(index=keys, columns="method", values="score")
        own = own.set_index(keys).loc[wide.index]
        for way in WAYS:
            wide[way] = [
                wide[method].get(place, float("nan"))
                if method in wide
                else float("nan")
                for place, method in own[way].items()
            ]
        for k in (*KS, "all"):
            here = wide if k == "all" else wide[wide.index.get_level_values("k") == k]
            here = here.groupby(level=["repeat", "fold"]).mean()
            mean, error = here.mean(), here.sem()
            best = mean.drop(list(WAYS)).idxmax()
            within = mean["picked"] >= mean[best] - error[best]
            if k == "all":
                overall[name] = mean[list(WAYS)]
            mine = own if k == "all" else own[own.index.get_level_values("k") == k]
            names_of = [
                ", ".join(mine[way].value_counts().index)
                for way in ("by_rule", "picked")
            ]
            scores = [f"{mean[way]:.3f}" for way in WAYS]
            others = [best, f"{mean[best]:.3f}", f"{error[best]:.3f}"]
            cells = [name, k, *names_of, *scores, *others, "yes" if within else "no"]
            print(f"| {' | '.join(map(str, cells))} |")
        print(
            f"\n{name}: {part['total'].iloc[0]:.0f} CPU seconds in all, "
            f"{own['seconds'].mean():.0f} for trials of all budgets in a fold\n"
        )
    for title, part in (("to develop on", DEVELOP), ("to judge by", JUDGE)):
        sets = [overall[name] for name in part if name in overall]
        if sets:
            means = pd.concat(sets, axis=1).mean(axis=1)
            told = ", ".join(f"{way} {means[way]:.4f}" for way in WAYS)
            print(f"mean over {len(sets)} sets {title}: {told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="*", default=(*DEVELOP, *JUDGE))
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    run(asked.data, asked.repeats)
    show(asked.data)


if __name__ == "__main__":
    main()
