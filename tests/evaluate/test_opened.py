"""Comparisons open what ``select`` opens."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from shortlist import DataError, ShortlistError, compare
from shortlist.evaluate._opened import opened
from shortlist.sources import ArraySource


@pytest.fixture(scope="module")
def people():
    """Sixty people; age and one town decide how much they spend."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)).round(3), columns=["age", "b", "c"])
    frame["town"] = np.array(["Bonn", "Oslo", "Rome"])[rng.integers(3, size=60)]
    frame["home"] = np.repeat(np.arange(20), 3)
    frame["spent"] = frame["age"] + 2 * (frame["town"] == "Oslo")
    return frame


ASKED = {"ks": 2, "methods": ["foba"], "cv": 3}


def test_all_forms_of_a_table_are_compared_alike(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    people.to_parquet(tmp_path / "people.parquet")
    records = people.to_dict("records")
    forms = [
        (people, "spent"),
        (people.drop(columns="spent"), people["spent"]),
        (tmp_path / "people.csv", "spent"),
        (str(tmp_path / "people.parquet"), "spent"),
        ([dict(row) for row in records], "spent"),
    ]
    for data, target in forms:
        display = compare(data, target, groups="home", **ASKED)
        assert (display.n_rows, display.n_features) == (60, 6)
        assert display.chosen("foba", 2) == {"age": 3, "town=Oslo": 3}


def test_never_names_a_feature_or_a_column_of_text(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    for data in (people, tmp_path / "people.csv"):
        for never, n in ((["town"], 4), (["town=Oslo", "home"], 5)):
            table = opened(data, "spent", never=never)
            assert table.X.shape == (60, n)
            assert not {"town=Oslo", *never} & set(table.names)
    with pytest.raises(
        DataError, match="never: expected the name of a feature, got 'x'"
    ):
        opened(people, "spent", never=["x"])
    with pytest.raises(DataError, match="expected features to choose from, got none"):
        opened(people[["age", "spent"]], "spent", never=["age"])


def test_groups_go_with_the_rows_that_have_a_label(people):
    rows = people.to_dict("records")
    del rows[4]["spent"]
    table = opened(rows, "spent", groups=np.arange(60))
    assert table.groups.tolist() == [i for i in range(60) if i != 4]
    with pytest.raises(ShortlistError, match=r"one entry a row \(60\), got 59"):
        opened(rows, "spent", groups=np.arange(59))


def test_a_missing_value_is_named_and_may_be_zero():
    X = np.arange(20.0).reshape(10, 2)
    X[3, 1] = np.nan
    y = np.arange(10) % 2
    with pytest.raises(DataError, match="row 3, column 'x1': expected a finite number"):
        opened(X, y)
    table = opened(X, y, read={"missing": "zero"})
    np.testing.assert_array_equal(table.X, np.nan_to_num(X))
    sparse = opened(csr_array(X), y, read={"missing": "zero"}).X
    np.testing.assert_array_equal(sparse.toarray(), np.nan_to_num(X))


def test_labels_of_several_kinds_are_texts():
    table = opened(np.ones((3, 1)), np.array([1, "a", 2.5], object))
    assert table.y.tolist() == ["1", "a", "2.5"]


def test_an_array_stays_as_it_is():
    X = np.arange(12, dtype=np.float32).reshape(6, 2)
    table = opened((X, np.arange(6)), feature_names=["a", "b"])
    assert np.shares_memory(table.X, X)
    assert table.names == ("a", "b")


class Overlapping(ArraySource):
    """Rows that have parts in common, which can be drawn apart."""

    def apart(self):
        return ArraySource(self.matrix[:6], self.all_labels[:6]), np.arange(6) // 2


def test_rows_that_overlap_are_drawn_apart():
    rows = Overlapping(np.ones((9, 2)), np.arange(9))
    table = opened(rows)
    assert table.X.shape == (6, 2)
    assert table.groups.tolist() == [0, 0, 1, 1, 2, 2]
    named = opened(rows, groups=np.arange(9))  # whoever names groups knows better
    assert named.groups.tolist() == list(range(9))


@pytest.mark.parametrize(
    ("data", "target", "message"),
    [
        ([("a", np.ones(3))], [1, 2, 3], "compare needs rows, and these are columns"),
        (np.ones((3, 2)), None, "an array needs its labels"),
        (np.ones((3, 0)), [1, 2, 3], "expected features to choose from, got none"),
        ([{"a": 1}, {"a": 2}], "y", "expected rows with a label and a weight"),
        (3, None, "expected an array, a table, a path"),
    ],
)
def test_what_cannot_be_compared_on_is_refused(data, target, message):
    with pytest.raises(ShortlistError, match=message):
        opened(data, target)


def test_a_file_needs_its_target(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(ShortlistError, match=r"expected labels; .*target="):
        opened(tmp_path / "people.csv")
