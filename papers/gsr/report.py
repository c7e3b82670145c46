"""Tables from the results that the other scripts have written.

    python -m papers.gsr.report

Prints the tables of README.md as Markdown.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
from papers.results import read_lines

RESULTS = Path(__file__).parent / "results"


def read(name):
    return read_lines(RESULTS / name)


def grouped(rows, *keys):
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def numbers(group, key):
    return np.array([float(row[key]) for row in group])


def accuracy_table(rows):
    print("| set | method | k | trials | accuracy | CPU s, median | r chosen |")
    print("|---|---|---|---|---|---|---|")
    for (name, method, k), group in grouped(rows, "set", "method", "k").items():
        accuracy = 100 * numbers(group, "accuracy")
        spread = accuracy.std(ddof=1) if len(group) > 1 else np.nan
        taken, times = np.unique(numbers(group, "r"), return_counts=True)
        r = ", ".join(f"{a:g} ({b})" for a, b in zip(taken, times, strict=True))
        print(
            f"| {name} | {method} | {k} | {len(group)} | {accuracy.mean():.1f} ± "
            f"{spread:.1f} | {np.median(numbers(group, 'seconds')):.2f} | {r} |"
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


def main():
    for table, name in (
        (accuracy_table, "accuracy.csv"),
        (outlier_table, "outliers.csv"),
        (convergence_table, "convergence.csv"),
    ):
        table(read(name))
        print()


if __name__ == "__main__":
    main()
