"""Tables of skewed labels (in kind those of Tables 4 and 5), of CPU time, and of drift."""

from collections import defaultdict

import numpy as np
from papers.mission.curves import gathered, print_table, spread
from papers.mission.rivals import NAMES

#: Average precision in Table 5 of the paper, on Splice-Site.
PAPER = {"hashed": 0.522, "mission_paper": 0.510, "batch_iht": 0.498, "sgd_iht": 0.498}
#: What the paper says of MISSION's time.
CLAIMED = {"hashed": "2 to 4", "sgd_iht": "1 to 2"}
VARIANTS = {
    "paper": "as it is",
    "identity": "exact weights",
    "slow": "a fifth of the rate",
    "unbiased": "balanced classes",
    "gamma": "the rest fades, gamma = .9999",
    "fresh": "fresh rows, one pass",
    "heard": "margins of all weights (newton)",
}


def skewed(rows, picture):
    """Print AUC and AP at each k; ``picture`` is not drawn."""
    auc = gathered(rows, ("rows", "k", "method"), "auc")
    precision = gathered(rows, ("rows", "k", "method"), "ap")
    lines = []
    for place in sorted(auc, key=lambda key: (int(key[0]), int(key[1]))):
        n, k, method = place
        said = PAPER.get(method, "")
        ours = [spread(auc[place]), spread(precision[place])]
        lines.append([n, k.strip("0") and k, NAMES.get(method, method), *ours, said])
    head = ["rows", "k", "method", "AUC", "AP", "AP, the paper's on Splice-Site"]
    print_table(head, lines)


def speed(rows, picture):
    """Print medians of ratios, each within a repeat; ``picture`` is not drawn."""
    turns = defaultdict(dict)
    for row in rows:
        turn = (row["set"], row["size"], row["k"], row["repeat"])
        turns[turn][row["method"]] = float(row["seconds"])
    kinds = dict.fromkeys(turn[:3] for turn in turns)
    methods = dict.fromkeys(row["method"] for row in rows)
    lines = []
    for kind in kinds:
        own = [turn for key, turn in turns.items() if key[:3] == kind]
        for method in methods:
            line = [*kind, NAMES[method]]
            for base in CLAIMED:
                ratios = [
                    turn[method] / turn[base]
                    for turn in own
                    if {method, base} <= turn.keys()
                ]
                middle = f"{np.median(ratios):.2f}" if ratios else ""
                most = f" ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else ""
                line.append(middle + most)
            lines.append(line)
    head = ["set", "rows", "k", "method"]
    head += [
        f"times {NAMES[b]} (the paper, of MISSION: {c})" for b, c in CLAIMED.items()
    ]
    print_table(head, lines)


def drift(rows, picture):
    """Print what each variant finds, pass by pass, and draw it."""
    import matplotlib.pyplot as plt

    passes = sorted({int(row["passes"]) for row in rows})
    designs = list(dict.fromkeys(row["design"] for row in rows))
    size = (4.2 * len(designs), 6.4)
    figure, axes = plt.subplots(
        2, len(designs), figsize=size, squeeze=False, layout="tight"
    )
    for column, design in enumerate(designs):
        own = [row for row in rows if row["design"] == design]
        for line, value in enumerate(("planted", "accuracy", "stayed", "size")):
            numbers = gathered(own, ("variant", "passes"), value)
            asked = [v for v in VARIANTS if any(key[0] == v for key in numbers)]
            print(f"{design}, {value}:\n")
            print_table(
                ["variant", *(f"passes {p}" for p in passes)],
                (
                    [
                        VARIANTS[v],
                        *(spread(numbers.get((v, str(p)), [])) for p in passes),
                    ]
                    for v in asked
                ),
            )
            if line < len(axes):
                axis = axes[line, column]
                for v in asked:
                    known = [p for p in passes if (v, str(p)) in numbers]
                    means = [np.mean(numbers[v, str(p)]) for p in known]
                    axis.plot(known, means, "o-", label=VARIANTS[v])
                axis.set_title(design, fontsize=9)
                axis.set_xlabel("passes")
                axis.set_ylabel(value)
                axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=6)
    figure.savefig(picture, dpi=130)
