"""shortlist select with the methods of room rows."""

import numpy as np
import pytest

from shortlist import Shortlist
from shortlist._registry import selectors

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
