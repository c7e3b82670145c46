"""Lines of libsvm text to draw, and how they should be read."""

import numpy as np
from hypothesis import strategies as st

from reference import libsvm as reference
from shortlist._protocols import DataError
from shortlist.sources import LibsvmSource

HARD = [
    "0.1234567890123456789",
    "1e-320",
    "123456789012345678901234567890",
    "1.7976931348623157e308",
    "9007199254740993",
    "0.500000000000000166533453693773481063544750213623046875",
]


def read(source):
    """Rows as the reference gives them, and the error that ended reading."""
    rows = []
    try:
        for block in source.blocks():
            assert block.first_row == len(rows)
            assert block.n_rows > 0
            assert block.indptr[0] == 0
            assert (block.weight == 1).all()
            for i in range(block.n_rows):
                part = slice(block.indptr[i], block.indptr[i + 1])
                ids, values = block.ids[part].tolist(), block.values[part].tolist()
                rows.append(reference.Row(block.y[i], ids, values))
    except DataError as error:
        return rows, str(error)
    return rows, None


def bits(rows):
    return [
        (np.float64(row.y).tobytes(), row.ids, np.array(row.values).tobytes())
        for row in rows
    ]


def check_like_reference(path, text, block_bytes):
    path.write_bytes(text)
    for on_error in ("raise", "skip"):
        source = LibsvmSource(path, on_error=on_error, block_bytes=block_bytes)
        rows, error = read(source)
        expected = reference.parse(text, on_error)
        assert bits(rows) == bits(expected.rows)
        assert source.skipped == expected.skipped
        if expected.error is None:
            assert error is None
        else:
            line, what = expected.error
            assert error.startswith(f"{path}:{line}: expected {what}, got ")


numbers = st.one_of(
    st.sampled_from(
        [*HARD, "+1", "-1", ".5", "5.", "1e400", "-1e400", "1.8e308", "1e309"]
    ),
    st.sampled_from(
        ["nan", "inf", "-Infinity", "1_0", "0x1", "1e", "", "--1", "1.2.3", "."]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
)
ids = st.one_of(
    st.integers(0, 2**64 + 5).map(str),
    st.sampled_from(
        ["18446744073709551615", "18446744073709551616", "-1", "x", "", "1.0"]
    ),
    st.integers(0, 99).map(str),
)
features = st.one_of(
    st.builds("{}:{}".format, ids, numbers),
    st.builds("{}:{}".format, st.integers(0, 9), st.integers(0, 99)),
    st.sampled_from(["qid:7", "qid:x", "qid", "q:1", "7", ":", "1:2:3", "\x00", "é:1"]),
)
blanks = st.sampled_from([" ", "  ", "\t", " \t "])
ends = st.sampled_from(["\n", "\r\n", " # note 1:2\n", "#\n", " \n", "\n\n", "\n# 7\n"])


@st.composite
def lines(draw):
    tokens = [
        draw(numbers | st.integers(-1, 1).map(str)),
        *draw(st.lists(features, max_size=4)),
    ]
    return draw(blanks | st.just("")) + draw(blanks).join(tokens) + draw(ends)
