"""Tables and figures from the results that the other scripts have written.

    python -m papers.mission.report

Prints the tables of README.md as Markdown and draws ``results/*.png``, of whatever results
there are. Figure 2 and Table 1 are made here, the others in ``curves`` and in
``skew_and_speed``.
"""

from pathlib import Path

import numpy as np
from papers.mission import curves, skew_and_speed
from papers.mission.methods import NAMES
from papers.results import report_all

RESULTS = Path(__file__).parent / "results"
#: Table 1 of the paper: exact at alpha = 1, and the mean of the last alpha.
PAPER = {
    (100, 2): {
        "mission": (100, 2.68),
        "iht": (100, 1.49),
        "iti": (91, 1.33),
        "pht": (64, 2.42),
    },
    (100, 3): {
        "mission": (100, 2.52),
        "iht": (92, 1.36),
        "iti": (70, 1.15),
        "pht": (42, 2.05),
    },
    (100, 4): {
        "mission": (100, 2.53),
        "iht": (72, 1.92),
        "iti": (37, 1.03),
        "pht": (39, 2.13),
    },
    (200, 5): {
        "mission": (100, 4.07),
        "iht": (99, 2.34),
        "iti": (37, 1.15),
        "pht": (83, 2.75),
    },
    (200, 6): {
        "mission": (100, 4.17),
        "iht": (97, 2.64),
        "iti": (23, 1.11),
        "pht": (73, 2.26),
    },
    (200, 7): {
        "mission": (100, 4.07),
        "iht": (83, 1.64),
        "iti": (14, 1.11),
        "pht": (75, 3.39),
    },
}


def phase(rows, picture):
    """Largest k for each n, as a table and as the curves of Figure 2."""
    import matplotlib.pyplot as plt

    sizes = sorted({int(row["n"]) for row in rows})
    largest = {(row["method"], int(row["n"])): int(row["k"]) for row in rows}
    p = int(rows[0]["p"])
    print("| method | " + " | ".join(f"n = {n}" for n in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    figure, axis = plt.subplots(figsize=(5.4, 3.8), layout="tight")
    for method in dict.fromkeys(row["method"] for row in rows):
        known = [n for n in sizes if (method, n) in largest]
        ks = [str(largest.get((method, n), "")) for n in sizes]
        print(f"| {NAMES[method]} | " + " | ".join(ks) + " |")
        style = {"linewidth": 2.5} if method == "mission" else {"alpha": 0.8}
        shares = [largest[method, n] / n for n in known]
        axis.plot([n / p for n in known], shares, "o-", label=NAMES[method], **style)
    axis.set_xlabel("n / p")
    axis.set_ylabel("k / n, recovered in most tables")
    axis.set_ylim(bottom=0.0)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(picture, dpi=130)


def attenuation(rows, picture):
    """Exact recoveries at alpha = 1, and the last alpha where all begin well."""
    import matplotlib.pyplot as plt

    alpha = {
        (int(r["n"]), int(r["k"]), int(r["seed"]), r["method"]): float(r["alpha"])
        for r in rows
    }
    settings = sorted({key[:2] for key in alpha})
    methods = list(dict.fromkeys(row["method"] for row in rows))
    places = [(*setting, m) for setting in settings for m in methods]
    seeds = [  # all that are complete: a run may have been cut short
        seed
        for seed in sorted({key[2] for key in alpha})
        if all((n, k, seed, m) in alpha for n, k, m in places)
    ]
    print("| (n, k) | tables | " + " | ".join(NAMES[m] for m in methods) + " |")
    print("|---|---|" + "---|" * len(methods))
    figure, axis = plt.subplots(figsize=(7.5, 3.8), layout="tight")
    for place, setting in enumerate(settings):
        table = np.array([[alpha[*setting, s, m] for m in methods] for s in seeds])
        all_begin = (table > 0).all(axis=1)
        ours, said = [], []
        for column, method in enumerate(methods):
            last = table[all_begin, column]
            exact = 100 * np.mean(table[:, column] > 0)
            ours.append(f"{exact:.0f} %, {last.mean():.2f} ± {last.std():.2f}")
            known = PAPER[setting].get(method)
            said.append(f"{known[0]} %, {known[1]:.2f}" if known else "")
            offset = 0.11 * (column - (len(methods) - 1) / 2)
            label = NAMES[method] if place == 0 else None
            axis.bar(place + offset, last.mean(), 0.1, color=f"C{column}", label=label)
            if known:
                axis.plot(place + offset, known[1], "k_", markersize=8)
        print(f"| {setting} | {all_begin.sum()} of {len(seeds)} | {' | '.join(ours)} |")
        print(f"| | paper | {' | '.join(said)} |")
    axis.set_xticks(range(len(settings)), [str(setting) for setting in settings])
    axis.set_xlabel("(n, k)")
    axis.set_ylabel("last alpha (black: the paper)")
    axis.grid(alpha=0.3, axis="y")
    axis.legend(fontsize=7, ncols=2)
    figure.savefig(picture, dpi=130)


REPORTS = {
    "phase.csv": phase,
    "table1.csv": attenuation,
    "growth.csv": curves.growth,
    "topk.csv": curves.topk,
    "tradeoff.csv": curves.tradeoff,
    "rounds.csv": curves.rounds,
    "drift.csv": skew_and_speed.drift,
    "skewed.csv": skew_and_speed.skewed,
    "speed.csv": skew_and_speed.speed,
}


def main():
    """Report whatever results there are."""
    report_all(REPORTS, __doc__.splitlines()[0], RESULTS)


if __name__ == "__main__":
    main()
