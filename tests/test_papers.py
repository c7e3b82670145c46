"""Scripts that rerun papers still run; what they need and do not find, they name."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

ROOT = Path(__file__).parents[1]


@pytest.fixture
def scripts(monkeypatch):
    """Have benchmarks and papers importable, as from the project's root."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize(
    "script",
    [
        "foba.synthetic",
        "foba.corollary",
        "foba.real",
        "gsr.accuracy",
        "gsr.convergence",
        "gsr.outliers",
        "mission.phase",
        "mission.table1",
    ],
)
def test_the_quick_form_of_a_script_runs(script):
    command = [sys.executable, "-m", f"papers.{script}", "--quick"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert script.partition(".")[0] in done.stdout
    assert "Error" not in done.stdout


def test_data_that_are_missing_are_named(scripts, monkeypatch, tmp_path):
    from benchmarks.data import Missing, load

    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path))
    with pytest.raises(Missing, match=r"colon: no colon.npz in .*SHORTLIST_DATA"):
        load("colon")


def test_data_are_loaded_dense_and_sparse(scripts, monkeypatch, tmp_path):
    from benchmarks.data import load

    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path))
    X, y = np.eye(3, dtype=np.int8), np.array([0, 1, 1])
    np.savez(tmp_path / "dense.npz", X=X, y=y)
    S = csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    np.savez(tmp_path / "sparse.npz", y=y, **parts)
    dense, labels = load("dense")
    sparse, _ = load("sparse")
    assert dense.dtype == sparse.dtype == np.float64
    np.testing.assert_array_equal(dense, sparse.toarray())
    np.testing.assert_array_equal(labels, y)
