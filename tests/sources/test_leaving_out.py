"""Columns that are named to be left out make no features, whatever they hold."""

import json

import numpy as np
import pandas as pd
import pytest

from shortlist import Mission
from shortlist._protocols import DataError
from shortlist.sources import FrameSource, LabelledSource, open_source

FRAME = pd.DataFrame(
    {
        "age": [1.0, 2.0, 3.0, 4.0] * 30,
        "city": ["a", "b", "a=c", "b"] * 30,
        "zip": ["x", "y", "x", "y"] * 30,
        "y": [0, 1, 0, 1] * 30,
    }
)


def features(source):
    (block,) = source.blocks()
    return set(source.names(block.ids))


@pytest.fixture(params=["csv", "parquet", "jsonl"])
def path(request, tmp_path):
    path = tmp_path / f"rows.{request.param}"
    if request.param == "csv":
        FRAME.to_csv(path, index=False)
    elif request.param == "parquet":
        FRAME.to_parquet(path)
    else:
        FRAME.to_json(path, orient="records", lines=True)
    return path


def test_a_column_of_text_is_left_out_with_all_its_values(path):
    whole = features(open_source(path, target="y"))
    assert whole == {"age", *("city=a", "city=b", "city=a=c"), "zip=x", "zip=y"}
    rest = {"age", "zip=x", "zip=y"}
    left = open_source(path, target="y", leave_out=["city"])
    assert features(left) == rest
    assert left.leave_out == ("city",)
    later = open_source(path, target="y").leaving_out(["city"])
    assert features(later) == rest
    assert features(later.leaving_out(["zip"])) == {"age"}
    assert features(open_source(path, target="y")) == whole
    later.ids(["city", "city=a"])  # nobody is told that there is no such thing


def test_never_may_name_a_column(path):
    source = open_source(path, target="y", label_map={"0": "no", "1": "yes"})
    assert isinstance(source, LabelledSource)
    selector = Mission(3, never=["zip", "city=a", "age"]).fit_source(source)
    assert set(selector.shortlist_.names) == {"city=b", "city=a=c"}


def test_a_frame_leaves_columns_out():
    source = FrameSource(FRAME, target="y")
    selector = Mission(3, never=["zip", "city"]).fit_source(source)
    assert selector.shortlist_.names == ("age",)
    assert "zip=x" in features(source)


def test_a_column_of_text_is_no_feature_to_ask_for(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    source = open_source(path, target="y")
    with pytest.raises(DataError, match="column of text: its features are city=value"):
        Mission(3, always=["city"]).fit_source(source)


def test_columns_that_cannot_be_read_can_be_left_out(tmp_path):
    path = tmp_path / "rows.parquet"
    when = pd.Timestamp("2020-01-01")
    FRAME.assign(when=when, both=[[{"a": 1, "b": "x"}]] * len(FRAME)).to_parquet(path)
    with pytest.raises(DataError, match=r"'both'.*leave_out= names"):
        open_source(path, target="y")
    source = open_source(path, target="y", leave_out=["when", "both"])
    assert features(source) == features(FrameSource(FRAME, target="y"))


def test_keys_are_left_out_with_all_that_is_within_them(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [
        {"a": {"b": 1, "c": ["x", {"d": "y"}]}, "ab": "z", "y": 1, "n": None},
        {"a": [1, 2], "a.b": 5, "y": 0},
        {"x": {"a": 3, "b": [{"c": 123456789012345678901234567890}]}, "y": 0},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    for out, rest in (
        (["a"], {"ab=z", "a.b", "x.a", "x.b.c"}),
        (["a.c", "x"], {"a.b", "ab=z", "a=1", "a=2"}),
        # the key "a.b" has the name of "b" within "a", so it goes with it
        (["a.b", "x.b"], {"a.c=x", "a.c.d=y", "ab=z", "a=1", "a=2", "x.a"}),
        (["x.b.c"], {*("a.b", "a.c=x", "a.c.d=y", "ab=z", "a=1", "a=2"), "x.a"}),
    ):
        source = open_source(path, target="y", leave_out=out)
        assert features(source) == rest
        (block,) = source.blocks()
        assert np.isfinite(block.values).all()


def test_the_command_line_bars_columns_and_models_remember(tmp_path, path):
    from click.testing import CliRunner

    from shortlist import Shortlist
    from shortlist.cli import cli

    def run(*words):
        return CliRunner().invoke(cli, list(map(str, words)))

    model = tmp_path / "model.shortlist"
    never = ("--never", "city", "--never", "age", "--normalize", "l2")
    result = run("select", path, "-k", 3, "--target", "y", *never, "-o", model)
    assert result.exit_code == 0, result.stderr
    chosen = Shortlist.load(model)
    assert set(chosen.names) == {"zip=x", "zip=y"}
    assert "city" in chosen.params["table"]["leave_out"]
    assert run("predict", model, path).exit_code == 0
    if path.suffix != ".jsonl":
        result = run("select", path, "-k", 3, "--target", "y", "--always", "city")
        assert result.exit_code == 2
        assert "its features are city=value" in result.stderr
