"""Rows without a label are left out and counted, whatever the form of the data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from shortlist import DataError, FoBa, compare, select
from shortlist.evaluate._opened import opened

LEFT_OUT = "30 rows with no label were left out"


@pytest.fixture(scope="module", params=["classes", "numbers", "codes"])
def table(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).round(3)
    y = (X[:, 1] - X[:, 4] + 0.3 * rng.normal(size=300)).round(3)
    if request.param == "codes":
        y = (y > 0).astype(float)
    if request.param == "classes":
        y = np.where(y > 0, "yes", "no").astype(object)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)]).assign(y=y)
    lacking = rng.permutation(300)[:30]
    return frame, frame.drop(index=lacking), lacking


@pytest.fixture(scope="module")
def forms(table, tmp_path_factory):
    """The same rows in every form, and what is read from each."""
    folder = tmp_path_factory.mktemp("unlabelled")
    frame, _, lacking = table
    gaps = frame.copy()
    gaps.loc[lacking, "y"] = np.nan if gaps["y"].dtype.kind == "f" else None
    gaps.to_csv(folder / "a.csv", index=False)
    gaps.to_parquet(folder / "a.parquet")
    X, y = gaps.drop(columns="y"), gaps["y"]
    records = gaps.to_dict("records")
    gaps.to_json(folder / "a.jsonl", orient="records", lines=True)
    pairs = [(name, X[name].to_numpy()) for name in X]
    return {
        "frame": (gaps, "y"),
        "polars": (pl.from_pandas(gaps), "y"),
        "array": (X.to_numpy(), y.to_numpy()),
        "objects": (X.to_numpy(), y.to_numpy().astype(object)),
        "list": (X.to_numpy(), y.tolist()),
        "pair": ((X, y.to_numpy()), None),
        "csv": (folder / "a.csv", "y"),
        "parquet": (folder / "a.parquet", "y"),
        "jsonl": (folder / "a.jsonl", "y"),
        "dictionaries": (records, "y"),
        "pairs": ([({**row, "y": 0}, row["y"]) for row in records], None),
        "columns": (pairs, y.to_numpy()),
        "columns of parquet": (folder / "a.parquet", "y"),
    }


FORMS = (
    "frame",
    "polars",
    "array",
    "objects",
    "list",
    "pair",
    "csv",
    "parquet",
    "jsonl",
)
FORMS += ("dictionaries", "pairs", "columns", "columns of parquet")


@pytest.mark.parametrize("form", FORMS)
def test_select_leaves_them_out_and_says_so(table, forms, form):
    asked = {"k": 2, "method": "foba"}
    by_column = form.startswith("columns")
    if by_column:
        asked = {"k": 2, "columns": form != "columns"}
    found = select(*forms[form], **asked)
    assert LEFT_OUT in found.notes
    alone = select(table[1], "y", **{**asked, "columns": by_column})
    assert found.names == alone.names
    np.testing.assert_allclose(found.weights, alone.weights, rtol=1e-6)


@pytest.mark.parametrize("form", ["frame", "csv", "dictionaries", "columns"])
def test_so_do_budgets_trials_halves_and_groups(forms, form):
    by_column = form == "columns"
    groups = np.arange(300) // 2
    asked = {} if by_column else {"stability": 2}
    found = select(*forms[form], "auto", groups=groups, budgets=(1, 2, 3), **asked)
    assert set(found.names) == {"x1", "x4"}
    assert LEFT_OUT in found.notes


@pytest.mark.parametrize("form", ["array", "csv", "dictionaries"])
def test_so_do_methods_that_stream(forms, form):
    found = select(*forms[form], 2, "mission", stability=2)
    assert LEFT_OUT in found.notes
    assert set(found.names) == {"x1", "x4"}


@pytest.mark.parametrize("form", [f for f in FORMS if not f.startswith("columns")])
def test_compare_leaves_them_out_and_says_so(table, forms, form):
    rows = opened(*forms[form])
    assert rows.n_unlabelled == 30
    assert rows.y.tolist() == table[1]["y"].tolist()
    if form == "frame":
        display = compare(*forms[form], ks=2, methods=["foba"], cv=3)
        assert LEFT_OUT in display.notes


def test_the_first_rows_may_all_lack_a_label(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3)).round(3)
    data = pd.DataFrame(X, columns=list("abc")).assign(y=np.sign(X[:, 1]))
    data.loc[:1200, "y"] = np.nan
    data.to_csv(tmp_path / "a.csv", index=False)
    with pytest.warns(UserWarning, match="'b' alone"):
        found = select(tmp_path / "a.csv", "y", 1, "foba")
    assert found.names == ("b",)
    assert "1,201 rows with no label were left out" in found.notes


@pytest.mark.parametrize("form", ["frame", "csv", "dictionaries", "array"])
def test_where_no_row_has_a_label_that_is_an_error(tmp_path, form):
    data = pd.DataFrame({"a": np.arange(20.0), "y": np.full(20, np.nan)})
    data.to_csv(tmp_path / "a.csv", index=False)
    given = {
        "frame": (data, "y"),
        "csv": (tmp_path / "a.csv", "y"),
        "dictionaries": (data.to_dict("records"), "y"),
        "array": (data[["a"]].to_numpy(), data["y"].to_numpy()),
    }[form]
    with pytest.raises(DataError, match=r"label|expected a number, got nan"):
        select(*given, 1, "foba")


def test_an_estimator_refuses_them_still():
    X, y = np.random.default_rng(0).normal(size=(2, 20, 4))
    y = y[:, 0]
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        FoBa(2).fit(X, y)
