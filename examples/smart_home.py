"""Find the few sensors that tell what people do at home.

A made-up house with ten sensors in four rooms, recorded every minute for three weeks.
Somebody sleeps, washes, cooks, eats, watches television and goes out, in an order and for
a time that differ from day to day. Sensors miss things and fire without reason. Which of
them would have been enough?

The table that the example works on is the one you would export from your own house: a row
a minute in the order of time, a column a sensor, and the columns "day" and "activity".
With ``python examples/smart_home.py house.csv`` it is also written to a file, for

    shortlist sensors house.csv --label activity --sequence day -k 6 --plot curve.png
"""

import csv
import sys

import numpy as np

from shortlist import SensorSelector

SENSORS = {  # sensor: how often it fires in a minute of each activity
    "bed pressure": {"sleep": 0.9},
    "bedroom motion": {"sleep": 0.05, "wash": 0.05},
    "bathroom motion": {"wash": 0.8},
    "shower humidity": {"wash": 0.4},
    "stove": {"cook": 0.7},
    "fridge door": {"cook": 0.2, "eat": 0.05},
    "kitchen motion": {"cook": 0.8, "eat": 0.7},
    "kitchen chair": {"eat": 0.8},
    "television plug": {"watch": 0.95},
    "front door": {"out": 0.05},
}
MINUTES = {"sleep": 90, "wash": 15, "cook": 25, "eat": 20, "watch": 60, "out": 120}
HABITS = (  # what somebody does in a day; some things happen on some days only
    ("sleep", 1.0),
    ("wash", 0.9),
    ("cook", 0.6),
    ("eat", 0.9),
    ("out", 0.9),
    ("cook", 0.9),
    ("eat", 1.0),
    ("watch", 0.8),
    ("wash", 0.7),
    ("sleep", 1.0),
)
NOISE = 0.01  # a sensor fires without reason once in a hundred minutes


def record_house(n_days=21, seed=0):
    """Return what sensors say in each minute, the activity, and the day."""
    rng = np.random.default_rng(seed)
    activity, day = [], []
    for number in range(1, n_days + 1):
        for name, often in HABITS:
            if rng.random() < often:
                minutes = max(3, round(rng.gamma(4.0, MINUTES[name] / 4.0)))
                activity += [name] * minutes
                day += [f"day {number}"] * minutes
    chances = [[SENSORS[s].get(a, 0.0) for s in SENSORS] for a in activity]
    fires = rng.random((len(activity), len(SENSORS))) < np.array(chances) + NOISE
    return fires.astype(int), np.array(activity), np.array(day)


def write_table(path, fires, activity, day):
    """Write the recordings as CSV."""
    with open(path, "w", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(["day", "activity", *SENSORS])
        for name, what, row in zip(day, activity, fires.tolist(), strict=True):
            lines.writerow([name, what, *row])


def main():
    """Select sensors and say how well few of them do on days that were held out."""
    fires, activity, day = record_house()
    if len(sys.argv) > 1:
        write_table(sys.argv[1], fires, activity, day)
    print(f"{len(SENSORS)} sensors, {len(activity):,} minutes, {len(set(day))} days")
    selector = SensorSelector(k=len(SENSORS), sensors=list(SENSORS), cv=5)
    selector.fit(fires, activity, sequence=day)
    print("sensors  error  macro  by")
    for size, point in selector.path_.items():
        errors = point.held_out
        print(
            f"{size:>7}  {errors.plain:.3f}  {errors.macro:.3f}  "
            + ", ".join(point.sensors)
        )

    every = selector.path_[max(selector.path_)].held_out
    enough = next(
        point
        for point in selector.path_.values()
        if point.held_out.macro <= every.macro + 0.02
    )
    print(f"enough: {', '.join(enough.sensors)}")
    print(f"error of each activity, with these {len(enough.sensors)} and with all:")
    for name, few, all_of_them in zip(
        selector.classes_, enough.held_out.by_label, every.by_label, strict=True
    ):
        print(f"  {name:<6} {few:.3f}  {all_of_them:.3f}")


if __name__ == "__main__":
    main()
