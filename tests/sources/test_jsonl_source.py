import bz2
import gzip
import json
import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsing.jsonl import HARD, as_read, check_like_reference, lines, read
from reference import jsonl as reference
from shortlist import Mission
from shortlist._protocols import RowSource, ShortlistError
from shortlist.kernels.name_hash import hash_bytes
from shortlist.sources import FrameSource
from shortlist.sources.jsonl import JsonlSource

PLAIN = b"""\
{"y": 1, "user": {"age": 31, "city": "K\\u00f6ln", "new": true, "old": false}}
{"y": 0, "tags": ["a", 7, true, null, [1.0]], "clicks": [{"ms": 2}, {"ms": 0.5}, {}]}

{"user": {"age": 0, "city": null}, "y": null, "empty": {}, "none": []}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("jsonl") / "rows.jsonl"


def names_of(path, text, **options):
    """Names and values of each row of a text."""
    path.write_text(text)
    source = JsonlSource(path, **options)
    (block,) = source.blocks()
    names = source.names(block.ids)
    found = list(zip(names, block.values.tolist(), strict=True))
    return [found[start:stop] for start, stop in pairwise(block.indptr.tolist())]


options = st.fixed_dictionaries(
    {},
    optional={
        "target": st.sampled_from([None, "y", "a", "a.b", "é"]),
        "weight": st.sampled_from(["w", "b"]),
        "missing": st.sampled_from(["zero", "error", "category"]),
    },
)


@given(
    st.lists(lines(), max_size=5).map(b"".join),
    st.booleans(),
    st.sampled_from([1, 7, 40, 1000]),
    options,
)
@settings(max_examples=120, deadline=None)
@example(b'{"y":"a","x":1e400}\n{"y":"b"}\n{"y":1}\n', True, 1, {})
@example(b'{"y":1e400}\n{"y":"b"}\n{"y":1}\n', True, 1, {})
@example(b'{"w":-1e-400}\n{"w":-0}\n{"w":-1e-320}\n', True, 1, {"weight": "w"})
@example(b'{"y":{"a":1}}\n{"y":[1]}\n{"y":NaN}\n{"y":"a"', True, 9, {})
@example(b'{"a":[{"b":1},{"b":2}]}\n{"a":[{"b":3},4]}', True, 9, {"target": "a.b"})
def test_well_and_ill_formed_text_is_read_as_by_the_reference(
    path, text, last, block_bytes, options
):
    text = text if last else text.rstrip(b"\r\n")
    check_like_reference(path, text, block_bytes, **options)


@given(st.text('{}[]",:\\u01.e-ntr \r\n', max_size=40), st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_arbitrary_text_is_read_as_by_the_reference(path, text, block_bytes):
    check_like_reference(path, text.encode(), block_bytes)


@given(st.binary(max_size=12), st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_arbitrary_bytes_in_strings_are_read_as_by_the_reference(
    path, text, block_bytes
):
    check_like_reference(path, b'{"a":"' + text + b'"}\n', block_bytes)


@pytest.mark.parametrize("first", range(0xC0, 0x100, 3))
@pytest.mark.parametrize("n", [2, 3, 4])
def test_exactly_the_sequences_of_utf8_are_text(path, first, n):
    edges = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
    tails = [[b] + [0x80] * (n - 2) for b in edges] + [[0xA0] * (n - 2) + [0x7F]]
    text = b"".join(b'{"%s":1}\n' % bytes([first, *tail]) for tail in tails)
    check_like_reference(path, text, 1 << 20)


def test_every_kind_of_value_has_its_meaning(path):
    assert names_of(path, PLAIN.decode(), target="y") == [
        [("user.age", 31), ("user.city=Köln", 1), ("user.new", 1)],
        [
            *(("tags=a", 1), ("tags=7", 1), ("tags=true", 1), ("tags=1.0", 1)),
            *(("clicks.ms", 2), ("clicks.ms", 0.5)),
        ],
        [],
    ]
    (block,) = JsonlSource(path, "y").blocks()
    np.testing.assert_array_equal(block.y, [1, 0, math.nan])


def test_unusual_keys_are_kept_as_they_are(path):
    text = '{"a.b":1,"a":{"b":2,"":3},"":{"":4},"c=d":5,"c":"d","a":{"b":6}}'
    assert names_of(path, text) == [
        [
            ("a.b", 1),
            ("a.b", 2),
            ("a.", 3),
            (".", 4),
            ("c=d", 5),
            ("c=d", 1),
            ("a.b", 6),
        ]
    ]
    assert names_of(path, '{"":7,"a":8}') == [[("", 7), ("a", 8)]]


@pytest.mark.parametrize("missing", ["zero", "category"])
def test_null_is_left_out_or_a_category(path, missing):
    found = names_of(path, '{"a":null,"b":[null,1]}', missing=missing)
    categories = [("a=missing", 1), ("b=missing", 1)] if missing == "category" else []
    assert found == [[*categories, ("b=1", 1)]]


@pytest.mark.parametrize("missing", ["zero", "category"])
def test_a_table_has_the_same_features_as_lines_and_as_a_frame(path, missing):
    rng = np.random.default_rng(0)
    n = 200
    table = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "count": rng.integers(0, 3, n),
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "flag": rng.random(n) < 0.5,
            "Straße": rng.choice(["a", "b c", 'q"\\\n', "日本", "", "=.:"], n),
            "y": rng.choice(["no", "yes", "Ähm"], n),
            "w": rng.random(n),
        }
    )
    records = table.astype(object).where(table.notna(), None).to_dict("records")
    for ensure_ascii in (True, False):
        text = "\n".join(json.dumps(r, ensure_ascii=ensure_ascii) for r in records)
        path.write_text(text)
        framed = FrameSource(table, "y", weight="w", missing=missing)
        source = JsonlSource(path, "y", weight="w", missing=missing, block_bytes=5000)
        blocks = list(source.blocks())
        (expected,) = framed.blocks()
        assert len(blocks) > 3
        for field in ("ids", "values", "y", "weight"):
            whole = np.concatenate([getattr(block, field) for block in blocks])
            np.testing.assert_array_equal(whole, getattr(expected, field))
        assert source.label_names == framed.label_names
        assert source.names(expected.ids) == framed.names(expected.ids)


@pytest.mark.parametrize("number", HARD)
def test_hard_numbers_are_those_of_python(path, number):
    path.write_text(f'{{"y":{number},"w":{number},"a":-{number},"b":[{number}]}}\n')
    source = JsonlSource(path, "y", weight="w")
    (block,) = source.blocks()
    exact = float(number)
    assert (block.y[0], block.weight[0]) == (exact, exact)
    assert block.values.tolist() == [-exact, 1]
    assert source.names(block.ids) == ["a", f"b={number}"]


def test_truth_values_are_numbers_as_labels_and_weights(path):
    path.write_text('{"y":true,"w":false}\n{"y":false,"w":true}\n')
    source = JsonlSource(path, "y", weight="w")
    (block,) = source.blocks()
    assert (block.y.tolist(), block.weight.tolist()) == ([1, 0], [0, 1])
    assert source.label_names is None


DEEP = '{"a":' + "[" * 64 + "]" * 64 + "}"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1]", "expected an object, {\"name\": value, ...}, got '['"),
        ('{"a":1,}', "expected a key in double quotes, got '}'"),
        ("{a:1}", "expected a key in double quotes, got 'a'"),
        ('{"a"}', "expected ':' after a key, got '}'"),
        ('{"a":}', "expected a value, got '}'"),
        ('{"a":[1,]}', "expected a value, got ']'"),
        ('{"a":NaN}', "expected a value, got 'NaN'"),
        ('{"a":01}', "expected a number as JSON has them, got '01'"),
        ('{"a":-}', "expected a number as JSON has them, got '-'"),
        ('{"a":1.}', "expected a number as JSON has them, got '1.'"),
        ('{"a":1e400}', "expected a finite number, got '1e400'"),
        ('{"a":1 "b":2}', "expected ',' or '}' after a value, got '\"b\"'"),
        ('{"a":truely}', "expected ',' or '}' after a value, got 'truely'"),
        ('{"a":[1 2]}', "expected ',' or ']' after a value, got '2'"),
        ('{"a":1', "expected ',' or '}' after a value, got the end of the line"),
        ('{"a":1} x', "expected the end of the line after the object, got 'x'"),
        (DEEP, "expected at most 64 objects and lists within each other, got '['"),
        ('{"a":"b', "expected '\"' after a text, got the end of the line"),
        ('{"a":"b\tc"}', r"expected an escape for a control character, got '\t'"),
        (
            r'{"a":"b\q"}',
            r"""expected an escape of JSON, such as \n or \u00e9, got '"b\\q"'""",
        ),
        (
            r'{"a":"\ud800"}',
            r"expected surrogates in pairs, such as \ud83d\ude00, "
            r"""got '"\\ud800"'""",
        ),
        ('{"a":"\udcff"}', r"""expected UTF-8, got '"\xff"'"""),
        (
            '{"a":null}',
            "expected a value (missing='zero' leaves null out, missing='category' "
            "counts it), got 'null'",
        ),
        ('{"y":1,"y":2}', "expected one label, got '2'"),
        ('{"y":1e999}', "expected a finite number as label, got '1e999'"),
        ('{"y":"dog"}', "expected a number as label, got '\"dog\"'"),
        ('{"y":[]}', "expected a number as label, got '['"),
        ('{"w":1,"w":2}', "expected one weight, got '2'"),
        ('{"w":-2}', "expected a weight of 0 or more, got '-2'"),
        ('{"w":"1"}', "expected a number as weight, got '\"1\"'"),
        ('{"a":1}', "expected a weight, 'w', got the end of the line"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_errors_name_file_line_expectation_and_finding(
    path, line, complaint, block_bytes
):
    good = '{"w":1,"y":1}'
    text = f"{good}\n\n \t\n{good}\n{line}\n{{bad\n"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    weight = "w" if "weight" in complaint else None
    source = JsonlSource(
        path, "y", weight=weight, missing="error", block_bytes=block_bytes
    )
    rows, error = read(source)
    assert len(rows) == 2
    assert error == f"{path}:5: {complaint}"


def test_64_levels_are_read(path):
    assert names_of(path, DEEP.replace("[]", '"x"')) == [[("a=x", 1)]]


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("", bytes),
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_rows_and_names_are_the_same_in_every_compression(tmp_path, ending, pack):
    path = tmp_path / f"rows.jsonl{ending}"
    path.write_bytes(pack(PLAIN * 300))
    source = JsonlSource(path, "y", block_bytes=1000)
    *_, last = source.blocks()
    assert last.position == source.size == path.stat().st_size
    assert source.names(source.ids(["user.age"])) == ["user.age"]
    assert read(source)[0] == as_read(reference.parse(PLAIN * 300, "y").rows)


def test_another_seed_gives_other_ids(path):
    path.write_bytes(PLAIN)
    for seed in (0, 7, 2**64 + 7, -1):
        source = JsonlSource(path, "y", seed=seed)
        assert read(source)[0] == as_read(reference.parse(PLAIN, "y").rows, seed)
        ids = next(source.blocks()).ids
        assert source.ids(source.names(ids)).tolist() == ids.tolist()
    assert JsonlSource(path, seed=7).ids(["a"]) != JsonlSource(path).ids(["a"])


def test_it_is_a_row_source(path):
    path.write_bytes(PLAIN)
    source = JsonlSource(str(path))
    assert isinstance(source, RowSource)
    assert (source.name, source.unit, source.reiterable) == (str(path), "bytes", True)
    assert (source.n_features, source.label_names) == (None, None)


@pytest.mark.parametrize(
    "options",
    [
        *({"on_error": "ignore"}, {"block_bytes": 0}, {"missing": "drop"}),
        *({"target": ""}, {"weight": ""}, {"target": 3}, {"target": "\ud800"}),
        {"target": "y", "weight": "y"},
    ],
)
def test_options_are_checked_at_once(path, options):
    path.write_bytes(PLAIN)
    with pytest.raises(ShortlistError, match=r"expected .* got"):
        JsonlSource(path, **options)


def test_skipped_rows_are_counted_anew_and_rows_located(path):
    path.write_text('{"y":1}\nbad\n{"y":2,"a":1e999}\n\n{"y":"x"}\n{"y":3}\n')
    source = JsonlSource(path, "y", on_error="skip")
    for _ in range(2):
        assert [block.y.tolist() for block in source.blocks()] == [[1, 3]]
        assert source.skipped == 3
    assert [source.locate(row) for row in (0, 1)] == [f"{path}:1", f"{path}:6"]


def test_a_line_longer_than_the_block_is_read_whole(path):
    items = {f"k{i}": [i, {"v": i / 8}] for i in range(3000)}
    path.write_text(json.dumps({"deep": items}) + '\n{"a":4}\n')
    source = JsonlSource(path, block_bytes=16)
    (block,) = source.blocks()
    assert block.n_rows == 2
    assert source.names(block.ids[-3:]) == ["deep.k2999=2999", "deep.k2999.v", "a"]
    assert hash_bytes([b"deep.k2999.v"]) == block.ids[-2]


def test_readers_of_one_source_do_not_disturb_each_other(path):
    path.write_text("".join(f'{{"{"k" * 99 * i}":1}}\n' for i in range(1, 40)))
    source = JsonlSource(path, block_bytes=5000)
    expected = [block.ids.tolist() for block in source.blocks()]
    found = []
    for one, _ in zip(source.blocks(), source.blocks(), strict=True):
        assert source.locate(one.first_row) == f"{path}:{one.first_row + 1}"
        found.append(one.ids.tolist())
    assert found == expected
    assert len(found) > 10


def test_threads_may_read_one_source_side_by_side(path):
    row = {"y": "a", "w": 1, "deep": {"er": [1, "two", {"x": 0.5}]}}
    path.write_text((json.dumps(row) + "\n") * 3000)
    source = JsonlSource(path, "y", weight="w", block_bytes=2000)
    expected = read(source)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(read, [source] * 4))


def test_planted_features_are_found_by_name(path):
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for _ in range(1500):
            age, size, bias = rng.normal(size=3).round(3).tolist()
            score = 2 * age - 3 * size + 2.5 * bias + rng.logistic()
            row = {
                "user": {"age": age, "größe": size},
                "words": rng.integers(0, 10**6, 10).tolist(),
                "bias": bias,
                "label": "up" if score > 0 else "down",
            }
            file.write(json.dumps(row) + "\n")
    selector = Mission(k=3).fit_source(JsonlSource(path, "label"))
    assert set(selector.shortlist_.names) == {"user.age", "user.größe", "bias"}
    assert selector.score(JsonlSource(path, "label")) > 0.8
