"""What results say of the files that data came from."""

import shlex

import pytest

from shortlist import Shortlist, select
from shortlist.cli import cli
from shortlist.sources._stored import stored


def test_names_number_and_bytes_are_those_of_the_files(tmp_path):
    for i in range(5):
        (tmp_path / f"day-{i}.svm").write_text("1 3:1\n" * (i + 1))
    found = stored(tmp_path / "day-*.svm")
    names = ("day-0.svm", "day-1.svm", "day-2.svm")
    assert found == {"files": 5, "names": names, "bytes": 6 * 15}
    assert stored([str(tmp_path)]) == {
        "files": 1,
        "names": (f"{tmp_path.name}/",),
        "bytes": 6 * 15,
    }


def test_of_a_pipe_nothing_is_known():
    assert stored(["-"]) is None


@pytest.mark.parametrize("words", [(), ("--columns", "--method", "grafting")])
def test_a_model_carries_its_file_and_no_folder(tmp_path, words):
    import pandas as pd
    from click.testing import CliRunner

    path, out = tmp_path / "few.parquet", tmp_path / "model"
    rows = {
        "a": range(60),
        "b": [i % 7 for i in range(60)],
        "y": [i % 2 for i in range(60)],
    }
    pd.DataFrame(rows).astype(float).to_parquet(path)
    line = f"select {path} -k 1 --target y {shlex.join(words)} -o {out}"
    done = CliRunner().invoke(cli, shlex.split(line))
    assert done.exit_code == 0, done.output
    expected = {"files": 1, "names": ("few.parquet",), "bytes": path.stat().st_size}
    assert Shortlist.load(out).params["data"] == expected
    told = CliRunner().invoke(cli, ["inspect", str(out)]).output
    assert "few.parquet, " in told.partition("\ndata ")[2].splitlines()[0]
    chosen = select(path, "y", k=1, columns=bool(words))
    assert chosen.params["data"] == expected
