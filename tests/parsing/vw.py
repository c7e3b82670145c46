"""Lines of Vowpal Wabbit text to draw, and how they should be read."""

import numpy as np
from hypothesis import strategies as st

from reference import vw as reference
from shortlist._protocols import DataError
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources import VwSource

HARD = [
    "0.1234567890123456789",
    "1e-320",
    "123456789012345678901234567890",
    "1.7976931348623157e308",
    "9007199254740993",
    "0.500000000000000166533453693773481063544750213623046875",
]


def read(source):
    """Labels, weights, ids and values of rows to the bit, and the error at the end."""
    rows = []
    try:
        for block in source.blocks():
            assert block.first_row == len(rows)
            assert block.n_rows > 0
            assert block.indptr[0] == 0
            for i in range(block.n_rows):
                part = slice(block.indptr[i], block.indptr[i + 1])
                numbers = np.array([block.y[i], block.weight[i], *block.values[part]])
                rows.append((block.ids[part].tolist(), numbers.tobytes()))
    except DataError as error:
        return rows, str(error)
    return rows, None


def as_read(rows, seed=0):
    """Rows of the reference in the same form."""
    return [
        (
            hash_bytes(row.names, seed).tolist(),
            np.array([row.y, row.weight, *row.values], np.float64).tobytes(),
        )
        for row in rows
    ]


def check_like_reference(path, text, block_bytes):
    path.write_bytes(text)
    for on_error in ("raise", "skip"):
        source = VwSource(path, on_error=on_error, block_bytes=block_bytes)
        rows, error = read(source)
        expected = reference.parse(text, on_error)
        assert rows == as_read(expected.rows)
        assert source.skipped == expected.skipped
        if expected.error is None:
            assert error is None
        else:
            line, what = expected.error
            assert error.startswith(f"{path}:{line}: expected ")
            if "times the scale" not in what + error:  # the scale may be blamed instead
                assert error.startswith(f"{path}:{line}: expected {what}, got ")
    if expected.rows:
        names = [name for row in expected.rows for name in row.names]
        ids = hash_bytes(names)
        decoded = [name.decode("utf-8", "surrogateescape") for name in names]
        assert source.names(ids) == decoded
        assert VwSource(path, on_error="skip").ids(decoded).tolist() == ids.tolist()


numbers = st.one_of(
    st.sampled_from(
        [*HARD, "+1", "-1", ".5", "5.", "1e400", "-1e400", "1.8e308", "1e300", "-0"]
    ),
    st.sampled_from(
        ["nan", "inf", "-Infinity", "1_0", "0x1", "1e", "", "--1", "1.2.3", ".", "1#"]
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
)
good_numbers = st.sampled_from([*HARD, "1", "0.25", "-3", "2e-5", "12345.678"])
names = st.one_of(
    st.text("abcxyz019_=^#'-.", min_size=1, max_size=30),
    st.sampled_from(["a", "\x00", "é", "日本語", "\x0b\x0c", "e\xa0f", "n" * 64]),
)
words = st.one_of(
    names,
    st.builds("{}:{}".format, names, good_numbers),
    st.builds("{}:{}".format, names, numbers),
    st.sampled_from([":", "a:", ":1", "a:1:2", "||", "|", "|b", "a|b", "a:1|b c"]),
)
nameless = good_numbers.map(":".__add__)
good_words = names | st.builds("{}:{}".format, names, good_numbers) | nameless
blanks = st.sampled_from([" ", "  ", "\t", " \t "])
heads = st.one_of(
    st.sampled_from(
        ["", "1 ", "-1 2 ", "1 0.5 3 ", "1 tag", "'tag ", "1 2 'tag ", "1"]
    ),
    st.lists(numbers | good_numbers | names, max_size=4).map(" ".join),
)
ends = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n \r\n", "\r\r\n"])


spaces = names | st.just("")
some_blanks = blanks | st.just("")


def sections_of(words, numbers):
    scales = st.just("") | numbers.map(":".__add__)
    return st.builds(
        lambda space, scale, found, blank: "|" + blank.join([space + scale, *found]),
        spaces,
        scales,
        st.lists(words, max_size=4),
        blanks,
    )


def lines():
    sections = sections_of(good_words, good_numbers) | sections_of(words, numbers)
    return st.builds(
        lambda blank, head, parts, end: (
            blank + head + "".join(part + blank for part in parts) + end
        ),
        some_blanks,
        heads,
        st.lists(sections, max_size=3),
        ends,
    )
