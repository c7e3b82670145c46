"""Lines of JSON to draw, and how they should be read."""

import json

import numpy as np
from hypothesis import strategies as st

from reference import jsonl as reference
from shortlist._protocols import DataError
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources.jsonl import JsonlSource

HARD = [
    "0.1234567890123456789",
    "1e-320",
    "123456789012345678901234567890",
    "1.7976931348623157e308",
    "9007199254740993",
    "0.500000000000000166533453693773481063544750213623046875",
]
NO_NUMBERS = ["01", "+1", "1.", ".5", "-", "1e", "1.e5", "-01", "0x1", "1_0", "--1"]
NO_STRINGS = [r'"\ud800"', r'"\udc00\ud800"', r'"\q"', r'"\u00g0"', '"\t"', '"a', "'a'"]
STRINGS = [r'"\ud83d\ude00"', r'"\u0000"', r'"\/\b\f\n\r\t\"\\"', r'"\u00E9\uFFFF"']


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


def check_like_reference(
    path, text, block_bytes, target="y", weight=None, missing="zero"
):
    path.write_bytes(text)
    options = {"target": target, "weight": weight, "missing": missing}
    for on_error in ("raise", "skip"):
        source = JsonlSource(
            path, on_error=on_error, block_bytes=block_bytes, **options
        )
        rows, error = read(source)
        expected = reference.parse(text, on_error=on_error, **options)
        assert rows == as_read(expected.rows)
        assert source.skipped == expected.skipped
        assert source.label_names == expected.label_names
        if expected.error is None:
            assert error is None
        else:
            assert error.startswith(f"{path}:{expected.error}: expected ")
    names = [name for row in expected.rows for name in row.names]
    ids = hash_bytes(names)
    decoded = [name.decode() for name in names]
    assert source.names(ids) == decoded
    assert source.ids(decoded).tolist() == ids.tolist()


numbers = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        [*HARD, "0", "-0", "0.0e5", "1E+5", "-1.25e-3", "1e400", "-1e-400"]
    ),
)
texts = st.one_of(
    st.sampled_from(["", "a", "yes", "no", "a b", "=", "x.y", "é", "日本語", "n" * 64]),
    st.text(max_size=12),
)
strings = st.one_of(
    st.builds(lambda t, a: json.dumps(t, ensure_ascii=a), texts, st.booleans()),
    st.sampled_from(STRINGS),
)
keys = (
    st.sampled_from(['"y"', '"w"', '"a"', '"b"', '"a.b"', '""', '"\\u0079"']) | strings
)
words = st.sampled_from(["true", "false", "null"])
faults = st.sampled_from(
    [
        *NO_NUMBERS,
        *NO_STRINGS,
        "NaN",
        "-Infinity",
        "nul",
        "True",
        "",
        "[1,]",
        '{"a":1,}',
    ]
)
colons = st.sampled_from([":", ": ", " :\t"])
commas = st.sampled_from([",", ", ", " ,\r"])


def enclosed(items, first, last, most):
    """Texts of some items between two characters; strategies are costly to build."""
    return st.builds(
        lambda items, comma: first + comma.join(items) + last,
        st.lists(items, max_size=most),
        commas,
    )


def objects(values):
    return enclosed(st.tuples(keys, colons, values).map("".join), "{", "}", 5)


def lists(values):
    return enclosed(values, "[", "]", 4)


values = st.recursive(
    numbers | strings | words, lambda inner: objects(inner) | lists(inner), max_leaves=6
)
heads = st.sampled_from(
    ["", '"y":"yes",', '"y":"no",', '"y":1,', '"y":0.5,"w":2,', '"w":1,"y":null,']
)
ends = st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n \r\n"])
mutations = st.tuples(
    st.sampled_from(["insert", "flip", "delete"]),
    st.integers(0, 200),
    st.sampled_from(b'{}[]",:\\01.e-utf \t\n\x00\xff\xc3\xed\xf0')
    | st.integers(0, 255),
)


def mutated(line, changes):
    line = bytearray(line)
    for what, place, character in changes:
        place %= max(1, len(line))
        if what == "insert":
            line.insert(place, character)
        elif what == "delete":
            del line[place : place + 1]
        else:
            line[place : place + 1] = [character]
    return bytes(line)


def line_of(obj, head, has_comma, end, changes):
    line = obj.replace("{", "{" + head, 1)
    line = line if has_comma else line.replace(",}", "}")
    return mutated((line + end).encode(), changes)


def lines():
    some_bad = objects(values | faults)
    no_changes = st.just([])
    return st.builds(
        line_of,
        st.one_of(some_bad, *4 * [objects(values)]),
        heads,
        st.booleans(),
        ends,
        st.one_of(st.lists(mutations, max_size=3), *2 * [no_changes]),
    )
