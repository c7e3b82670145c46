"""shortlist select with the methods of room rows."""

import numpy as np
import pytest

from shortlist import Shortlist
from shortlist._registry import selectors
from shortlist.cli._progress import detail

METHODS = ["barda", "bamd", "ofs", "sofs", "l1arda", "adafobos"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.svm"
    lines = [
        f"{i % 2} {i % 2 + 7}:1 {100 + i % 90}:0.5 {10**15 + i}:1" for i in range(400)
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("method", METHODS)
def test_a_method_agrees_with_its_estimator(run, rows, tmp_path, method):
    model = tmp_path / "model.shortlist"
    asked = ["select", rows, "--method", method, "-k", 2, "--holdout", 0]
    done = run(*asked, "-o", model)
    assert done.exit_code == 0, done.stderr
    fitted = selectors()[method].load("estimator")(2).fit_source(rows)
    chosen = Shortlist.load(model)
    assert chosen.names == fitted.shortlist_.names
    np.testing.assert_array_equal(chosen.weights, fitted.shortlist_.weights)
    assert chosen.params["normalize"] == "l2"
    forgets = method in ("bamd", "ofs")  # what it drops, at once
    assert set(chosen.names) >= ({"8"} if forgets else {"7", "8"})


def test_settings_reach_the_method_and_the_command_that_repeats_it(run, rows, tmp_path):
    model = tmp_path / "model.shortlist"
    words = ["--eta", 0.1, "--lam", 0.001, "--delta", 0.02, "--forget", 0.99]
    words += ["--truncation", "naive", "--no-refit", "--normalize", "none"]
    asked = ["select", rows, "-k", 2, "--method", "barda", *words]
    done = run(*asked, "-o", model)
    assert done.exit_code == 0, done.stderr
    params = Shortlist.load(model).params
    expected = {"eta": 0.1, "lam": 0.001, "delta": 0.02, "forget": 0.99}
    expected |= {"truncation": "naive", "refit": False}
    assert {name: params[name] for name in expected} == expected
    assert "normalize" not in params
    again = run(*params["command"].split()[1:], "-o", model)
    assert again.exit_code == 0, again.stderr
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    ("method", "option"),
    [("ofs", "--delta"), ("adafobos", "--forget"), ("mission", "--eta")],
)
def test_settings_of_others_are_refused(run, rows, method, option):
    refused = run("select", rows, "-k", 2, "--method", method, option, 0.5)
    assert refused.exit_code == 2
    assert f"{method} has no setting {option}" in refused.stderr


def test_gamma_reaches_sofs(run, rows, tmp_path):
    model = tmp_path / "model.shortlist"
    asked = ["select", rows, "-k", 2, "--method", "sofs", "--gamma", 7.5]
    done = run(*asked, "-o", model)
    assert done.exit_code == 0, done.stderr
    assert Shortlist.load(model).params["gamma"] == 7.5
    none = run("select", rows, "-k", 2, "--method", "barda", "--gamma", 2)
    assert "barda has no setting --gamma" in none.stderr


def test_accuracy_so_far_stands_beside_the_bar(rows):
    from shortlist.engines import run as run_engine
    from shortlist.sources import LibsvmSource

    learner, heard = selectors()["barda"].load("algorithm")(3), []
    source = LibsvmSource(rows, block_bytes=2000)
    found = run_engine(learner, source, heard.append)
    explore = [progress for progress in heard if progress.stage == "explore"]
    assert len(explore) > 2
    # the trace has one window: all 400 rows
    assert explore[-1].accuracy == pytest.approx(found.trace["accuracy"][0])
    assert explore[-1].accuracy > explore[0].accuracy
    assert f"accuracy {100 * explore[-1].accuracy:.1f}%" in detail(
        explore[-1], 1.0, 1.0
    )


def test_numbers_to_predict_have_no_accuracy(run, write_rows, tmp_path):
    from shortlist.engines import run as run_engine
    from shortlist.sources import LibsvmSource

    learner, heard = selectors()["barda"].load("algorithm")(3), []
    source = LibsvmSource(write_rows(tmp_path / "rows.svm", 300, n_classes=0))
    run_engine(learner, source, heard.append)
    assert np.isnan(heard[0].accuracy)
    assert "loss" in detail(heard[0], 1.0, 1.0)
    assert "accuracy" not in detail(heard[0], 1.0, 1.0)


def test_a_pipe_is_learned_in_one_pass(run, rows):
    asked = ["select", "-", "-k", 2, "--method", "barda", "--format", "csv"]
    done = run(*asked, stdin=rows.read_text())
    assert done.exit_code == 0, done.stderr
    assert {line.split(",")[1] for line in done.stdout.splitlines()[1:]} == {"7", "8"}


def test_a_dry_run_knows_what_it_would_do(run, rows):
    text = run("select", rows, "-k", 2, "--method", "barda", "--dry-run").stdout
    assert "rows: rows come one by one" in text
    assert "refit: 2 passes (explore, refit)" in text


@pytest.mark.parametrize("method", ["barda", "adafobos"])
def test_a_stopped_run_goes_on_to_the_same_bits(run, rows, tmp_path, method):
    from shortlist.engines import Interrupted, Keeper, load_snapshot
    from shortlist.engines import run as run_engine
    from shortlist.sources import LibsvmSource

    learner = selectors()[method].load("algorithm")(3, passes=2)
    whole = run_engine(learner, LibsvmSource(rows, block_bytes=2000))
    stops = iter([False] * 11 + [True])
    path = tmp_path / "run.checkpoint"
    keeper = Keeper(path, {}, every=1e9, wants_stop=lambda: next(stops))
    with pytest.raises(Interrupted):
        run_engine(learner, LibsvmSource(rows, block_bytes=2000), keeper=keeper)
    snapshot = load_snapshot(path, {})
    assert 0 < snapshot.place.rows < 400
    resumed = run_engine(learner, LibsvmSource(rows, block_bytes=3000), resume=snapshot)
    assert resumed == whole
