"""The one place where benchmarks and papers find real data.

Files are looked for in the folder that $SHORTLIST_DATA names, else in ``data/`` of the
project; nothing is downloaded. Each is a NumPy archive with ``y`` and either ``X`` or the
parts of a CSR matrix (``data``, ``indices``, ``indptr``, ``shape``). Genomes are FASTA
files in ``genomes/`` of that folder, recordings of houses archives in ``sensors/``.
"""

import os
from pathlib import Path

import numpy as np


class Missing(Exception):
    """Data that are not here; its text says where they were looked for."""


def folder():
    """Where data are looked for."""
    default = Path(__file__).resolve().parents[1] / "data"
    return Path(os.environ.get("SHORTLIST_DATA", default))


def load(name):
    """X, as an array or CSR matrix of floats, and y.

    Raises
    ------
    Missing
        If there is no such file.
    """
    path = _found(name, folder() / f"{name}.npz")
    with np.load(path, allow_pickle=False) as archive:
        y = archive["y"]
        if "X" in archive:
            return archive["X"].astype(np.float64), y
        from scipy.sparse import csr_array

        parts = tuple(archive[part] for part in ("data", "indices", "indptr"))
        X = csr_array(parts, shape=tuple(archive["shape"].tolist()))
        return X.astype(np.float64), y


def genome(name):
    """Path of a genome.

    Raises
    ------
    Missing
        If there is no such file.
    """
    return _found(name, folder() / "genomes" / f"{name}.fna.gz")


def house(name):
    """Recording of a house: its arrays by name.

    ``X_change`` and ``X_last`` (a sensor has just changed; it was the last to do so), a row
    a minute, ``y`` with 0 for no label, ``day``, ``sensor_names``, ``activity_names``.

    Raises
    ------
    Missing
        If there is no such file.
    """
    path = _found(name, folder() / "sensors" / f"{name}.npz")
    with np.load(path, allow_pickle=False) as archive:
        return {part: archive[part] for part in archive.files}


def _found(name, path):
    if not path.exists():
        raise Missing(
            f"{name}: no {path.name} in {path.parent}; set SHORTLIST_DATA to the folder "
            "that has it"
        )
    return path
