"""Tables and figures from the results that the other scripts have written.

    python -m papers.foba.report

Prints the tables of README.md as Markdown and draws ``results/*.png``.
"""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
from papers.results import report_all

RESULTS = Path(__file__).parent / "results"
NAMES = {
    "foba": "FoBa (default)",
    "foba_paper": "FoBa-gdt (paper)",
    "foba_obj": "FoBa-obj (paper)",
    "forward": "forward only",
    "abess": "abess",
    "omp": "OMP",
    "l1": "L1 + refit",
    "l1_refit": "L1 + refit",
    "skscope_foba": "skscope FoBa",
    "scope": "skscope Scope",
}
DESIGNS = (
    "gauss",
    "small",
    "ar9",
    "k20",
    "logistic",
    "big",
    "logistic_small",
    "logistic_hard",
)


def synthetic_table(rows):
    """One line a design and method: means over the seeds, and the standard error."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["design"], row["method"]].append(row)
    print(
        "| design | method | seeds | recall | estimation error | objective / oracle | "
        "CPU s | memory / X |\n|---|---|---|---|---|---|---|---|"
    )
    for design in DESIGNS:
        for method in NAMES:
            group = groups.get((design, method))
            if not group:
                continue

            def mean(key, group=group):
                return np.mean([float(row[key]) for row in group])

            ratio = np.mean(
                [float(row["objective"]) / float(row["oracle"]) for row in group]
            )
            spread = np.std([float(row["recall"]) for row in group], ddof=1)
            error = spread / np.sqrt(len(group))
            print(
                f"| {design} | {NAMES[method]} | {len(group)} | "
                f"{mean('recall'):.3f} ± {error:.3f} | {mean('estimation'):.3f} | "
                f"{ratio:.3f} | {mean('cpu'):.2f} | {mean('memory'):.1f} |"
            )


def paired_table(rows):
    """FoBa minus each peer, paired by seed."""
    by_key = {(r["design"], r["method"], r["seed"]): r for r in rows}
    print(
        "\n| design | peer | recall, FoBa - peer | CPU, FoBa / peer |\n|---|---|---|---|"
    )
    for design in DESIGNS:
        for method in list(NAMES)[1:]:
            pairs = [
                (by_key[design, "foba", seed], row)
                for (d, m, seed), row in by_key.items()
                if (d, m) == (design, method) and (design, "foba", seed) in by_key
            ]
            if not pairs:
                continue
            recall = [float(a["recall"]) - float(b["recall"]) for a, b in pairs]
            cpu = [float(a["cpu"]) / float(b["cpu"]) for a, b in pairs]
            error = np.std(recall, ddof=1) / np.sqrt(len(recall))
            print(
                f"| {design} | {NAMES[method]} | {np.mean(recall):+.3f} ± {error:.3f} | "
                f"{np.median(cpu):.3f} ({min(cpu):.2f} to {max(cpu):.2f}) |"
            )


def criteria_table(rows):
    """FoBa-gdt beside FoBa-obj in all errors of the paper, and their pairs by seed."""
    by_key = {(r["design"], r["method"], r["seed"]): r for r in rows}
    print(
        "\n| design | method | extra, F - F_true | missed, F_true - F | estimation error | "
        "objective / oracle | CPU s |\n|---|---|---|---|---|---|---|"
    )
    for design in ("logistic_small", "logistic_hard"):
        seeds = [s for d, m, s in by_key if (d, m) == (design, "foba_obj")]
        of = {}
        for method in ("foba_paper", "foba_obj"):
            runs = [by_key[design, method, seed] for seed in seeds]
            keys = ("extra", "missed", "estimation", "cpu")
            of[method] = {key: np.array([float(r[key]) for r in runs]) for key in keys}
            ratio = [float(r["objective"]) / float(r["oracle"]) for r in runs]
            of[method]["objective"] = np.array(ratio)
            extra, missed, estimation, cpu, objective = (
                values.mean() for values in of[method].values()
            )
            print(
                f"| {design} | {NAMES[method]} | {extra:.1f} | {missed:.1f} | "
                f"{estimation:.3f} | {objective:.3f} | {cpu:.2f} |"
            )
        apart = {k: of["foba_paper"][k] - of["foba_obj"][k] for k in of["foba_obj"]}
        told = (
            f"{apart[key].mean():+.3f} ± {apart[key].std(ddof=1) / len(seeds) ** 0.5:.3f}"
            for key in ("extra", "missed", "estimation", "objective")
        )
        print(f"| {design} | gdt - obj | {' | '.join(told)} | |")


def synthetic(rows, picture):
    """All that is made of the designs."""
    synthetic_table(rows)
    paired_table(rows)
    criteria_table(rows)
    draw_synthetic(rows, picture.with_name("recall.png"))


def draw_synthetic(rows, picture):
    """Recall of every method on every design."""
    import matplotlib.pyplot as plt

    designs = [d for d in DESIGNS if any(row["design"] == d for row in rows)]
    figure, axes = plt.subplots(
        1, len(designs), figsize=(2.1 * len(designs), 3.4), sharex=True, layout="tight"
    )
    for axis, design in zip(np.atleast_1d(axes), designs, strict=True):
        methods = [
            m
            for m in NAMES
            if any((row["design"], row["method"]) == (design, m) for row in rows)
        ]
        for place, method in enumerate(reversed(methods)):
            recalls = [
                float(row["recall"])
                for row in rows
                if (row["design"], row["method"]) == (design, method)
            ]
            color = "C3" if method == "foba" else "C0"
            axis.plot(recalls, [place] * len(recalls), "o", color=color, alpha=0.35)
            axis.plot(np.mean(recalls), place, "|", color="black", markersize=14)
        axis.set_yticks(range(len(methods)), [NAMES[m] for m in reversed(methods)])
        axis.tick_params(axis="y", labelsize=6)
        axis.set_title(design, fontsize=9)
        axis.set_xlabel("recall", fontsize=8)
        axis.grid(alpha=0.3)
    figure.savefig(picture, dpi=130)


def corollary(rows, picture):
    """Share of exact recoveries against the ratio of Corollary 1."""
    import matplotlib.pyplot as plt

    ratio = np.array([float(row["ratio"]) for row in rows])
    rho = np.array([float(row["rho_minus"]) for row in rows])
    bound = float(np.median(8.0 / rho**2))
    above = ratio >= 8.0 / rho**2
    edges = np.geomspace(ratio.min(), ratio.max() * 1.001, 15)
    figure, axis = plt.subplots(figsize=(6, 3.6), layout="tight")
    print(
        "\n| method | exact above the bound | exact in all | all exact from a ratio of | "
        "bound |\n|---|---|---|---|---|"
    )
    for method in [key for key in rows[0] if key in NAMES]:
        exact = np.array([float(row[method]) for row in rows])
        places, shares = [], []
        for low, high in pairwise(edges):
            inside = (ratio >= low) & (ratio < high)
            if inside.any():
                places.append(np.sqrt(low * high))
                shares.append(exact[inside].mean())
        axis.semilogx(places, shares, "o-", label=NAMES[method], alpha=0.8)
        print(
            f"| {NAMES[method]} | {int(exact[above].sum())} of {above.sum()} | "
            f"{exact.mean():.3f} | {ratio[exact == 0].max():.1f} | {bound:.1f} |"
        )
    axis.axvline(bound, color="grey", linestyle="--")
    axis.text(bound * 1.1, 0.1, "the paper's\nsufficient bound", fontsize=8)
    axis.set_xlabel("smallest weight / largest gradient at the solution")
    axis.set_ylabel("share of exact recoveries")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(picture, dpi=130)


def real(rows, picture):
    """Accuracy by set and size, and FoBa minus each peer, paired by split."""
    import matplotlib.pyplot as plt

    accuracy = {
        (r["set"], r["method"], int(r["k"]), int(r["split"])): float(r["accuracy"])
        for r in rows
    }
    sets = list(dict.fromkeys(row["set"] for row in rows))
    sizes = sorted({int(row["k"]) for row in rows})
    splits = sorted({int(row["split"]) for row in rows})
    figure, axes = plt.subplots(
        1, len(sets), figsize=(3.4 * len(sets), 3.2), layout="tight", squeeze=False
    )
    print(
        "\n| set | k | FoBa | abess | L1 + refit | FoBa, by default | FoBa, one ridge | "
        "FoBa - abess | FoBa - L1 |\n|---|---|---|---|---|---|---|---|---|"
    )
    for axis, name in zip(axes[0], sets, strict=True):
        for method in ("foba", "abess", "l1_refit"):
            values = np.array(
                [[accuracy[name, method, k, s] for s in splits] for k in sizes]
            )
            error = values.std(axis=1, ddof=1) / np.sqrt(len(splits))
            axis.errorbar(
                sizes,
                values.mean(axis=1),
                error,
                marker="o",
                label="FoBa" if method == "foba" else NAMES[method],
            )
        axis.set_title(name)
        axis.set_xscale("log")
        axis.set_xticks(sizes, list(map(str, sizes)))
        axis.minorticks_off()
        axis.set_xlabel("k")
        axis.grid(alpha=0.3)
        for k in sizes:
            ours, *peers, by_default, bare = (
                np.array([accuracy[name, method, k, s] for s in splits])
                for method in ("foba", "abess", "l1_refit", "foba_auto", "foba_plain")
            )
            differences = [
                f"{np.mean(ours - peer):+.3f} ± "
                f"{np.std(ours - peer, ddof=1) / np.sqrt(len(splits)):.3f}"
                for peer in peers
            ]
            shown = (ours, *peers, by_default, bare)
            means = [f"{np.mean(values):.3f}" for values in shown]
            print(f"| {name} | {k} | {' | '.join([*means, *differences])} |")
    axes[0][0].set_ylabel("held-out accuracy")
    axes[0][-1].legend(fontsize=8)
    figure.savefig(picture, dpi=130)


REPORTS = {"synthetic.csv": synthetic, "corollary.csv": corollary, "real.csv": real}


def main():
    """Report whatever results there are."""
    report_all(REPORTS, __doc__.splitlines()[0], RESULTS)


if __name__ == "__main__":
    main()
