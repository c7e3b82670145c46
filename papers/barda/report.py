"""Tables and figures from the results that the other scripts have written.

    python -m papers.barda.report

Prints the tables of README.md as Markdown and draws ``results/*.png``, of whatever results
there are.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
from papers.barda import bounds
from papers.barda.methods import NAMES
from papers.results import report_all

RESULTS = Path(__file__).parent / "results"
TUNED_ANEW = {"ofs_own": "OFS, tuned at each k", "sofs_own": "SOFS, tuned at each k"}
COLOURS = {method: f"C{place}" for place, method in enumerate(NAMES)}
WITHOUT_BUDGET = ("l1arda", "adafobos")


def figure(n, **options):
    """Axes side by side."""
    import matplotlib.pyplot as plt

    made, axes = plt.subplots(
        1, n, figsize=(3.7 * n, 3.6), layout="tight", squeeze=False, **options
    )
    return made, axes[0]


def gathered(rows, fact):
    """Values of a fact over orders of the rows, by set, method and k."""
    values = defaultdict(list)
    for row in rows:
        if row[fact]:
            key = (row["set"], row["method"], int(row["k"]))
            values[key].append(100 * float(row[fact]))
    return values


def accuracy(rows, picture):
    """Figures 1 to 3, as tables and as curves."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    tables(rows, sets)
    methods = [m for m in NAMES if m not in WITHOUT_BUDGET]
    for part, fits in (("small", lambda k: k <= 200), ("large", lambda k: k >= 200)):
        made, axes = figure(len(sets))
        for axis, name in zip(axes, sets, strict=True):
            for method in methods:
                values = gathered(rows, "online")
                sizes = sorted(k for s, m, k in values if (s, m) == (name, method))
                curve = [
                    (k, np.mean(values[name, method, k])) for k in sizes if fits(k)
                ]
                _draw(axis, curve, method)
            _finish(axis, name)
        _name_lines(axes)
        made.savefig(picture.with_stem(f"accuracy_{part}"), dpi=130)
    made, axes = figure(len(sets))
    for axis, name in zip(axes, sets, strict=True):
        here = [row for row in rows if row["set"] == name]
        for method in ("barda", "bamd", *WITHOUT_BUDGET):
            _draw(axis, by_features(here, method), method)
        _finish(axis, name)
    _name_lines(axes)
    made.savefig(picture.with_stem("accuracy_l1"), dpi=130)


def by_features(rows, method):
    """Mean number of features and accuracy, for each budget or penalty, up to 300."""
    groups = defaultdict(list)
    for row in rows:
        if row["method"] == method:
            pair = (float(row["features"]), 100 * float(row["online"]))
            groups[row["k"], row["lam"]].append(pair)
    points = sorted(tuple(np.mean(pairs, axis=0)) for pairs in groups.values())
    return [point for point in points if 1 <= point[0] <= 300]


def _draw(axis, curve, method):
    if curve:
        x, y = zip(*curve, strict=True)
        style = "--" if method.endswith("naive") else "-"
        width = 2.5 if method in ("barda", "default") else 1.2
        axis.plot(
            x,
            y,
            f"o{style}",
            ms=3,
            lw=width,
            color=COLOURS[method],
            label=NAMES[method],
        )


def _name_lines(axes):
    """One legend of whatever lines any of the axes has."""
    lines = {line.get_label(): line for axis in axes for line in axis.get_lines()}
    axes[0].legend(lines.values(), lines.keys(), fontsize=6, loc="lower right")


def _finish(axis, name):
    axis.set_title(name, fontsize=9)
    axis.set_xlabel("features")
    axis.set_ylabel("test accuracy, %")
    axis.set_xscale("log")
    axis.xaxis.set_minor_formatter("")  # numbers would lie on each other
    axis.grid(alpha=0.3)


def tables(rows, sets):
    """A table a set: weights of the stream, then those fitted again."""
    names = NAMES | TUNED_ANEW
    for name in sets:
        online, refit = gathered(rows, "online"), gathered(rows, "refit")
        sizes = sorted({k for s, _, k in online if s == name and k})
        print(f"\n{name}: weights of the stream / fitted again, mean of the orders\n")
        print("| method | orders | " + " | ".join(map(str, sizes)) + " |")
        print("|---|---|" + "---|" * len(sizes))
        for method in names:
            cells, orders = [], set()
            for k in sizes:
                here, again = online[name, method, k], refit[name, method, k]
                orders |= {len(here)} if here else set()
                text = f"{np.mean(here):.1f}" if here else ""
                cells.append(text + (f" / {np.mean(again):.1f}" if again else ""))
            if orders:
                counts = " to ".join(map(str, sorted({min(orders), max(orders)})))
                print(f"| {names[method]} | {counts} | {' | '.join(cells)} |")


def drift(rows, picture):
    """Error before the change, after it, and how long it stays two points above."""
    series = defaultdict(lambda: defaultdict(list))
    for row in rows:
        series[row["method"]][int(row["rows"])].append(float(row["error"]))
    made, (axis,) = figure(1)
    made.set_size_inches(7.5, 4.0)
    print("| method | error before | just after | in the end | back after |")
    print("|---|---|---|---|---|")
    for method, errors in series.items():
        ends = np.array(sorted(errors))
        mean = np.array([np.mean(errors[end]) for end in ends])
        half = ends[-1] // 2
        before = mean[(ends <= half) & (ends > half - 5000)].mean()
        back = ends[(ends > half) & (mean <= before + 0.02)]
        text = f"{back[0] - half:,} rows" if len(back) else "not within the stream"
        after = mean[ends > half]
        end = after[-5:].mean()
        print(f"| {method} | {before:.3f} | {after[0]:.3f} | {end:.3f} | {text} |")
        style = "-" if method.startswith("B-ARDA") else "--"
        axis.plot(ends, mean, style, label=method, lw=1.5)
    axis.axvline(half, color="grey", lw=0.8)
    axis.set_xlabel("examples")
    axis.set_ylabel("progressive error, windows of 1000")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, ncols=2)
    made.savefig(picture, dpi=130)


def multiclass(rows, picture):
    """Softmax against one class against the rest."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    values = defaultdict(list)
    for row in rows:
        key = (row["set"], int(row["passes"]), int(row["k"]), row["method"])
        values[key].append(
            (float(row["refit"]), float(row["online"]), int(row["distinct"]))
        )
    methods = list(dict.fromkeys(row["method"] for row in rows))
    print("| set | passes | k a class | orders | " + " | ".join(methods) + " |")
    print("|---|---|---|---|" + "---|" * len(methods))
    made, axes = figure(len(sets))
    for axis, name in zip(axes, sets, strict=True):
        for key in sorted({key[:3] for key in values if key[0] == name}):
            means = [np.mean(values[*key, m], axis=0) for m in methods]
            cells = [f"{100 * o:.1f} / {100 * r:.1f} ({d:.0f})" for r, o, d in means]
            print(
                f"| {' | '.join(map(str, key))} | {len(values[*key, methods[0]])} | ",
                end="",
            )
            print(" | ".join(cells) + " |")
        for colour, method in enumerate(methods):
            sizes = sorted({key[2] for key in values if key[0] == name})
            for place, style in ((0, "o-"), (1, "o:")):
                y = [
                    100 * np.mean(values[name, 1, k, method], axis=0)[place]
                    for k in sizes
                ]
                label = f"{method}, {'fitted again' if place == 0 else 'of the stream'}"
                axis.plot(sizes, y, style, ms=3, color=f"C{colour}", label=label)
        _finish(axis, name)
        axis.set_xlabel("features a class")
        axis.set_xscale("linear")
    axes[0].legend(fontsize=6)
    made.savefig(picture, dpi=130)


REPORTS = {
    "accuracy.csv": accuracy,
    "regret.csv": bounds.report,
    "drift.csv": drift,
    "multiclass.csv": multiclass,
}


def main():
    """Report whatever results there are."""
    report_all(REPORTS, __doc__.splitlines()[0], RESULTS)


if __name__ == "__main__":
    main()
