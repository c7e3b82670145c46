"""Tables and figures of the sensor study.

    python -m papers.foba.sensors_report [--results FOLDER] > papers/foba/sensors.md

For n sensors each fold takes the largest support with at most n of them; steps are pooled
over the folds of a repeat, and repeats give a mean and its standard error. Repeats that are
not complete are left out. Prints Markdown and draws ``sensors.png`` (errors and numbers of
weights against the number of sensors) and ``sensors_activities.png`` (the error of each
activity).
"""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from benchmarks.data import Missing
from benchmarks.data import house as recording
from papers.foba.sensors import DONE, FOLDS
from papers.results import read_lines

NAMES = {
    "group": "whole sensors, FoBa",
    "group_forward": "whole sensors, forward",
    "eliminate": "whole sensors, elimination",
    "foba": "FoBa-gdt-CRF",
    "forward": "Forward-gdt-CRF",
    "l1_refit": "L1-CRF + refit",
    "l1": "L1-CRF",
}
STYLES = {
    "group": ("tab:blue", "o-"),
    "group_forward": ("tab:purple", "+--"),
    "eliminate": ("tab:cyan", "s-"),
    "foba": ("tab:red", "^-"),
    "forward": ("tab:orange", "v--"),
    "l1_refit": ("tab:green", "d-"),
    "l1": ("tab:gray", "x:"),
}
PEER = "l1_refit"
LEGEND = {"loc": "outside lower center", "ncols": 4}


class Study:
    """Results by house and method: of each repeat its folds, of each fold its sizes."""

    def __init__(self, lines, n_folds=FOLDS):
        found, self._seconds = defaultdict(dict), defaultdict(list)
        for line in lines:
            place = line["house"], line["method"], line["repeat"]
            if line["sensors"] == DONE:
                self._seconds[place[:2]].append(float(line["seconds"]))
            else:
                sizes = found[place].setdefault(line["fold"], {})
                sizes[int(line["sensors"])] = line
        self._by = defaultdict(list)
        for place, folds in found.items():
            if len(folds) == n_folds:
                self._by[place[:2]].append(list(folds.values()))
        self.houses = list(dict.fromkeys(house for house, _ in self._by))

    def methods(self, house):
        return [method for method in NAMES if (house, method) in self._by]

    def repeats(self, house, method):
        return len(self._by[house, method])

    def seconds(self, house, method):
        return np.mean(self._seconds[house, method.removesuffix("_refit")])

    def most(self, house):
        """Largest number of sensors that a fold has reached."""
        return max(
            size
            for method in self.methods(house)
            for repeat in self._by[house, method]
            for fold in repeat
            for size in fold
        )

    def at(self, house, method, n):
        """Lines for n sensors, by repeat and fold; None where there is none so small."""
        return [
            [
                max(
                    (line for size, line in fold.items() if size <= n),
                    key=lambda line: int(line["features"]),
                    default=None,
                )
                for fold in repeat
            ]
            for repeat in self._by.get((house, method), [])
        ]

    def by_activity(self, house, method, n):
        """Share of wrong steps by repeat and activity that comes; None if unknown."""
        repeats = self.at(house, method, n)
        if not repeats or any(None in folds for folds in repeats):
            return None
        return np.array([_counts(folds) for folds in repeats])

    def errors(self, house, method, n):
        """Macro and plain error in %, each by repeat; NaN if unknown."""
        counts = self.by_activity(house, method, n)
        if counts is None:
            return np.full((2, 1), np.nan)
        wrong, every = counts.transpose(2, 0, 1)
        comes = every[0] > 0
        macro = (wrong[:, comes] / every[:, comes]).mean(axis=1)
        return 100 * np.array([macro, wrong.sum(axis=1) / every.sum(axis=1)])

    def features(self, house, method, n):
        lines = [line for folds in self.at(house, method, n) for line in folds]
        if None in lines:
            return np.nan
        return np.mean([int(line["features"]) for line in lines])


def _counts(folds):
    """Wrong and all steps of each activity, folds together."""
    pairs = [[cell.split("/") for cell in line["counts"].split()] for line in folds]
    return np.array(pairs, float).sum(axis=0)


def spread(numbers):
    """Standard error of a mean; 0 if there is one number."""
    n = len(numbers)
    return np.std(numbers, ddof=1) / np.sqrt(n) if n > 1 else 0.0


def shown(numbers, form=".1f"):
    """Mean and its standard error, if there is one, as text."""
    mean = f"{np.mean(numbers):{form}}"
    return f"{mean} ± {spread(numbers):.1f}" if len(numbers) > 1 else mean


def table(title, head, rows):
    print(f"\n{title}:\n")
    print("| " + " | ".join(map(str, head)) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def error_table(study, house, sizes):
    repeats = study.repeats(house, study.methods(house)[0])
    rows = []
    for method in study.methods(house):
        cells = []
        for n in sizes:
            macro, plain = study.errors(house, method, n)
            cell = f"{shown(macro)} ({plain.mean():.2f})"
            cells.append("" if np.isnan(macro).any() else cell)
        rows.append([NAMES[method], *cells])
    title = f"{house}, macro error % (plain error %), repeats: {repeats}"
    table(title, ["sensors", *sizes], rows)


def feature_table(study, house, sizes):
    rows = []
    for method in study.methods(house):
        means = [study.features(house, method, n) for n in sizes]
        cells = ["" if np.isnan(mean) else f"{mean:.0f}" for mean in means]
        rows.append([NAMES[method], *cells])
    table(f"{house}, weights in use, mean over folds", ["sensors", *sizes], rows)


def chosen_table(study, house, n):
    print(f"\n{house}, {n} sensors by the share of folds that chose them, in %:\n")
    for method in study.methods(house):
        lines = [line for folds in study.at(house, method, n) for line in folds if line]
        times = Counter(
            name for line in lines for name in line["names"].split("; ") if name
        )
        listed = ", ".join(
            f"{name} {100 * often / len(lines):.0f}"
            for name, often in times.most_common(8)
        )
        print(f"- {NAMES[method]}: {listed}")


def curve(study, house, method):
    """Mean macro error by number of sensors, from 0; infinite if unknown."""
    means = [
        study.errors(house, method, n)[0].mean() for n in range(study.most(house) + 1)
    ]
    return np.where(np.isnan(means), np.inf, means)


def needed(means, target):
    """Fewest sensors for an error of at most target; "" if none are enough."""
    enough = np.flatnonzero(means <= target)
    return str(enough[0]) if len(enough) else ""


def needed_table(study, margin=2.0):
    rows = []
    for house in study.houses:
        every = min(
            curve(study, house, method)[-1]
            for method in study.methods(house)
            if NAMES[method].startswith("whole")
        )
        cells = [
            needed(curve(study, house, method), every + margin)
            if method in study.methods(house)
            else ""
            for method in NAMES
        ]
        rows.append([house, *cells])
    title = (
        f"Sensors for a macro error within {margin:.0f} points of that of all sensors"
    )
    table(title, ["house", *NAMES.values()], rows)


def same_error_table(study, house, sizes):
    """How many sensors do what n of the peer do, and how errors differ at n."""
    if PEER not in study.methods(house):
        return
    theirs, rows = curve(study, house, PEER), []
    for method in ("group", "eliminate", "foba"):
        if method not in study.methods(house):
            continue
        ours, cells = curve(study, house, method), []
        for n in sizes:
            gaps = (
                study.errors(house, method, n)[0] - study.errors(house, PEER, n)[0]
                if study.repeats(house, method) == study.repeats(house, PEER)
                else np.array([np.nan])
            )
            count = needed(ours, theirs[n]) if np.isfinite(theirs[n]) else ""
            cell = f"{count or '-'} ({shown(gaps, '+.1f')})"
            cells.append("" if np.isnan(gaps).any() else cell)
        rows.append([NAMES[method], *cells])
    title = (
        f"{house}, sensors for the mean macro error that {NAMES[PEER]} has with n (in "
        "brackets by how much macro errors differ at n, paired by repeat; -: never)"
    )
    table(title, ["n", *sizes], rows)


def time_table(study):
    rows = [
        [
            house,
            *(
                f"{study.seconds(house, m):.1f}" if m in study.methods(house) else ""
                for m in NAMES
                if m != PEER
            ),
        ]
        for house in study.houses
    ]
    names = [NAMES[method] for method in NAMES if method != PEER]
    table(
        "CPU seconds of a search (L1: all penalties and refits)",
        ["house", *names],
        rows,
    )


def activities_of(house, n):
    """Names of activities if the recording is here, else numbers."""
    try:
        return recording(house)["activity_names"][1:].tolist()
    except Missing:
        return [str(place) for place in range(n)]


def draw_curves(study, path):
    from matplotlib.figure import Figure

    houses = study.houses
    figure = Figure(figsize=(4.8 * len(houses), 9.6), layout="constrained")
    panels = figure.subplots(3, len(houses), squeeze=False)
    for column, house in enumerate(houses):
        sizes = np.arange(min(study.most(house), 30) + 1)
        for place, method in enumerate(study.methods(house)):
            color, style = STYLES[method]
            errors = [study.errors(house, method, n) for n in sizes]
            look = {"color": color, "label": NAMES[method], "markersize": 4}
            for row in range(2):
                means = [each[row].mean() for each in errors]
                bars = [spread(each[row]) for each in errors]
                beside = sizes + 0.06 * (place - 3)  # bars of methods side by side
                panels[row, column].errorbar(
                    beside, means, bars, fmt=style, elinewidth=0.8, **look
                )
            weights = [study.features(house, method, n) for n in sizes]
            panels[2, column].plot(sizes, weights, style, **look)
        for panel in panels[:, column]:
            panel.xaxis.get_major_locator().set_params(integer=True)
        panels[0, column].set(title=house, ylabel="macro error %", ylim=(0, None))
        panels[1, column].set(ylabel="plain error %", yscale="log")
        panels[2, column].set(ylabel="weights in use", xlabel="sensors")
        panels[2, column].set_yscale("symlog", linthresh=10)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), **LEGEND)
    figure.savefig(path, dpi=90)


def draw_activities(study, path, sizes=(3, 6)):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(study.houses), 8.0), layout="constrained")
    panels = figure.subplots(len(sizes), len(study.houses), squeeze=False)
    for column, house in enumerate(study.houses):
        left_out = ("l1", "group_forward", "forward")
        methods = [m for m in study.methods(house) if m not in left_out]
        for row, n in enumerate(sizes):
            panel, n_labels = panels[row, column], 0
            for place, method in enumerate(methods):
                counts = study.by_activity(house, method, n)
                if counts is None:
                    continue
                wrong, every = counts.transpose(2, 0, 1)
                shares = 100 * wrong / np.where(every > 0, every, np.nan)
                n_labels, width = shares.shape[1], 0.8 / len(methods)
                panel.bar(
                    np.arange(n_labels) + place * width,
                    shares.mean(axis=0),
                    width,
                    yerr=[spread(share) for share in shares.T],
                    error_kw={"elinewidth": 0.6},
                    color=STYLES[method][0],
                    label=NAMES[method],
                )
            names = activities_of(house, n_labels)
            if len(names) == n_labels:
                panel.set_xticks(np.arange(n_labels) + 0.3, names, rotation=90)
            panel.tick_params(axis="x", labelsize=7)
            panel.set(title=f"{house}, {n} sensors", ylabel="error %", ylim=(0, None))
    figure.legend(*panels[0, 0].get_legend_handles_labels(), **LEGEND)
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = Path(__file__).parent / "results"
    parser.add_argument("--results", type=Path, default=default)
    folder = parser.parse_args().results
    study = Study(read_lines(folder / "sensors.csv"))
    if not study.houses:
        print("sensors: left out, no complete repeat in sensors.csv")
        return
    print("# The sensor study: tables")
    print("\nMade by `papers.foba.sensors_report`; [README](README.md) says what of.")
    for house in study.houses:
        sizes = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 20, 30)
        sizes = [n for n in sizes if n <= study.most(house)]
        error_table(study, house, sizes)
        feature_table(study, house, sizes)
        same_error_table(study, house, sizes)
        chosen_table(study, house, min(5, study.most(house)))
    needed_table(study)
    time_table(study)
    draw_curves(study, folder / "sensors.png")
    draw_activities(study, folder / "sensors_activities.png")


if __name__ == "__main__":
    main()
