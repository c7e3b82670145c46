"""Regret and what Theorems 1 and 2 say of it, from the lines that ``regret`` has written.

Theorem 1 has |w*| where its proof, which bounds <w*, diag(s) w*>, has |w*|^2; the square is
taken here.
"""

from collections import defaultdict

import numpy as np
from papers.barda.regret import ETA

NAMES = {"barda": "B-ARDA", "bamd": "B-AMD"}


def numbers(row):
    return {name: float(value) for name, value in row.items() if _is_number(value)}


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def theorem_1(now):
    """Parts of the bound of B-ARDA: without truncation, and what truncation adds."""
    adaptive = now["delta"] / (2 * ETA) * now["length"]
    adaptive += (now["largest"] ** 2 / (2 * ETA) + ETA) * now["gradients"]
    return adaptive, now["xi_max"] * np.sqrt(2 * now["T"] * now["gradients"])


def theorem_2(now):
    """Parts of the bound of B-AMD, likewise."""
    adaptive = (now["apart"] ** 2 / (2 * ETA) + ETA) * now["gradients"]
    return adaptive, now["largest"] / ETA * now["xi_sum"]


def growth(T, values):
    """Exponent with which values grow over the last half of the passes."""
    late = T[-1] / 2 <= T
    values = np.maximum(values, 1e-12)
    return float(np.polyfit(np.log(T[late]), np.log(values[late]), 1)[0])


def curves(rows):
    """Regret and bounds over T, of each case."""
    cases = defaultdict(list)
    for row in rows:
        case = (row["set"], row["method"], row["truncation"], row["delta"])
        cases[case].append(numbers(row))
    for case, lines in cases.items():
        T = np.array([now["T"] for now in lines])
        regret = np.array([now["loss"] - now["T"] * now["best"] for now in lines])
        theorem = theorem_1 if case[1] == "barda" else theorem_2
        yield case, T, regret, np.array([theorem(now) for now in lines]).T, lines


def report(rows, picture):
    """Regret, its growth and the bounds; xi over time."""
    import matplotlib.pyplot as plt

    sets = list(dict.fromkeys(row["set"] for row in rows))
    made, axes = plt.subplots(
        2, len(sets), figsize=(5 * len(sets), 7), layout="tight", squeeze=False
    )
    print(
        "| set | method | truncation | delta | T | loss a row | best a row | regret ",
        end="",
    )
    print("| grows as | bound without truncation | truncation adds | xi in the end |")
    print("|---" * 12 + "|")
    for (name, method, truncation, delta), T, regret, bound, lines in curves(rows):
        above, below = axes[:, sets.index(name)]
        label = f"{NAMES[method]}, {truncation}, delta = {delta}"
        line = above.loglog(T, np.maximum(regret, 1e-3), label=label)[0]
        if truncation == "paper":
            above.loglog(T, bound.sum(axis=0), ":", color=line.get_color())
        xi = np.array([now["xi"] for now in lines])
        below.loglog(T, np.maximum(xi, 1e-12), label=label)
        last = lines[-1]
        print(
            f"| {name} | {NAMES[method]} | {truncation} | {delta} | {T[-1]:,.0f} "
            f"| {last['loss'] / T[-1]:.4f} | {last['best']:.4f} | {regret[-1]:,.0f} "
            f"| T^{growth(T, regret):.2f} | {bound[0, -1]:,.0f} | {bound[1, -1]:,.0f} "
            f"| {xi[-1]:.3g} |"
        )
        above.set_title(name, fontsize=9)
        above.set_ylabel("regret (dotted: bound)")
        below.set_ylabel("truncation error xi")
        below.set_xlabel("examples")
    for axis in axes.ravel():
        axis.grid(alpha=0.3)
        axis.xaxis.set_minor_formatter("")  # numbers would lie on each other
    axes[0, 0].legend(fontsize=7)
    made.savefig(picture, dpi=130)
