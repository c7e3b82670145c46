"""Figures 2 and 3, and how cost grows, from the results that other scripts have written.

    python -m papers.gsr.figures [--results FOLDER]

Draws ``outliers.png`` (Figure 2), ``accuracy.png`` (Figure 3) and ``growth.png`` beside the
results they are made of; those whose results are missing are left out. Needs matplotlib.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from papers.gsr.accuracy import SIZES
from papers.results import read_lines

RESULTS = Path(__file__).parent / "results"
#: As they are drawn: label, colour and line of each method.
METHODS = {
    "gsr_p1": ("GSR-FS p=1", "tab:red", ":"),
    "gsr_p75": ("GSR-FS p=.75", "tab:red", "-."),
    "gsr": ("GSR-FS p=.5", "tab:red", "-"),
    "gsr_p25": ("GSR-FS p=.25", "tab:red", "--"),
    "rk1u": ("RK1U p=.5", "tab:orange", "-"),
    "mtfs": ("MTFS", "tab:olive", "-"),
    "rfs": ("RFS", "tab:green", "-"),
    "erfs": ("E-RFS p=.5", "tab:cyan", "-"),
    "mrmr": ("mRMR", "tab:blue", "-"),
    "relieff": ("ReliefF", "tab:purple", "-"),
    "rfe": ("RFE", "tab:gray", "-"),
}
EXPONENTS = ("r=2.0", "r=1.0", "r=0.5", "r=auto")


def grouped(rows, *keys):
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def outliers(plt, rows):
    """Errors against the share of rows with the wrong sign, a bar for each r."""
    figure, axes = plt.subplots(figsize=(6, 3.5))
    groups = grouped(rows, "method", "share")
    shares = sorted({row["share"] for row in rows}, key=float)
    for i, method in enumerate(EXPONENTS):
        errors = [
            [float(row["rmse"]) for row in groups[method, share]] for share in shares
        ]
        place = np.arange(len(shares)) + (i - 1.5) * 0.2
        label = method.replace(".0", "")
        spread = np.array([np.std(error) for error in errors])
        axes.bar(place, [np.mean(e) for e in errors], 0.18, yerr=spread, label=label)
    noise = np.sqrt(0.5)
    axes.axhline(noise, color="black", linewidth=0.8, linestyle="--", label="noise")
    axes.set_xticks(range(len(shares)), [f"{100 * float(s):g} %" for s in shares])
    axes.set_xlabel("rows with the wrong sign")
    axes.set_ylabel("RMSE on new rows")
    axes.legend(frameon=False)
    return figure


def accuracy(plt, rows):
    """Accuracy against the number of features, a panel for each set."""
    groups = grouped(rows, "set", "method")
    names = list(dict.fromkeys(row["set"] for row in rows))
    n_lines = -(-len(names) // 2)
    figure, panels = plt.subplots(
        n_lines, 2, figsize=(10, 3.8 * n_lines), squeeze=False, sharex=True
    )
    for axes in panels.ravel()[len(names) :]:
        axes.set_visible(False)
    for axes, name in zip(panels.ravel(), names, strict=False):
        trials = []
        for method, (label, color, line) in METHODS.items():
            group = groups.get((name, method), [])
            if group:
                means = [
                    np.mean([100 * float(g[f"top{k}"]) for g in group]) for k in SIZES
                ]
                axes.plot(SIZES, means, line, color=color, label=label, linewidth=1.3)
                trials.append(len(group))
        fewest, most = min(trials), max(trials)
        told = f"{most}" if fewest == most else f"{fewest} to {most}"
        axes.set_title(f"{name} ({told} trial{'s' * (most > 1)})", fontsize=10)
        axes.set_ylabel("accuracy, %")
        axes.set_xlabel("features")
        axes.grid(alpha=0.3)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def growth(plt, rows):
    """Seconds against features and against samples, on log scales."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    size_of = {"features": "features", "samples": "rows"}
    other = {"features": "rows", "samples": "features"}
    for axes, along in zip(panels, size_of, strict=True):
        mine = [row for row in rows if row["along"] == along]
        for r, marker in (("2.0", "o"), ("auto", "s")):
            line = [row for row in mine if row["r"] == r]
            sizes = np.array([float(row[size_of[along]]) for row in line])
            seconds = np.array([float(row["seconds"]) for row in line])
            axes.loglog(sizes, seconds, marker=marker, label=f"r={r.replace('.0', '')}")
        least = min(float(row["seconds"]) for row in mine)
        axes.loglog(sizes, least * sizes / sizes[0], "k:", label="proportional")
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes], fontsize=8)
        axes.minorticks_off()
        axes.set_xlabel(f"{along} ({mine[0][other[along]]} {other[along]}, 10 classes)")
        axes.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("CPU seconds of a fit")
    panels[0].legend(frameon=False)
    return figure


FIGURES = {
    "outliers": (outliers, "outliers.csv"),
    "accuracy": (accuracy, "accuracy.csv"),
    "growth": (growth, "growth.csv"),
}


def main():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    folder = parser.parse_args().results
    plt.rcParams["figure.constrained_layout.use"] = True
    for name, (draw, file) in FIGURES.items():
        rows = read_lines(folder / file)
        if not rows:
            print(f"{name}: left out, no {file}")
            continue
        draw(plt, rows).savefig(folder / f"{name}.png", dpi=110)
        print(f"{name}: {len(rows)} lines of {file}")


if __name__ == "__main__":
    main()
