"""A click log made on the spot: power-law features, few of which matter.

Ten million possible ids, about 75 in a row, drawn with probability falling as rank^-1.1;
2,000 of those between ranks 20 and 20,000 carry weight. Labels are drawn from the
logistic model, with margins of standard deviation 3, so that nobody can be right much
more often than 78.6 % of the time. Rows come in chunks of 5,000, each with a generator
of its own: any range of rows can be written alone, and train and test never overlap.
"""

from pathlib import Path

import numpy as np

CHUNK = 5000
N_IDS = 10_000_000
MEAN_NNZ = 75
N_TRUE = 2000
EXPONENT = 1.1
SPREAD = 3.0


def _id_of(rank):
    """Scramble ranks so that frequent ids do not sit side by side."""
    return (rank * 7_368_787 + 12_345) % N_IDS + 1


class ClickStream:
    """The design for one seed."""

    def __init__(self, seed=1):
        self.seed = seed
        rng = np.random.default_rng([seed, 0])
        ranks = rng.choice(np.arange(20, 20_000), N_TRUE, replace=False)
        self.true_ids = _id_of(ranks)
        sizes = rng.normal(size=N_TRUE)
        self._weights = np.zeros(N_IDS + 1)
        self._weights[self.true_ids] = sizes + np.sign(rng.normal(size=N_TRUE))
        self._scale = 1.0
        self._scale = SPREAD / self.chunk(0)["margin"].std()

    def chunk(self, number):
        """Rows number * 5000 and on: ids, values, row pointers, margins and labels."""
        rng = np.random.default_rng([self.seed, 1 + number])
        lengths = np.maximum(rng.poisson(MEAN_NNZ, CHUNK), 5)
        rows = np.repeat(np.arange(CHUNK), lengths)
        # Inverse of the distribution function of a power law cut off at N_IDS.
        tail = N_IDS ** (1 - EXPONENT) - 1
        rank = (rng.random(rows.size) * tail + 1) ** (1 / (1 - EXPONENT))
        ids = _id_of(np.minimum(rank.astype(np.int64) - 1, N_IDS - 1))
        values = np.exp(rng.normal(-0.3, 0.6, rows.size)) / np.sqrt(MEAN_NNZ)
        # One nonzero an id in a row, sorted.
        _, first = np.unique(rows * (N_IDS + 2) + ids, return_index=True)
        rows, ids = rows[first], ids[first]
        values = np.round(values[first], 5) + 1e-5
        margin = np.bincount(rows, self._weights[ids] * values, CHUNK) * self._scale
        labels = rng.random(CHUNK) < 1 / (1 + np.exp(-margin))
        return {
            "ids": ids,
            "values": values,
            "indptr": np.searchsorted(rows, np.arange(CHUNK + 1)),
            "margin": margin,
            "y": np.where(labels, 1, -1),
        }

    def write(self, path, n_rows, first_row=0):
        """Write rows as libsvm text; first_row is a multiple of 5000. Return the path."""
        path = Path(path)
        with path.open("w") as out:
            left = n_rows
            for number in range(first_row // CHUNK, -(-(first_row + n_rows) // CHUNK)):
                part = self.chunk(number)
                pairs = [
                    f"{i}:{v:.5g}"
                    for i, v in zip(
                        part["ids"].tolist(), part["values"].tolist(), strict=True
                    )
                ]
                ends = part["indptr"].tolist()
                for row in range(min(CHUNK, left)):
                    words = " ".join(pairs[ends[row] : ends[row + 1]])
                    out.write(f"{part['y'][row]} {words}\n")
                left -= CHUNK
        return path
