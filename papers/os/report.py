"""Tables and figures from the results that the other scripts have written.

    python -m papers.os.report

Prints the tables of README.md as Markdown and draws ``results/*.png``, of whatever results
there are.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
from papers.os.methods import NAMES
from papers.results import report_all

RESULTS = Path(__file__).parent / "results"
COLOURS = {m: f"C{i}" if i < 10 else "black" for i, m in enumerate(NAMES)}


def figure(rows, columns):
    """A grid of axes."""
    import matplotlib.pyplot as plt

    size = (4.2 * columns, 3.4 * rows)
    return plt.subplots(
        rows, columns, figsize=size, layout="constrained", squeeze=False
    )


def means(lines, keys, fact):
    """Mean, its standard error and how many, by the values of some columns."""
    values = defaultdict(list)
    for line in lines:
        if line[fact] != "":
            values[tuple(line[key] for key in keys)].append(float(line[fact]))
    with np.errstate(all="ignore"):  # what diverges has no error
        return {
            key: (np.mean(v), np.std(v) / np.sqrt(len(v)), len(v))
            for key, v in values.items()
        }


def medians(lines, keys, fact):
    """Of times, of which the first have kernels compiled in them."""
    values = defaultdict(list)
    for line in lines:
        values[tuple(line[key] for key in keys)].append(float(line[fact]))
    return {key: np.median(some) for key, some in values.items()}


def counted(numbers):
    """'5', or '3 to 5'."""
    return " to ".join(map(str, sorted({min(numbers), max(numbers)})))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


def curve(axis, method, points):
    """A line with standard errors; points are (x, mean, error)."""
    x, y, error = zip(*sorted(points), strict=True)
    width = 2.5 if method == "os" else 1.2
    axis.errorbar(
        x,
        y,
        yerr=error,
        fmt="o-",
        ms=3,
        lw=width,
        color=COLOURS[method],
        label=NAMES[method],
    )


def name_lines(made, axes):
    """One legend below all axes."""
    pairs = [axis.get_legend_handles_labels() for axis in axes.flat]
    lines = {name: line for drawn in pairs for line, name in zip(*drawn, strict=True)}
    made.legend(
        lines.values(), lines.keys(), loc="outside lower center", ncols=4, fontsize=8
    )


def accuracy(lines, picture):
    """Figures 1 and 2."""
    whole = {"regression": "Figure 1, regression", "classes": "Figure 2, classes"}
    for kind, title in whole.items():
        here = [line for line in lines if line["kind"] == kind]
        if not here:
            continue
        print(f"\n{title}: recall / error, by p\n")
        size = [line for line in here if line["part"] == "size"]
        recall, error = (means(size, ("method", "p"), f) for f in ("recall", "error"))
        cpu = medians(size, ("method", "p"), "cpu")
        sizes = sorted({int(line["p"]) for line in size})
        rows = []
        for method, name in NAMES.items():
            keys = [(method, str(p)) for p in sizes]
            if not any(key in recall for key in keys):
                continue
            cells = [
                f"{recall[k][0]:.3f} / {error[k][0]:.3f}" if k in recall else ""
                for k in keys
            ]
            last = [key for key in keys if key in cpu][-1]
            seeds = counted([recall[k][2] for k in keys if k in recall])
            rows.append([name, seeds, *cells, f"{cpu[last]:.1f} s"])
        table(["method", "seeds", *map(str, sizes), "CPU at the largest"], rows)
        made, axes = figure(2, 3)
        for column, (part, x) in enumerate(
            (("size", "p"), ("passes", "x"), ("workers", "x"))
        ):
            some = [line for line in here if line["part"] == part]
            if part != "size":
                print(f"\n{title}: recall / error, by {part}, p = 2000\n")
                by_x(some, part)
            for row, fact in enumerate(("recall", "error")):
                found, axis = means(some, ("method", x), fact), axes[row, column]
                for method in NAMES:
                    points = [
                        (int(at), mean, spread)
                        for (m, at), (mean, spread, _) in found.items()
                        if m == method
                    ]
                    if points:
                        curve(axis, method, points)
                axis.set_xlabel({"size": "features"}.get(part, part))
                axis.set_ylabel(fact)
                axis.grid(alpha=0.3)
        name_lines(made, axes)
        made.suptitle(title, fontsize=10)
        made.savefig(picture.with_stem(f"accuracy_{kind}"), dpi=130)


def by_x(lines, part):
    """Recall and error of each method against passes or workers."""
    recall, error = (means(lines, ("method", "x"), f) for f in ("recall", "error"))
    places = sorted({int(line["x"]) for line in lines})
    rows = []
    for method, name in NAMES.items():
        keys = [(method, str(x)) for x in places]
        if any(key in recall for key in keys):
            cells = [f"{recall[k][0]:.3f} / {error[k][0]:.3f}" for k in keys]
            name = "OS, gradient steps" if method == "os_steps" else name
            rows.append([name, counted([recall[k][2] for k in keys]), *cells])
    table(["method", "seeds", *(f"{part}: {x}" for x in places)], rows)


def real(lines, picture):
    """Figure 4 in kind."""
    sets = list(dict.fromkeys(line["set"] for line in lines))
    made, axes = figure(len(sets), 3)
    for row, name in enumerate(sets):
        here = [line for line in lines if line["set"] == name]
        for column, (part, x) in enumerate(
            (("s", "s"), ("passes", "x"), ("workers", "x"))
        ):
            some = [line for line in here if line["part"] == part]
            if not some:
                continue
            found, axis = means(some, ("method", x), "error"), axes[row, column]
            places = sorted({int(line[x]) for line in some})
            rows = []
            for method, label in NAMES.items():
                keys = [(method, str(at)) for at in places]
                points = [
                    (int(at), *found[m, at][:2]) for m, at in keys if (m, at) in found
                ]
                if points:
                    curve(axis, method, points)
                    seeds = counted([found[k][2] for k in keys if k in found])
                    cells = [f"{found[k][0]:.3f}" if k in found else "" for k in keys]
                    plain = method == "os_steps" and part != "s"
                    rows.append(
                        ["OS, gradient steps" if plain else label, seeds, *cells]
                    )
            what = "" if part == "s" else ", s = 20"
            print(f"\n{name}: test error by {part}{what}\n")
            table(["method", "seeds", *(f"{part}: {at}" for at in places)], rows)
            axis.set_title(name, fontsize=9)
            axis.set_xlabel("features chosen" if part == "s" else part)
            axis.set_ylabel("test error")
            axis.grid(alpha=0.3)
    name_lines(made, axes)
    made.savefig(picture, dpi=130)


def theory(lines, picture):
    """Theorems 1 and 2."""
    made, axes = figure(1, 2)
    steps = [line for line in lines if line["part"] == "descent"]
    facts = ("rises", "risen", "objective", "recall")
    found = {fact: means(steps, ("eta",), fact) for fact in facts}
    rows = [
        [eta, found["rises"][key][2], *(f"{found[fact][key][0]:.4g}" for fact in facts)]
        for eta in sorted({line["eta"] for line in steps}, key=float)
        for key in [(eta,)]
    ]
    print("\nTheorem 1: rises of the objective in two passes\n")
    head = ["eta L_F", "seeds", "rises", "risen by", "objective", "recall"]
    table(head, rows)
    x = [float(row[0]) for row in rows]
    axes[0, 0].plot(x, [found["rises"][row[0],][0] for row in rows], "o-")
    axes[0, 0].axvline(1.0, color="grey", lw=0.8)
    axes[0, 0].set_xlabel("eta times L_F")
    axes[0, 0].set_ylabel("arrivals at which the objective rises")
    stale = [line for line in lines if line["part"] == "staleness"]
    last = means(stale, ("staleness", "eta"), "objective")
    bound = means(stale, ("staleness",), "bound")
    etas = sorted({line["eta"] for line in stale}, key=float)
    print("\nTheorem 2: objective after four passes of eight workers\n")
    rows = []
    for tau in sorted({line["staleness"] for line in stale}, key=int):
        values = [last[tau, eta][0] for eta in etas]
        cells = [f"{v:.3g}" for v in values]
        rows.append([tau, f"{bound[tau,][0]:.4f}", last[tau, etas[0]][2], *cells])
        drawn = np.minimum(values, 100.0)  # beyond that it diverges
        axes[0, 1].plot([float(eta) for eta in etas], drawn, "o-", label=f"tau = {tau}")
    table(["stale by", "eta allowed", "seeds", *(f"eta {eta}" for eta in etas)], rows)
    axes[0, 1].set(xscale="log", yscale="log", xlabel="eta", ylabel="objective")
    axes[0, 1].legend(fontsize=7)
    for axis in axes[0]:
        axis.grid(alpha=0.3)
    made.savefig(picture, dpi=130)


def speedup(lines, picture):
    """Figure 3."""
    keys = ("engine", "kind", "n", "p", "workers")
    seconds, start, loss, recall = (
        means(lines, keys, f) for f in ("seconds", "start", "loss", "recall")
    )
    cases = list(dict.fromkeys(key[:4] for key in seconds))
    made, axes = figure(1, 2)
    rows = []
    for case in cases:
        counts = sorted({int(key[4]) for key in seconds if key[:4] == case})
        times = [seconds[*case, str(q)][0] for q in counts]
        label = f"{case[0]}, {case[1]}, n = {int(case[2]):,}"
        axes[0, 0].plot(counts, [times[0] / t for t in times], "o-", label=label)
        losses = [loss[*case, str(q)][0] for q in counts]
        axes[0, 1].plot(counts, [v / losses[0] for v in losses], "o-")
        for q, spent in zip(counts, times, strict=True):
            key = (*case, str(q))
            rows.append(
                [
                    *case,
                    q,
                    seconds[key][2],
                    f"{start[key][0]:.1f}",
                    f"{spent:.2f}",
                    f"{times[0] / spent:.2f}",
                    f"{loss[key][0]:.4g}",
                    f"{recall[key][0]:.3f}",
                ]
            )
    cores = "/".join(sorted({line["cores"] for line in lines}))
    print(f"\nFigure 3: {cores} cores\n")
    head = ["engine", "kind", "n", "p", "workers", "runs", "start"]
    table([*head, "seconds", "speed-up", "loss", "recall"], rows)
    axes[0, 0].set(xlabel="workers", ylabel="speed-up")
    axes[0, 1].set(xlabel="workers", ylabel="loss in the end, one worker = 1")
    curves = axes[0, 0].get_legend_handles_labels()
    axes[0, 1].legend(*curves, fontsize=6, loc="upper left")
    for axis in axes[0]:
        axis.grid(alpha=0.3)
    made.savefig(picture, dpi=130)


REPORTS = {
    "accuracy.csv": accuracy,
    "speedup.csv": speedup,
    "real.csv": real,
    "theory.csv": theory,
}


def main():
    """Report whatever results there are."""
    report_all(REPORTS, __doc__.splitlines()[0], RESULTS)


if __name__ == "__main__":
    main()
