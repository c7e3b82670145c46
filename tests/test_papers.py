"""Scripts that rerun papers still run; what they need and do not find, they name."""

import subprocess
import sys
from argparse import Namespace
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
        "gsr.timing",
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


@pytest.mark.parametrize(
    ("script", "words", "files"),
    [
        (
            "filters",
            ["--data", "small", "-k", "3", "--trials", "1", "--out", "few.csv"],
            ["few.csv"],
        ),
        (
            "gsr_cost",
            ["--quick", "--repeats", "1", "--out", "."],
            ["cost.csv", "growth.csv"],
        ),
    ],
)
def test_a_benchmark_runs_and_writes_what_it_found(
    scripts, tmp_path, script, words, files
):
    from papers.results import read_lines

    words = [str(tmp_path / w) if w in ("few.csv", ".") else w for w in words]
    command = [sys.executable, "-m", f"benchmarks.{script}", *words]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "gsr" in done.stdout
    for file in files:
        lines = read_lines(tmp_path / file)
        assert lines
        assert all(float(line["seconds"]) > 0.0 for line in lines)


def test_results_are_taken_up_not_measured_again(scripts, tmp_path, capsys):
    from benchmarks.filters import measure, summarise

    asked = Namespace(method=["mrmr_f", "relieff"], trials=1, k=3)
    few = measure("small", asked, tmp_path / "few.csv")
    asked.trials = 2
    more = measure("small", asked, tmp_path / "few.csv")
    assert [line["method"] for line in few] == ["mrmr_f", "relieff"]
    assert more[:2] == few
    assert sorted(line["trial"] for line in more) == ["0", "0", "1", "1"]
    summarise("small", more)
    assert "| small | relieff | 2 | " in capsys.readouterr().out


def test_figures_are_drawn_of_the_results_there_are(tmp_path):
    fields = [f"top{k}" for k in range(10, 101, 10)]
    rows = [
        ",".join(["small", method, "0", "0.1", "", "", *["0.5"] * len(fields)])
        for method in ("gsr", "mrmr")
    ]
    head = ",".join(["set", "method", "trial", "seconds", "r", "lam", *fields])
    (tmp_path / "accuracy.csv").write_text("\n".join([head, *rows]) + "\n")
    command = [sys.executable, "-m", "papers.gsr.figures", "--results", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "accuracy.png").stat().st_size > 1000
    assert "growth: left out, no growth.csv" in done.stdout


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
