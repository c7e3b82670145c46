"""Figures 3 to 6 as tables in Markdown and as pictures, means over splits or tables."""

from collections import defaultdict

import numpy as np
from papers.mission.rivals import NAMES

#: Columns of results that hold accuracy, and what they are called.
PARTS = {"test": "", "held_out": ", held out", "same": ", same genomes"}
#: Methods that Figure 3 has and the real data have not.
SIMULATED = {"mission": "MISSION, full gradients", "iht": "IHT, same step"}


def gathered(rows, keys, value):
    """Lists of a column's numbers, by tuples of other columns."""
    out = defaultdict(list)
    for row in rows:
        if row[value]:
            out[tuple(row[key] for key in keys)].append(float(row[value]))
    return out


def spread(numbers, digits=3):
    """Mean and, of several, the standard deviation."""
    if not numbers:
        return ""
    mean = f"{np.mean(numbers):.{digits}f}"
    return (
        f"{mean} ± {np.std(numbers, ddof=1):.{digits}f}" if len(numbers) > 1 else mean
    )


def print_table(head, lines):
    """Print Markdown."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |")
    print()


def _panels(rows):
    """Title, rows and column of accuracy for each set and part that was tested on."""
    settings = [key for key in ("coverage", "rows") if key in rows[0]]
    kinds = dict.fromkeys((row["set"], *(row[s] for s in settings)) for row in rows)
    for kind in kinds:
        own = [row for row in rows if (row["set"], *(row[s] for s in settings)) == kind]
        facts = [
            f"{name} {value}"
            for name, value in zip(settings, kind[1:], strict=True)
            if value
        ]
        for part, called in PARTS.items():
            if any(row[part] for row in own):
                yield ", ".join([kind[0] + called, *facts]), own, part


def _curves(rows, picture, x, label, flat):
    """A panel for each set and part; methods in ``flat`` have the same value at all x."""
    import matplotlib.pyplot as plt

    panels = list(_panels(rows))
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    size = (4.2 * columns, 3.4 * lines)
    figure, axes = plt.subplots(
        lines, columns, figsize=size, squeeze=False, layout="constrained"
    )
    for axis in axes.flat[len(panels) :]:
        axis.axis("off")
    for axis, (title, own, part) in zip(axes.flat, panels, strict=False):
        values = gathered(own, ("method", x), part)
        places = sorted({float(row[x]) for row in own if row["method"] not in flat})
        by_place = {(m, float(at)): numbers for (m, at), numbers in values.items()}
        print(f"{title}:\n")
        table = []
        for method in dict.fromkeys(row["method"] for row in own):
            color = f"C{list(NAMES).index(method)}"
            if method in flat:
                numbers = by_place[method, 0.0]
                cells = [spread(numbers)] + [""] * (len(places) - 1)
                axis.axhline(
                    np.mean(numbers), ls="--", color=color, label=NAMES[method]
                )
            else:
                cells = [spread(by_place.get((method, at), [])) for at in places]
                known = [at for at in places if (method, at) in by_place]
                means = [np.mean(by_place[method, at]) for at in known]
                axis.plot(
                    known, means, "o-", color=color, label=NAMES[method], markersize=3
                )
            table.append([NAMES[method], *cells])
        print_table(["method", *(f"{label} {at:g}" for at in places)], table)
        axis.set_title(title, fontsize=9)
        if x != "rounds":
            axis.set_xscale("log", base=2 if x == "ratio" else 10)
        axis.set_xlabel(label)
        axis.grid(alpha=0.3)
    axes.flat[0].set_ylabel("accuracy")
    known = {line.get_label(): line for axis in axes.flat for line in axis.get_lines()}
    figure.legend(
        known.values(), known.keys(), loc="outside lower center", ncols=3, fontsize=7
    )
    figure.savefig(picture, dpi=130)


def topk(rows, picture):
    """Figure 4."""
    _curves(rows, picture, "k", "k", flat=("hashed",))


def tradeoff(rows, picture):
    """Figure 5."""
    _curves(rows, picture, "ratio", "cells / k", flat=("sgd_iht", "batch_iht"))


def rounds(rows, picture):
    """Figure 6; and what was found of planted features, and what lazy updates save."""
    _curves(rows, picture, "rounds", "rounds", flat=())
    at = sorted({int(row["rounds"]) for row in rows})
    for value, called, digits in (
        ("planted", "share planted", 3),
        ("seconds", "CPU s", 2),
    ):
        numbers = gathered(rows, ("set", "method", "rounds"), value)
        kinds = dict.fromkeys(key[:2] for key in numbers)
        if kinds:
            print(f"{called}:\n")
            lines = (
                [name, NAMES[method]]
                + [spread(numbers.get((name, method, str(r)), []), digits) for r in at]
                for name, method in kinds
            )
            print_table(["set", "method", *(f"rounds {r}" for r in at)], lines)


def growth(rows, picture):
    """Figure 3: share found, and the numbers needed, against p."""
    import matplotlib.pyplot as plt

    called = NAMES | SIMULATED
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="tight")
    for axis, what in zip(axes, ("found", "cells"), strict=True):
        own = [row for row in rows if row["what"] == what]
        numbers = gathered(own, ("method", "p"), "value")
        sizes = sorted({int(row["p"]) for row in own})
        lines = []
        for method in dict.fromkeys(row["method"] for row in own):
            known = [p for p in sizes if (method, str(p)) in numbers]
            if not known:
                continue
            means = [np.mean(numbers[method, str(p)]) for p in known]
            cells = [
                spread(numbers.get((method, str(p)), []), 2 if what == "found" else 0)
                for p in sizes
            ]
            lines.append([called[method], *cells])
            axis.plot(known, means, "o-", label=called[method])
            if what == "cells" and len(known) > 2:
                slope = np.polyfit(np.log(known), np.log(means), 1)[0]
                lines[-1][0] += f", as p^{slope:.2f}"
        if what == "cells" and sizes:
            axis.plot(sizes, 9 * np.log2(sizes) ** 2, "k:", label="9 log2(p)^2")
            axis.set_yscale("log")
        print(f"{what}:\n")
        print_table(["method", *(f"p = {p}" for p in sizes)], lines)
        axis.set_xscale("log")
        axis.set_xlabel("p")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7, framealpha=0.5)
    axes[0].set_ylabel("share of planted features found")
    axes[1].set_ylabel("numbers needed")
    figure.savefig(picture, dpi=130)
