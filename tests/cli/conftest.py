"""Data, a saved model and ways to run commands that the tests of all commands share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from shortlist.cli import cli

#: Features of ``data`` that decide the label; ids as large as any.
PLANTED = {str(2**63 + 5), "17", "40", "123456789012"}


@pytest.fixture
def run():
    """Run a command in this process: result has exit_code, stdout, stderr."""

    def run(*words, stdin=None):
        return CliRunner().invoke(cli, list(map(str, words)), input=stdin)

    return run


@pytest.fixture
def spawn():
    """Start a command in a process of its own."""
    started = []

    def spawn(*words, **options):
        command = [sys.executable, "-m", "shortlist.cli", *map(str, words)]
        pipe = subprocess.PIPE
        options = {"stdout": pipe, "stderr": pipe, "text": True} | options
        started.append(subprocess.Popen(command, **options))
        return started[-1]

    yield spawn
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _write_rows(path, n, *, n_classes=2, seed=0):
    """Libsvm text: four planted features decide, sixteen others are noise."""
    rng = np.random.default_rng(seed)
    planted = sorted(map(int, PLANTED))
    values = rng.normal(size=(n, 4)).round(3)
    score = values @ np.array([2.0, -3.0, 2.5, -2.0])
    if n_classes == 2:
        labels = np.where(score + rng.logistic(size=n) > 0, 1, -1).tolist()
    elif n_classes > 2:
        cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
        labels = (np.searchsorted(cuts, score) + 1).tolist()
    else:
        labels = (score + rng.normal(size=n)).round(2).tolist()
    noise = rng.integers(1000, 10**6, size=(n, 16)).tolist()
    with Path(path).open("w") as file:
        for label, chosen, others in zip(labels, values.tolist(), noise, strict=True):
            cells = [f"{i}:{v}" for i, v in zip(planted, chosen, strict=True)]
            cells += [f"{i}:1" for i in others]
            file.write(f"{label} {' '.join(cells)}\n")
    return path


@pytest.fixture(scope="session")
def write_rows():
    """Write a file of rows: ``write_rows(path, n, n_classes=2, seed=0)``."""
    return _write_rows


@pytest.fixture(scope="session")
def planted():
    """Names of the features that decide the labels."""
    return PLANTED


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Two thousand rows of two classes."""
    return _write_rows(tmp_path_factory.mktemp("data") / "data.svm", 2000)


@pytest.fixture(scope="session")
def model(data):
    """Shortlist of the four planted features, saved."""
    path = data.with_name("model.shortlist")
    words = ["select", str(data), "-k", "4", "--method", "mission", "-o", str(path)]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(autouse=True)
def _no_word_about_compiling(monkeypatch):
    """What standard error says should not depend on what has been compiled before."""
    monkeypatch.setenv("SHORTLIST_QUIET", "1")
