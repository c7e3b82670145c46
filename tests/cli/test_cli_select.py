"""shortlist select: choosing, saving, refusing."""

import csv
import gzip
import io
import json

import numpy as np
import pytest

from shortlist import Shortlist
from shortlist._registry import selectors
from shortlist.cli.select import select
from shortlist.kernels.csr import draw_rows

HELD_OUT = draw_rows(0, 2000, 0, 0.2)


def names(result):
    return {row["name"] for row in csv.DictReader(io.StringIO(result.stdout))}


def option_help(name):
    return next(param.help for param in select.params if param.name == name)


def test_finds_what_was_planted(run, data, planted):
    result = run("select", data, "-k", 4)
    assert result.exit_code == 0
    assert result.stdout.startswith("4 of 25,819 features chosen by foba (logistic)")
    assert all(name in result.stdout for name in planted)
    picked, scored = result.stderr.splitlines()
    assert picked.startswith("foba (room table): sparse rows (2,000 rows, ")
    assert picked.endswith("; --method asks for another")
    assert scored.startswith("held out: accuracy 0.")
    n = int(HELD_OUT.sum())
    assert f" on {n:,} rows (" in result.stderr
    assert f"{2000 - n:,} examples" in result.stdout


def test_forms_of_the_result(run, data, model):
    chosen = Shortlist.load(model)
    words = ["select", data, "-k", 4, "--method", "mission"]
    assert run(*words).stdout == f"{chosen}\n"
    assert run(*words, "--format", "csv").stdout == chosen.to_csv_text()
    told = json.loads(run(*words, "--format", "json").stdout)
    assert told == json.loads(json.dumps(chosen.to_dict()))


def test_the_score_is_kept_with_the_result(run, data, model):
    kept = Shortlist.load(model).params["holdout"]
    assert kept["metric"] == "accuracy"
    assert kept["n_rows"] == HELD_OUT.sum()
    line = run("select", data, "-k", 4).stderr
    assert f"accuracy {kept['value']:.3f} " in line
    assert f"({kept['baseline']:.3f} by " in line


def test_rows_held_out_are_never_learned_from(run, data, planted, tmp_path):
    """Labels of held-out rows may say anything: the shortlist stays the same."""
    lines = data.read_text().splitlines()
    for i in np.flatnonzero(HELD_OUT):
        label, rest = lines[i].split(maxsplit=1)
        lines[i] = f"{-int(label)} {rest}"
    lied = tmp_path / "lied.svm"
    lied.write_text("\n".join(lines) + "\n")
    honest, other = run("select", data, "-k", 4), run("select", lied, "-k", 4)
    assert other.stdout == honest.stdout
    assert other.stderr != honest.stderr


def test_holdout_can_be_switched_off(run, write_rows, tmp_path):
    few = write_rows(tmp_path / "few.svm", 300)
    result = run("select", few, "-k", 4, "--holdout", 0, "-q")
    assert "300 examples" in result.stdout
    assert result.stderr == ""


def test_a_small_file_is_learned_whole(run, write_rows, tmp_path):
    small = write_rows(tmp_path / "small.svm", 30)
    result = run("select", small, "-k", 2)
    assert "30 examples" in result.stdout
    assert "too few to judge by, so all were learned from" in result.stderr
    piped = run("select", "-", "-k", 2, stdin=small.read_bytes())
    assert piped.exit_code == 0
    assert "too few to judge by" in piped.stderr


def test_a_pipe_is_read_once_and_scored(run, data, planted):
    result = run("select", "-", "-k", 4, "--format", "csv", stdin=data.read_bytes())
    assert result.exit_code == 0
    assert names(result) == planted
    assert "held out: accuracy 0." in result.stderr
    refit = run("select", "-", "-k", 4, "--recipe", "refit", stdin=data.read_bytes())
    assert refit.exit_code == 2
    assert "read only once" in refit.stderr
    assert run("select", "-", "-", "-k", 4, stdin=b"").exit_code == 2


def test_several_files_patterns_and_compression(run, data, tmp_path):
    lines = data.read_bytes().splitlines(keepends=True)
    (tmp_path / "a.svm").write_bytes(b"".join(lines[:500]))
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress(b"".join(lines[500:])))
    whole = run("select", data, "-k", 4)
    for words in (["a.svm", "b.svm.gz"], ["[ab].svm*"]):
        parts = run("select", *(tmp_path / word for word in words), "-k", 4)
        assert (parts.stdout, parts.stderr) == (whole.stdout, whole.stderr)


def test_the_same_command_gives_the_same_bytes_whatever_the_blocks(
    run, data, model, tmp_path, monkeypatch
):
    from shortlist.sources import LibsvmSource

    again = tmp_path / "again"
    first = run("select", data, "-k", 4, "--method", "mission")
    for block_bytes in (1 << 20, 4096):
        monkeypatch.setattr(
            "shortlist.sources.LibsvmSource",
            lambda paths, on_error, block_bytes, size=block_bytes: LibsvmSource(
                paths, on_error=on_error, block_bytes=size
            ),
        )
        result = run("select", data, "-k", 4, "--method", "mission", "-o", again)
        assert result.stdout == first.stdout
        assert result.stderr.startswith(first.stderr)
        assert again.read_bytes() == model.read_bytes()


def test_rows_too_many_to_keep_are_read_once_more_for_the_same_weights(
    run, data, monkeypatch
):
    """Candidates are many and do not fit; the four that stay do, and are fitted exactly."""
    from shortlist import _refit

    kept = json.loads(run("select", data, "-k", 4, "--format", "json").stdout)
    monkeypatch.setattr(_refit, "EXACT_NNZ", 10_000)
    read_again = json.loads(run("select", data, "-k", 4, "--format", "json").stdout)
    weights = [
        {entry["name"]: entry["weight"] for entry in told["entries"]}
        for told in (kept, read_again)
    ]
    assert weights[0] == pytest.approx(weights[1], rel=1e-3)


def test_seed_changes_what_is_held_out(run, data):
    one, two = (run("select", data, "-k", 4, "--seed", seed) for seed in (1, 2))
    assert one.stderr != two.stderr


def test_always_and_never(run, data, planted):
    words = ["select", data, "-k", 4, "--format", "csv", "--method", "mission"]
    assert names(run(*words, "--never", "17", "--never", "40")) & {"17", "40"} == set()
    assert "1234" in names(run(*words, "--always", "1234"))
    both = run(*words, "--always", "17", "--never", "17")
    assert both.exit_code == 2
    assert "17" in both.stderr
    unknown = run(*words, "--never", "price")
    assert unknown.exit_code == 2
    assert "'price'" in unknown.stderr
    many = run("select", data, "-k", 1, "--always", "17", "--always", "40")
    assert many.exit_code == 2
    assert "--always names 2 features, more than the budget -k 1" in many.stderr


def test_numbers_and_many_classes(run, write_rows, tmp_path, planted):
    numbers = write_rows(tmp_path / "numbers.svm", 600, n_classes=0)
    result = run("select", numbers, "-k", 4)
    assert "(squared)" in result.stdout
    assert "held out: R2 0.9" in result.stderr
    assert "(0 by always saying the mean)" in result.stderr
    classes = write_rows(tmp_path / "classes.svm", 600, n_classes=3)
    by_mission = ["--method", "mission", "--format", "json"]
    each = json.loads(run("select", classes, "-k", 4, *by_mission).stdout)
    assert (each["loss"], each["budget"], len(each["entries"])) == (
        "softmax",
        "per_class",
        12,
    )
    for words in ([], ["--memory", "1MB"], ["--budget", "shared"]):
        shared = run("select", classes, "-k", 4, *words, "--format", "csv")
        assert len(names(shared)) == 4, words


def test_notes_reach_people_whatever_the_form(run, write_rows, tmp_path):
    path = tmp_path / "ratings.svm"
    path.write_text("\n".join(f"{i % 40} {i % 40}:1 99:2" for i in range(200)))
    assert "note: 40 different whole numbers" in run("select", path, "-k", 2).stdout
    result = run("select", path, "-k", 2, "--format", "csv")
    assert "note: 40 different whole numbers" in result.stderr


def test_bad_lines_end_it_or_are_counted(run, data, tmp_path):
    bad = tmp_path / "bad.svm"
    lines = data.read_text().splitlines(keepends=True)
    bad.write_text("".join([*lines[:1500], "1 7:seven\n", *lines[1500:], "what?\n"]))
    result = run("select", bad, "-k", 4, "-q")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"shortlist: error: {bad}:1501: expected a number after ':', got '7:seven'; "
        "--on-error skip leaves such lines out\n"
    )
    skipping = run("select", bad, "-k", 4, "--on-error", "skip", "--format", "csv")
    assert skipping.stdout == run("select", data, "-k", 4, "--format", "csv").stdout
    assert "note: 2 bad lines were left out\n" in skipping.stderr


def test_unknown_labels_name_the_file_and_the_way_out(run, data, tmp_path):
    odd = tmp_path / "odd.svm"
    odd.write_text(data.read_text() + "3 17:1\n" * 5)
    result = run("select", odd, "-k", 4, "-q")
    assert (result.exit_code, result.stdout) == (1, "")
    line = len(data.read_text().splitlines()) + 1
    expected = "expected one of the labels -1, 1 (--classes names others), got 3"
    assert result.stderr.startswith(f"shortlist: error: {odd}:{line}: {expected}; ")
    assert run("select", odd, "-k", 4, "--classes=-1,1,3").exit_code == 0


def test_bad_labels_are_skipped_like_bad_lines(run, data, tmp_path):
    odd = tmp_path / "odd.svm"
    odd.write_text(data.read_text() + "3 17:1\n" * 50)  # some of them held out
    clean = run("select", data, "-k", 4, "--format", "csv")
    result = run("select", odd, "-k", 4, "--on-error", "skip", "--format", "csv")
    assert (result.exit_code, result.stdout) == (0, clean.stdout)
    assert "rows with bad labels were left out" in result.stderr
    held_out = [line for line in clean.stderr.splitlines() if "held out" in line]
    assert held_out[0] in result.stderr


def test_held_out_rows_that_cannot_be_scored_do_not_cost_the_result(
    run, data, tmp_path
):
    lines = data.read_text().splitlines()
    last = int(np.flatnonzero(HELD_OUT)[-1])
    lines[last] = "7 17:1"
    odd, out = tmp_path / "odd.svm", tmp_path / "m"
    odd.write_text("\n".join(lines) + "\n")
    result = run("select", odd, "-k", 4, "-o", out)
    assert result.exit_code == 1
    assert result.stdout.startswith("4 of 25,819 features chosen")
    assert "held out: no score" in result.stderr
    error = result.stderr.splitlines()[-1]
    assert error.startswith(f"shortlist: error: {odd}:{last + 1}: expected one of")
    assert len(Shortlist.load(out).names) == 4


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--loss", "cheap"], "loss should be one of"),
        (["--loss", "squared_vector"], "no method for sparse rows goes with"),
        (["--classes", "yes,no"], "numbers"),
        (["--memory", "lots"], "16MB"),
        (["--memory", "1KB"], "too small"),
        (["--method", "magic"], "mission"),
        (["--recipe", "soup"], "newton"),
        (["--holdout", "1"], "--holdout"),
        (["--passes", "0"], "--passes"),
        (["--on-error", "ignore"], "skip"),
    ],
)
def test_bad_values_are_named(run, data, words, expected):
    result = run("select", data, "-k", 4, "-q", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert expected in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("out", [".", "none/model", "-", "data.svm", "./data.svm"])
def test_places_a_model_cannot_go_are_refused_before_work(
    run, data, tmp_path, monkeypatch, out
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.svm").write_bytes(data.read_bytes())
    monkeypatch.setattr("shortlist.engines.run", None)  # work would fail
    result = run("select", "*.svm", "-k", 4, "-o", out)
    assert result.exit_code == 2
    assert "-o" in result.stderr
    assert (tmp_path / "data.svm").read_bytes() == data.read_bytes()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_model_is_never_put_in_place_of_a_device(run, data):
    result = run("select", data, "-k", 4, "-o", "/dev/null")
    assert result.exit_code == 2
    assert "no regular file" in result.stderr


def test_a_failing_save_still_prints_the_result(run, data, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shortlist.storage._write_zip", full)
    result = run("select", data, "-k", 4, "-o", tmp_path / "m")
    assert result.exit_code == 1
    assert result.stdout.startswith("4 of 25,819 features chosen")
    assert "No space left on device" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_quiet_means_quiet(run, data, tmp_path):
    result = run("select", data, "-k", 4, "-o", tmp_path / "m", "-q")
    assert (result.exit_code, result.stderr) == (0, "")


def test_help_names_every_method_and_loss_there_is():
    for capabilities in selectors().values():
        assert capabilities.method in option_help("method")
        for loss in capabilities.losses:
            assert loss in option_help("loss")


def test_a_bad_line_late_in_a_file_loses_nothing_learned(run, tmp_path):
    lines = [f"{i % 2} {i % 2 + 7}:1 {100 + i}:0.5" for i in range(3000)]
    path, model = tmp_path / "late.svm", tmp_path / "model.shortlist"
    path.write_text("\n".join([*lines, "1 seven:1"]))
    result = run("select", path, "-k", 2, "-o", model)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "late.svm:3001: expected" in result.stderr
    assert "partial: bad data after" in result.stderr
    kept = Shortlist.load(model)
    assert {"7", "8"} & set(kept.names)  # one tells all that the other does
    assert any("partial: bad data after" in note for note in kept.notes)


@pytest.mark.parametrize(
    "method",
    ["foba", "projected_gradient", "iti", "pht", "gsr", "rfs", "mrmr", "relieff"],
)
def test_a_table_method_agrees_with_its_estimator(run, tmp_path, method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10)).round(3)
    y = (X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=200)).round(3)
    path, model = tmp_path / "table.svm", tmp_path / "model.shortlist"
    rows = (" ".join(f"{j}:{v}" for j, v in enumerate(row)) for row in X)
    path.write_text("".join(f"{t} {row}\n" for t, row in zip(y, rows, strict=True)))
    asked = ("select", path, "--method", method, "-k", 2, "--holdout", 0, "-o", model)
    assert run(*asked).exit_code == 0
    estimator = selectors()[method].load("estimator")
    chosen, fitted = Shortlist.load(model), estimator(2).fit(X, y)
    assert chosen.method == method
    assert chosen.params["objective"] == pytest.approx(
        fitted.shortlist_.params["objective"], rel=1e-8
    )
    assert sorted(chosen.names) == ["3", "7"]
    np.testing.assert_allclose(chosen.weights, fitted.shortlist_.weights, rtol=1e-8)
    refused = run("select", path, "--method", method, "-k", 2, "--passes", 3)
    assert refused.exit_code == 2
    assert f"{method} has no setting --passes" in refused.stderr


def test_pairs_are_chosen_and_predicted_with(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.choice([-1, 1], size=(600, 6))
    lines = [
        f"{a * b} " + " ".join(f"{j}:{v}" for j, v in enumerate(row))
        for row in X.tolist()
        for a, b in [(row[1], row[4])]
    ]
    path, model = tmp_path / "pairs.svm", tmp_path / "model"
    path.write_text("\n".join(lines))
    chosen = run("select", path, "-k", 1, "--interactions", 2, "-o", model)
    assert chosen.exit_code == 0, chosen.stderr
    assert "1*4" in chosen.stdout
    assert "accuracy 1.000" in chosen.stderr or "100" in chosen.stderr
    predicted = run("predict", model, path)
    assert predicted.exit_code == 0, predicted.stderr
    taken = run("transform", model, path, "-o", "-")
    assert taken.exit_code == 0, taken.stderr
    labels = [line.split()[0] for line in lines]
    assert [line.split()[0] for line in taken.stdout.splitlines()] == labels
    pipe = run("select", "-", "-k", 1, "--interactions", 2, stdin="\n".join(lines))
    assert pipe.exit_code == 1
    assert "save it to a file" in pipe.stderr


@pytest.mark.parametrize(
    ("method", "own"), [("sgd_iht", ()), ("batch_iht", ("batch",))]
)
def test_a_peer_of_mission_agrees_with_its_estimator(run, tmp_path, method, own):
    lines = [f"{i % 2} {i % 2 + 7}:1 {100 + i % 90}:0.5" for i in range(400)]
    path, model = tmp_path / "peer.svm", tmp_path / "model.shortlist"
    path.write_text("\n".join(lines))
    asked = ["select", path, "--method", method, "-k", 2, "--holdout", 0]
    batch = ["--batch", 50] if own else []
    assert run(*asked, *batch, "-o", model).exit_code == 0
    estimator = selectors()[method].load("estimator")
    fitted = estimator(2, **dict.fromkeys(own, 50)).fit_source(path)
    chosen = Shortlist.load(model)
    assert sorted(chosen.names) == ["7", "8"]
    np.testing.assert_array_equal(chosen.weights, fitted.shortlist_.weights)
    assert chosen.params.get("batch") == (50 if own else None)
    if not own:
        refused = run(*asked, "--batch", 50)
        assert "sgd_iht has no setting --batch" in refused.stderr


@pytest.mark.parametrize(("given", "used"), [("auto", "max_abs"), ("none", None)])
def test_units_are_seen_in_the_first_rows_unless_told_not_to(
    run, tmp_path, given, used
):
    rng = np.random.default_rng(0)
    age, kind = rng.integers(18, 90, 300), rng.integers(0, 4, 300)
    rows = [f"{a},k{b},{int(a > 50)}" for a, b in zip(age, kind, strict=True)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,kind,old", *rows]))
    words = ("--target", "old", "--format", "json", "--scale", given)
    result = run("select", path, "-k", 2, *words)
    assert json.loads(result.stdout)["params"]["scale"] == used
