"""Draw the map of a metro from nothing but the delays at its stations.

Three lines of ten stations each cross at two interchanges. A delay spreads along the
tracks, so after a while everything is correlated with everything. But given all other
stations a station depends on its neighbours only: that is what covariance selection
looks for, one pair of stations at a time.
"""

from itertools import pairwise

import numpy as np

from shortlist import FoBa
from shortlist.objectives import LogDetObjective

LENGTH, N_DAYS = 10, 1000
INTERCHANGES = {"blue 5": "red 4", "green 7": "red 8"}  # two names, one station


def make_metro():
    """Return the stations, and the tracks between them as pairs of stations."""
    lines = [
        [
            INTERCHANGES.get(name, name)
            for name in (f"{line} {i}" for i in range(LENGTH))
        ]
        for line in ("red", "blue", "green")
    ]
    stations = list(dict.fromkeys(station for line in lines for station in line))
    tracks = [ends for line in lines for ends in pairwise(line)]
    return stations, tracks


def observe_delays(stations, tracks, seed=0):
    """Return delays of shape (days, stations), passed on along the tracks."""
    place = {station: i for i, station in enumerate(stations)}
    rng = np.random.default_rng(seed)
    precision = 0.5 * np.eye(len(stations))
    for a, b in tracks:  # neighbours pull each other towards the same delay
        i, j = place[a], place[b]
        pull = rng.uniform(0.5, 5.0)
        precision[[i, j], [i, j]] += pull
        precision[[i, j], [j, i]] -= pull
    noise = rng.normal(size=(len(stations), N_DAYS))
    return np.linalg.solve(np.linalg.cholesky(precision).T, noise).T


def main():
    """Observe delays, select as many pairs as there are tracks, compare."""
    stations, tracks = make_metro()
    delays = observe_delays(stations, tracks)
    objective = LogDetObjective.from_samples(delays, names=stations)
    k, n_pairs = len(tracks), objective.n_coordinates
    print(
        f"{len(stations)} stations, {N_DAYS} days, {n_pairs} pairs, {k} of them tracks"
    )

    selector = FoBa(k=k, objective=objective).fit()
    chosen = [objective.names[pair] for pair in selector.get_support(indices=True)]
    true = {f"{a} -- {b}" for a, b in tracks} | {f"{b} -- {a}" for a, b in tracks}
    for name in chosen:
        print(f"  {name}" + ("" if name in true else "   (no track)"))
    print(f"found {len(true.intersection(chosen))} of {k} tracks")

    # without pairs, the gradient is the correlations
    correlations = np.abs(objective.gradient(objective.refit(np.empty(0, int))))
    largest = [objective.names[pair] for pair in np.argsort(-correlations)[:k]]
    print(f"the {k} largest correlations hold {len(true.intersection(largest))}")


if __name__ == "__main__":
    main()
