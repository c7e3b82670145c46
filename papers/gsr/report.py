"""Tables from the results that the other scripts have written.

    python -m papers.gsr.report

Prints the tables of README.md as Markdown.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
from papers.results import report_all

RESULTS = Path(__file__).parent / "results"


def grouped(rows, *keys):
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def numbers(group, key):
    return np.array([float(row[key]) for row in group])


def accuracy_table(rows):
    """Accuracies in %, of the best 10, 50 and 100 features."""
    print(
        "| set | method | trials | top 10 | top 50 | top 100 | CPU s, median | r chosen |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (name, method), group in grouped(rows, "set", "method").items():
        tops = [100 * numbers(group, f"top{k}") for k in (10, 50, 100)]
        spread = f" ± {tops[1].std(ddof=1):.1f}" if len(group) > 1 else ""
        chosen = [row for row in group if row["r"]]
        taken, times = np.unique(numbers(chosen, "r"), return_counts=True)
        r = ", ".join(f"{a:g} ({b})" for a, b in zip(taken, times, strict=True))
        print(
            f"| {name} | {method} | {len(group)} | {tops[0].mean():.1f} | "
            f"{tops[1].mean():.1f}{spread} | {tops[2].mean():.1f} | "
            f"{np.median(numbers(group, 'seconds')):.2f} | {r} |"
        )


def difference_table(rows, method="gsr"):
    """By how much GSR is above the others at the top 50, in points, on the same trials."""
    print(f"| set | {method} minus | trials | points |\n|---|---|---|---|")
    for (name, other), group in grouped(rows, "set", "method").items():
        own = {r["trial"]: r for r in rows if (r["set"], r["method"]) == (name, method)}
        pairs = [(own[r["trial"]], r) for r in group if r["trial"] in own]
        if other == method or not pairs:
            continue
        gains = np.array(
            [100 * (float(a["top50"]) - float(b["top50"])) for a, b in pairs]
        )
        error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
        print(
            f"| {name} | {other} | {len(gains)} | {gains.mean():+.1f} ± {error:.1f} |"
        )


def timing_table(rows):
    """Seconds over those of GSR with p = .5, and iterations."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    groups = grouped(rows, "method", "set")
    print("| method | " + " | ".join(sets) + " |")
    print("|---" * (1 + len(sets)) + "|")
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for name in sets:
            (row,) = groups.get((method, name)) or ({"ratio": "", "iterations": ""},)
            steps = f" ({row['iterations']})" if row["iterations"] else ""
            cells.append(row["ratio"] + steps)
        print(f"| {method} | " + " | ".join(cells) + " |")


def cost_table(rows):
    print("| table | rows x features | CPU s | of it BLAS | ratio | over ISOLET |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['table']} | {row['rows']} x {row['features']} | {row['seconds']} | "
            f"{row['blas']} | {row['ratio']} | {row['over_isolet']} |"
        )


def outlier_table(rows):
    print("| flipped rows | method | tables | of 200 found, each | RMSE |")
    print("|---|---|---|---|---|")
    for (share, method), group in grouped(rows, "share", "method").items():
        found = ", ".join(row["found"] for row in group)
        rmse = numbers(group, "rmse").mean()
        print(
            f"| {100 * float(share):g} % | {method} | {len(group)} | {found} | "
            f"{rmse:.3f} |"
        )


def convergence_table(rows):
    print("| r | p | claimed, at least | all weights | rows that vanish |")
    print("|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row.values()) + " |")


def table(*makers):
    """Print tables, one after the other; ``figures`` draws."""

    def make(rows, picture):
        for each in makers:
            each(rows)
            print()

    return make


REPORTS = {
    "accuracy.csv": table(accuracy_table, difference_table),
    "outliers.csv": table(outlier_table),
    "convergence.csv": table(convergence_table),
    "timing.csv": table(timing_table),
    "cost.csv": table(cost_table),
}


def main():
    """Report whatever results there are."""
    report_all(REPORTS, __doc__.splitlines()[0], RESULTS)


if __name__ == "__main__":
    main()
