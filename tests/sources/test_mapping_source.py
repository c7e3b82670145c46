"""Rows that are dictionaries."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import DataError, FrameSource, ShortlistError
from shortlist._protocols import RowSource
from shortlist.sources import mappings
from shortlist.sources.mappings import MappingSource

ROWS = [
    {"age": 31, "city": "Bonn", "new": True, "y": "yes"},
    {"age": 0, "city": "Oslo", "y": "no"},
    {"age": 4.5, "y": "yes"},
]


def entries(source):
    """Names and values of each row, and labels."""
    rows, labels = [], []
    for block in source.blocks():
        names = source.names(block.ids)
        for i in range(block.n_rows):
            part = slice(block.indptr[i], block.indptr[i + 1])
            rows.append(
                dict(zip(names[part], block.values[part].tolist(), strict=True))
            )
        labels += block.y.tolist()
    return rows, labels


def test_numbers_truth_values_and_words_make_features():
    source = MappingSource(ROWS, "y")
    assert isinstance(source, RowSource)
    assert entries(source) == (
        [{"age": 31.0, "city=Bonn": 1.0, "new": 1.0}, {"city=Oslo": 1.0}, {"age": 4.5}],
        [1.0, 0.0, 1.0],
    )
    assert source.label_names == ["no", "yes"]
    assert (source.reiterable, source.size) == (True, 3)


def test_ids_are_those_of_tables():
    frame = pd.DataFrame({"age": [31, 47], "city": ["Bonn", "Oslo"], "y": [0, 1]})
    table, rows = FrameSource(frame, "y"), MappingSource(frame.to_dict("records"), "y")
    for ours, theirs in zip(rows.blocks(), table.blocks(), strict=True):
        np.testing.assert_array_equal(ours.ids, theirs.ids)
        np.testing.assert_array_equal(ours.y, theirs.y)


@given(st.integers(1, 5), st.booleans())
def test_blocks_do_not_matter(block_rows, once):
    pairs = [({"a": i, "b": str(i % 2)}, i) for i in range(1, 8)]
    rows = iter(pairs) if once else pairs
    source = MappingSource(rows, block_rows=block_rows)
    assert source.reiterable is not once
    assert entries(source) == entries(MappingSource(pairs))


def test_an_iterator_is_read_once_and_forgets_names_on_request(monkeypatch):
    monkeypatch.setattr(mappings, "MANY_NAMES", 50)
    rows = ({f"user {i}": 1.0, "y": i % 2} for i in range(100))
    source = MappingSource(rows, "y", block_rows=10)
    for block in source.blocks():
        if source.crowded:
            source.retain(block.ids[:1], block.position)
    assert len(source._names) < 60
    assert source.names(source.ids(["user 99"])) == ["user 99"]
    with pytest.raises(ShortlistError, match="gives its rows once"):
        source.blocks()


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{"a": None, "y": 1}], {}, "row 0, 'a': expected a value, got None"),
        ([{"a": [1], "y": 1}], {}, "row 0, 'a': expected a finite number or text"),
        (
            [{"a": float("inf"), "y": 1}],
            {},
            "expected a finite number or text, got inf",
        ),
        ([5], {}, "row 0: expected a mapping of names to values"),
        ([{"y": 1}, {"y": "b"}], {}, "row 1: expected a number, as the first label is"),
        ([{"y": "c"}], {"labels": ["a", "b"]}, "row 0: expected a label among a, b"),
    ],
)
def test_bad_rows_are_named(rows, options, message):
    with pytest.raises(DataError, match=message):
        list(MappingSource(rows, "y", **options).blocks())


def test_missing_values_can_be_left_out():
    source = MappingSource(
        [{"a": None, "b": float("nan"), "y": 1}], "y", missing="zero"
    )
    assert entries(source) == ([{}], [1.0])
    assert np.isnan(entries(MappingSource([{"a": 1}], "y"))[1][0])
