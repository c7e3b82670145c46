"""--label-map: classes in the place of labels, in any format."""

import pytest

from shortlist import Shortlist

GROUPS = "1\tlow\n2\tlow\n3\thigh\n"


@pytest.fixture
def rows(write_rows, tmp_path):
    return write_rows(tmp_path / "three.svm", 1200, n_classes=3)


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.tsv"
    path.write_text(GROUPS)
    return path


def test_labels_are_grouped_for_learning_and_for_scores(
    run, rows, groups, tmp_path, planted
):
    model = tmp_path / "m"
    words = ("select", rows, "-k", 4, "--label-map", groups, "-o", model)
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    shortlist = Shortlist.load(model)
    assert (shortlist.classes, set(shortlist.names)) == (("high", "low"), planted)
    assert f"--label-map {groups}" in shortlist.params["command"]
    said = run("predict", model, rows, "--label-map", groups)
    assert set(said.stdout.split()) == {"high", "low"}
    assert "on 1,200 rows" in said.stderr
    assert "scored: accuracy 0.9" in said.stderr
    without = run("predict", model, rows)
    assert without.stdout == said.stdout
    assert "not scored" in without.stderr


def test_labels_that_the_map_has_not_end_the_run_or_are_left_out(run, rows, tmp_path):
    path = tmp_path / "two.tsv"
    path.write_text("1\tlow\n3\thigh\n")
    words = ("select", rows, "-k", 4, "--label-map", path)
    bad = run(*words)
    assert bad.exit_code == 1
    assert "got 2; --on-error skip leaves such lines out" in bad.stderr
    line = int(bad.stderr.split(":")[3])
    assert rows.read_text().splitlines()[line - 1].startswith("2 ")
    model = tmp_path / "m"
    result = run(*words, "--on-error", "skip", "-o", model, "--holdout", 0)
    assert result.exit_code == 0, result.stderr
    assert "400 rows with bad labels were left out" in result.stdout
    said = run("predict", model, rows, "--label-map", path)
    assert "400 rows with other labels not scored" in said.stderr


def test_tables_and_json_take_names_for_labels(run, tmp_path):
    label_map = tmp_path / "map.tsv"
    label_map.write_text("cat\tpet\ndog\tpet\nwolf\twild\n")
    animals = ["cat", "dog", "wolf"] * 100
    size = {"cat": 1, "dog": 2, "wolf": 5}
    (tmp_path / "a.csv").write_text(
        "kind,size,n\n" + "".join(f"{a},{size[a]},{i}\n" for i, a in enumerate(animals))
    )
    (tmp_path / "a.jsonl").write_text(
        "".join(f'{{"kind":"{a}","size":{size[a]}}}\n' for a in animals)
    )
    for name in ("a.csv", "a.jsonl"):
        model = tmp_path / f"{name}.m"
        words = ("-k", 1, "--target", "kind", "--label-map", label_map)
        result = run("select", tmp_path / name, *words, "-o", model)
        assert result.exit_code == 0, result.stderr
        assert Shortlist.load(model).classes == ("pet", "wild")
        said = run("predict", model, tmp_path / name, "--label-map", label_map)
        assert "on 300 rows" in said.stderr
    named = run("select", tmp_path / "a.csv", *words, "--classes", "wild,pet")
    assert "classes: pet (-), wild (+)" in named.stdout


def test_a_changed_map_is_no_run_to_go_on_with(
    run, rows, groups, tmp_path, monkeypatch
):
    from shortlist.engines import Keeper

    save = Keeper.save

    def save_once(self, snapshot):
        save(self, snapshot)
        raise KeyboardInterrupt

    monkeypatch.setattr(Keeper, "save", save_once)
    words = ("select", rows, "-k", 4, "--label-map", groups)
    run(*words, "--checkpoint", tmp_path / "state", "--every", "0s")
    groups.write_text(GROUPS + "4\thigh\n")
    result = run(*words, "--resume", tmp_path / "state")
    assert result.exit_code == 2
    assert "has changed since the run began" in result.stderr


def test_reads_come_file_by_file_and_a_map_still_names_all_classes(run, tmp_path):
    letters = {"a": "AC", "b": "GT", "c": "GA"}
    for name, pair in letters.items():
        read = f"@r\n{pair * 20}\n+\n{'I' * 40}\n"
        (tmp_path / f"{name}.fastq").write_text(read * 1100)
    classes = tmp_path / "map.tsv"
    classes.write_text("a\tfirst\nb\tother\nc\tother\n")
    model = tmp_path / "m"
    words = ("-k", 2, "--kmer", 3, "--label-map", classes, "-o", model)
    files = [tmp_path / f"{name}.fastq" for name in letters]
    for more in ((), ("--method", "mission")):
        result = run("select", *files, *words, "--no-trial", *more)
        assert result.exit_code == 0, result.stderr
        assert Shortlist.load(model).classes == ("first", "other")


@pytest.mark.parametrize("line", ["1\tother", "nothing"])
def test_a_bad_line_of_a_map_cannot_be_skipped(run, rows, groups, line):
    groups.write_text(GROUPS + line + "\n")
    result = run("select", rows, "-k", 4, "--label-map", groups)
    assert result.exit_code == 1
    assert f"{groups}: line 4: expected" in result.stderr
    assert "--on-error" not in result.stderr
