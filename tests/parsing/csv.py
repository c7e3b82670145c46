"""Delimited text to draw, and how it should be read."""

import csv
import io
import math
import random

import numpy as np
import pytest
from hypothesis import strategies as st

from reference import csv as reference
from shortlist._protocols import DataError
from shortlist.sources import CsvSource


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(source):
    """Every row as label, weight and a dictionary of named values."""
    rows = []
    for block in source.blocks():
        assert block.first_row == len(rows)
        assert block.n_rows > 0
        names = source.names(block.ids)
        for i in range(block.n_rows):
            part = slice(block.indptr[i], block.indptr[i + 1])
            features = dict(zip(names[part], block.values[part].tolist(), strict=True))
            rows.append(
                reference.Row(float(block.y[i]), float(block.weight[i]), features)
            )
        assert block.position <= (source.size or math.inf)
    return rows


def same(rows, others):
    assert [row.features for row in rows] == [row.features for row in others]
    np.testing.assert_array_equal([r.y for r in rows], [r.y for r in others])
    assert [r.weight for r in rows] == [r.weight for r in others]


CELLS = st.one_of(
    st.sampled_from(
        ["", "NA", "nan", "null", "?", "#n/a", "0", "-0.0", "1e-320", " 7 ", "+.5e3"]
    ),
    st.sampled_from(
        ["true", "False", "TRUE", '"', '""', "a=b", "é", "\r\n", "inf ", "x"]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers().map(str),
    st.text("ab,;\"\n\t é=|'", max_size=12),
)


NUMBERS = st.one_of(
    st.sampled_from(
        [
            "",
            "NA",
            " nan",
            "?",
            "#N/A ",
            "0",
            "-0.0",
            "1e-320",
            " 7 ",
            "+.5e3",
            "1.",
            "-.5",
        ]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers().map(str),
)
TRUTHS = st.sampled_from(["true", "False", "TRUE", " true ", "", "null"])


def check_like_reference(
    path, text, block_bytes, delimiter=",", missing="zero", quote='"'
):
    """Read a text, of which the column c0 is to be predicted, as it should be read."""
    expected = reference.read(text, "c0", None, delimiter, missing, quote)
    if any(abs(row.y) == math.inf for row in expected.rows) or any(
        abs(value) == math.inf
        for row in expected.rows
        for value in row.features.values()
    ):
        return  # numbers too large are errors, which others test
    source = CsvSource(
        write(path, text),
        "c0",
        delimiter=delimiter,
        block_bytes=block_bytes,
        missing=missing,
        quote=quote,
        on_error="skip",
    )
    rows = read(source)
    assert source.skipped == expected.skipped
    if expected.skipped:
        options = {"delimiter": delimiter, "missing": missing, "quote": quote}
        strict = CsvSource(path, "c0", **options)
        with pytest.raises(DataError, match="cells as in the header, got"):
            read(strict)
    # a number too small is left in as a zero
    for row in rows:
        for name in [name for name, value in row.features.items() if value == 0]:
            del row.features[name]
    same(rows, expected.rows)
    assert source.label_names == expected.label_names


@st.composite
def lines(draw):
    """A row of three cells; some go on in another line."""
    out = io.StringIO()
    end = draw(st.sampled_from(["\n", "\r\n"]))
    csv.writer(out, lineterminator=end).writerow([draw(CELLS) for _ in range(3)])
    return out.getvalue()


@st.composite
def texts(draw):
    """Many rows of three cells: of each column a few cells are drawn, then arranged."""
    kinds = st.sampled_from([NUMBERS, NUMBERS, TRUTHS, CELLS])
    pools = [draw(st.lists(draw(kinds), min_size=1, max_size=7)) for _ in range(3)]
    end, delete = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from([0, 9]))
    arrange = random.Random(draw(st.integers(0, 2**32)))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=end)
    for _ in range(draw(st.integers(5, 150))):
        cells = [arrange.choice(pool) for pool in pools]
        if delete and not arrange.randrange(delete):
            cells = arrange.choice([cells[1:], [*cells, "x"]])
        writer.writerow(cells)
    return out.getvalue()


def check_text(path, text, block_bytes):
    """Read rows, to which a header is added, as they should be read."""
    path = path.with_suffix(".csv")
    check_like_reference(path, "c0,c1,c2\n" + text.decode(), block_bytes)
