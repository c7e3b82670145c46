"""Find twenty planted features among a million million, in a few megabytes.

Writes a stream of 30,000 examples in libsvm text to a temporary folder. Each example
has about 40 of 2^40 possible features; only twenty of those have anything to do with the
label. Then runs the command line on it, the way you would on a file of your own.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

N_EXAMPLES, N_PLANTED, N_COMMON, NNZ = 30_000, 20, 200_000, 40


def write_stream(path, seed=0):
    """Write the examples; return the planted ids."""
    rng = np.random.default_rng(seed)
    vocabulary = rng.choice(2**40, N_COMMON, replace=False)
    planted = vocabulary[:N_PLANTED]
    weights = rng.choice([-1.0, 1.0], N_PLANTED) * rng.uniform(1.5, 3.0, N_PLANTED)
    with path.open("w") as out:
        for _ in range(N_EXAMPLES):
            told = rng.choice(N_PLANTED, 4, replace=False)
            noise = vocabulary[rng.integers(N_PLANTED, N_COMMON, NNZ - 4)]
            ids = np.unique(np.concatenate([planted[told], noise]))
            chance = 1 / (1 + np.exp(-weights[told].sum()))
            label = 1 if rng.random() < chance else -1
            out.write(f"{label} " + " ".join(f"{i}:1" for i in ids) + "\n")
    return planted


def main():
    """Make the stream, select from it, compare with what was planted."""
    with tempfile.TemporaryDirectory() as folder:
        stream = Path(folder) / "stream.svm"
        print(f"writing {N_EXAMPLES:,} examples over 2^40 features ...", flush=True)
        planted = write_stream(stream)
        command = ["select", str(stream), "-k", str(N_PLANTED), "--memory", "4MB"]
        print(
            f"$ shortlist {' '.join(command[:1])} stream.svm", *command[2:], flush=True
        )
        run = [sys.executable, "-m", "shortlist", *command]
        subprocess.run(run, check=True)
        again = subprocess.run(
            [*run, "--format", "json", "--quiet"], check=True, capture_output=True
        )
        chosen = {entry["id"] for entry in json.loads(again.stdout)["entries"]}
        found = len(chosen & set(planted.tolist()))
        print(f"\nfound {found} of the {N_PLANTED} planted features")
        print("next: shortlist select --help, or the README for Python")


if __name__ == "__main__":
    main()
