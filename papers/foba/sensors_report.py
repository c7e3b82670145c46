"""Tables and figures of the sensor study.

    python -m papers.foba.sensors_report [--results FOLDER]

For n sensors each fold takes the largest support with at most n of them; steps are pooled
over folds. Prints Markdown and draws ``sensors.png`` (errors and numbers of weights against
the number of sensors) and ``sensors_activities.png`` (the error of each activity).
"""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from benchmarks.data import Missing
from benchmarks.data import house as recording
from papers.results import read_lines

NAMES = {
    "group": "whole sensors, FoBa",
    "eliminate": "whole sensors, elimination",
    "foba": "FoBa-gdt-CRF",
    "forward": "Forward-gdt-CRF",
    "l1_refit": "L1-CRF + refit",
    "l1": "L1-CRF",
}
STYLES = {
    "group": ("tab:blue", "o-"),
    "eliminate": ("tab:cyan", "s-"),
    "foba": ("tab:red", "^-"),
    "forward": ("tab:orange", "v--"),
    "l1_refit": ("tab:green", "d-"),
    "l1": ("tab:gray", "x:"),
}
LEGEND = {"loc": "outside lower center", "ncols": 3}


class Study:
    """Results by house, method and fold."""

    def __init__(self, lines):
        self._by = defaultdict(lambda: defaultdict(list))
        for line in lines:
            self._by[line["house"], line["method"]][line["fold"]].append(line)
        self.houses = list(dict.fromkeys(line["house"] for line in lines))

    def methods(self, house):
        return [method for method in NAMES if (house, method) in self._by]

    def folds(self, house, method):
        return len(self._by[house, method])

    def most(self, house):
        """Largest number of sensors that a fold has reached."""
        return max(
            int(line["sensors"])
            for method in self.methods(house)
            for fold in self._by[house, method].values()
            for line in fold
        )

    def at(self, house, method, n):
        """Lines for n sensors, one a fold; None where a fold has none that small."""
        return [
            max(
                (line for line in fold if int(line["sensors"]) <= n),
                key=lambda line: int(line["features"]),
                default=None,
            )
            for fold in self._by.get((house, method), {}).values()
        ]

    def by_activity(self, house, method, n):
        """Share of wrong steps of each activity that comes; None if unknown."""
        lines = self.at(house, method, n)
        if not lines or None in lines:
            return None
        pairs = np.array(
            [[cell.split("/") for cell in line["counts"].split()] for line in lines],
            float,
        ).sum(axis=0)
        comes = pairs[:, 1] > 0
        wrong, every = pairs[comes].T
        return wrong / every, wrong.sum() / every.sum()

    def features(self, house, method, n):
        lines = self.at(house, method, n)
        return np.nan if None in lines else np.mean([int(x["features"]) for x in lines])


def error_table(study, house, sizes):
    print(f"\n{house}, macro error % (plain error %):\n")
    print("| sensors | " + " | ".join(map(str, sizes)) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for method in study.methods(house):
        cells = []
        for n in sizes:
            found = study.by_activity(house, method, n)
            shown = found and f"{100 * found[0].mean():.1f} ({100 * found[1]:.2f})"
            cells.append(shown or "")
        print(f"| {NAMES[method]} | " + " | ".join(cells) + " |")


def feature_table(study, house, sizes):
    print(f"\n{house}, weights in use at equal numbers of sensors, mean over folds:\n")
    print("| sensors | " + " | ".join(map(str, sizes)) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for method in study.methods(house):
        means = [study.features(house, method, n) for n in sizes]
        cells = ["" if np.isnan(mean) else f"{mean:.0f}" for mean in means]
        print(f"| {NAMES[method]} | " + " | ".join(cells) + " |")


def chosen_table(study, house, n):
    print(f"\n{house}, {n} sensors by the number of folds that chose them:\n")
    for method in study.methods(house):
        times = Counter(
            name
            for line in study.at(house, method, n)
            if line
            for name in line["names"].split("; ")
            if name
        )
        listed = ", ".join(f"{name} {often}" for name, often in times.most_common(8))
        print(f"- {NAMES[method]}: {listed}")


def needed_table(study, margin=0.02):
    print(
        f"\nSensors for a macro error within {100 * margin:.0f} points of that of the "
        "largest set of whole sensors tried:\n"
    )
    print("| house | " + " | ".join(NAMES.values()) + " |")
    print("|---" * (len(NAMES) + 1) + "|")
    for house in study.houses:
        most, cells = study.most(house), []
        every, _ = study.by_activity(house, study.methods(house)[0], most)
        for method in NAMES:
            found = (
                study.by_activity(house, method, n) or ([np.inf], 1.0)
                for n in range(most + 1)
            )
            enough = [np.mean(shares) <= every.mean() + margin for shares, _ in found]
            cells.append(str(enough.index(True)) if True in enough else "")
        print(f"| {house} | " + " | ".join(cells) + " |")


def activities_of(house, n):
    """Names of activities if the recording is here, else numbers."""
    try:
        return recording(house)["activity_names"][1:].tolist()
    except Missing:
        return [str(place) for place in range(n)]


def draw_curves(study, path):
    from matplotlib.figure import Figure

    houses = study.houses
    figure = Figure(figsize=(4.6 * len(houses), 9.0), layout="constrained")
    panels = figure.subplots(3, len(houses), squeeze=False)
    for column, house in enumerate(houses):
        sizes = np.arange(min(study.most(house), 20) + 1)
        for method in study.methods(house):
            color, style = STYLES[method]
            unknown = (np.array([np.nan]), np.nan)
            found = [study.by_activity(house, method, n) or unknown for n in sizes]
            lines = [
                [100 * shares.mean() for shares, _ in found],
                [100 * plain for _, plain in found],
                [study.features(house, method, n) for n in sizes],
            ]
            for panel, line in zip(panels[:, column], lines, strict=True):
                panel.xaxis.get_major_locator().set_params(integer=True)
                panel.plot(
                    sizes, line, style, color=color, label=NAMES[method], markersize=4
                )
        panels[0, column].set(title=house, ylabel="macro error %", ylim=(0, None))
        panels[1, column].set(ylabel="plain error %", ylim=(0, None))
        panels[2, column].set(ylabel="weights in use", xlabel="sensors")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), **LEGEND)
    figure.savefig(path, dpi=90)


def draw_activities(study, path, sizes=(3, 6)):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(study.houses), 8.0), layout="constrained")
    panels = figure.subplots(len(sizes), len(study.houses), squeeze=False)
    for column, house in enumerate(study.houses):
        methods = [m for m in study.methods(house) if m != "l1"]
        for row, n in enumerate(sizes):
            panel = panels[row, column]
            for place, method in enumerate(methods):
                shares, _ = study.by_activity(house, method, n) or ([], 0.0)
                width = 0.8 / len(methods)
                left = np.arange(len(shares)) + place * width
                color = STYLES[method][0]
                panel.bar(
                    left,
                    100 * np.array(shares),
                    width,
                    color=color,
                    label=NAMES[method],
                )
            names = activities_of(house, len(shares))
            if len(names) == len(shares):
                panel.set_xticks(np.arange(len(names)) + 0.4, names, rotation=90)
            panel.tick_params(axis="x", labelsize=7)
            panel.set(title=f"{house}, {n} sensors", ylabel="error %")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), **LEGEND)
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = Path(__file__).parent / "results"
    parser.add_argument("--results", type=Path, default=default)
    folder = parser.parse_args().results
    lines = read_lines(folder / "sensors.csv")
    if not lines:
        print("sensors: left out, no sensors.csv")
        return
    study = Study(lines)
    for house in study.houses:
        sizes = [n for n in (1, 2, 3, 4, 5, 6, 8, 10, 14) if n <= study.most(house)]
        error_table(study, house, sizes)
        feature_table(study, house, sizes)
        chosen_table(study, house, min(5, study.most(house)))
    needed_table(study)
    draw_curves(study, folder / "sensors.png")
    draw_activities(study, folder / "sensors_activities.png")


if __name__ == "__main__":
    main()
