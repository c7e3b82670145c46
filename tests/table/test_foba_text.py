"""FoBa from rows of text: the command line agrees with the estimator."""

import csv
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

from shortlist import FoBa, Shortlist
from shortlist.cli import cli
from shortlist.engines import run
from shortlist.sources import ArraySource, LibsvmSource
from shortlist.table._foba_select import foba_learner


@pytest.fixture
def rows():
    """A sparse table with rounded numbers, and real labels."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((150, 12)) < 0.5, rng.normal(size=(150, 12)).round(3), 0.0)
    return X, (X[:, 3] - X[:, 7] + 0.5 * X[:, 9] + 0.1 * rng.normal(size=150)).round(3)


def written(path, X, y):
    """Rows as libsvm text; features have the ids 100, 101, ..."""
    lines = [
        f"{t} " + " ".join(f"{100 + j}:{x[j]}" for j in np.flatnonzero(x))
        for x, t in zip(X, y.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_the_command_line_agrees_with_the_estimator(rows, loss, tmp_path):
    X, y = rows
    if loss != "squared":
        y = np.digitize(y, [0.0] if loss == "logistic" else [-0.5, 0.5])
    data, model = written(tmp_path / "data.svm", X, y), tmp_path / "model.shortlist"
    words = ["select", str(data), "--method", "foba", "-k", "3", "--holdout", "0"]
    result = CliRunner().invoke(cli, [*words, "-o", str(model)])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"3 of 12 features chosen by foba ({loss})")
    ours, fitted = Shortlist.load(model), FoBa(3).fit(X, y)
    assert set(ours.names) == {"103", "107", "109"}
    assert (ours.ids - 100).tolist() == fitted.shortlist_.ids.tolist()
    assert ours.margin.tolist() == fitted.shortlist_.margin.tolist()
    np.testing.assert_allclose(ours.weights, fitted.shortlist_.weights, rtol=1e-7)
    np.testing.assert_allclose(ours.scores, fitted.shortlist_.scores, rtol=1e-7)
    np.testing.assert_allclose(ours.intercept, fitted.shortlist_.intercept, rtol=1e-7)
    assert ours.params["objective"] == pytest.approx(
        fitted.shortlist_.params["objective"], rel=1e-9
    )


def test_names_to_keep_and_to_leave_out_are_honoured(rows, tmp_path):
    data = written(tmp_path / "data.svm", *rows)
    words = ["select", str(data), "--method", "foba", "-k", "2", "--holdout", "0"]
    result = CliRunner().invoke(
        cli, [*words, "--always", "105", "--never", "103", "--format", "csv"]
    )
    assert result.exit_code == 0, result.output
    lines = csv.DictReader(result.stdout.splitlines())
    assert {line["name"] for line in lines} == {"105", "107"}


def test_blocks_of_rows_do_not_matter(rows, tmp_path):
    X, y = rows
    whole = run(foba_learner(3), ArraySource(sparse.csr_array(X), y))
    for size in (1, 7, 64):
        source = ArraySource(sparse.csr_array(X), y, block_rows=size)
        assert run(foba_learner(3), source) == whole
    text = run(foba_learner(3), LibsvmSource(written(tmp_path / "data.svm", X, y)))
    np.testing.assert_allclose(text.weights, whole.weights, rtol=1e-9)


def test_text_needs_no_scikit_learn(rows, tmp_path):
    data = written(tmp_path / "data.svm", *rows)
    code = (
        "import sys; from shortlist.cli import main; sys.argv = ['shortlist', 'select', "
        f"{str(data)!r}, '--method', 'foba', '-k', '3', '--holdout', '0']\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "assert 'shortlist.table' in sys.modules\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'sklearn'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 of 12 features chosen by foba")
    assert done.stdout.endswith("[]\n")
