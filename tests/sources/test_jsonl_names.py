"""Names of features and labels of JSON lines: looked up in files, kept of pipes."""

import io
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsing.jsonl import lines, read
from shortlist._protocols import DataError
from shortlist.kernels.hashing import mix
from shortlist.kernels.name_hash import GOLDEN, hash_bytes
from shortlist.sources import _json_format, _name_stores, jsonl
from shortlist.sources.jsonl import JsonlSource

ROWS = b"".join(b'{"s":{"a%d":1,"b":2},"c":[%d]}\n' % (i, i) for i in range(2000))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("jsonl") / "rows.jsonl"


def pipe(text, *arguments, **options):
    """Source of text that comes on standard input, already attached to it."""
    source = JsonlSource("-", *arguments, **options)
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    source.restore = patch.undo
    return source


def ids_of(*names):
    return hash_bytes([name.encode() for name in names])


def clashing_names():
    """Make two names of printable characters that have one hash, as for VW text."""

    def after(word):
        hashed = int(mix(np.uint64(start ^ int.from_bytes(word, "little"))))
        return (hashed + int(GOLDEN)) % 2**64

    start = int(mix(np.uint64(int(GOLDEN) * 17 % 2**64)))
    first = b"namename"
    goal = after(first) ^ int.from_bytes(first, "little")
    for i in range(10**6):
        word = b"%08x" % i
        rest = (goal ^ after(word)).to_bytes(8, "little")
        if all(33 <= c < 127 and c not in b'"\\' for c in rest):
            return first + first, word + rest
    raise AssertionError


@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
def test_names_are_found_wherever_they_stand(path, block_bytes):
    path.write_bytes(ROWS)
    source = JsonlSource(path, block_bytes=block_bytes)
    names = ["c=1999", "s.a0", "s.b", "s.a1500", "s.b", ""]
    assert source.names(ids_of(*names)) == names
    assert source.names(ids_of()) == []
    unknown = ids_of("nowhere")
    assert source.names(unknown) == [f"#{int(unknown[0]):016x}"]


def test_the_target_and_the_weight_are_no_features(path):
    path.write_text('{"y":"a","w":1,"x":{"y":"b"}}\n')
    source = JsonlSource(path, "y", weight="w")
    (block,) = source.blocks()
    assert source.names(block.ids) == ["x.y=b"]
    assert source.names(ids_of("w", "y=a"))[0].startswith("#")


def test_two_names_of_one_hash_are_an_error_that_has_both(path):
    one, other = clashing_names()
    path.write_bytes(b'{"x":1}\n{"%s":1}\n{"%s":1,"z":1}\n' % (one, other))
    ids = hash_bytes([one, other, b"z"])
    assert ids[0] == ids[1]
    with pytest.raises(DataError, match="different hashes") as error:
        JsonlSource(path).names(ids)
    assert repr(one.decode()) in str(error.value)
    assert repr(other.decode()) in str(error.value)


def test_very_long_names_find_room(path):
    outer, inner = "o" * 5000, "i" * 9000
    path.write_text(f'{{"{outer}":{{"{inner}":1,"b":["{inner}"]}},"c":2}}\n')
    names = [f"{outer}.{inner}", f"{outer}.b={inner}", "c"]
    assert JsonlSource(path).names(ids_of(*names)) == names


def test_memory_does_not_grow_with_names(path):
    path.write_bytes(b"".join(b'{"u":"name%d"}\n' % i for i in range(300_000)))
    source = JsonlSource(path, block_bytes=1 << 16)
    wanted = ids_of("u=name5", "u=name299999")
    JsonlSource(path).names(wanted[:1])  # compiled by now
    tracemalloc.start()
    assert source.names(wanted) == ["u=name5", "u=name299999"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000 < path.stat().st_size


def test_names_with_lone_surrogates_are_refused(path):
    path.write_bytes(ROWS)
    with pytest.raises(DataError, match="without lone surrogates"):
        JsonlSource(path).ids(["a", "\ud800"])


@pytest.mark.parametrize("block_bytes", [30, 1 << 20])
def test_names_of_a_pipe_are_kept_as_far_as_there_is_room(monkeypatch, block_bytes):
    wanted = ids_of("s.a0", "s.b", "c=0", "s.a1", "c=1")
    monkeypatch.setattr(_name_stores, "MOST_NAMES", 4)
    source = pipe(ROWS, block_bytes=block_bytes)
    assert sum(block.n_rows for block in source.blocks()) == 2000
    source.restore()
    names = source.names(wanted)
    assert names[:4] == ["s.a0", "s.b", "c=0", "s.a1"]
    assert names[4] == f"#{int(wanted[4]):016x}"


@given(st.lists(lines(), max_size=5).map(b"".join), st.sampled_from([1, 30, 1 << 20]))
@settings(max_examples=50, deadline=None)
def test_a_pipe_gives_the_rows_and_labels_of_a_file(path, text, block_bytes):
    path.write_bytes(text)
    for on_error in ("raise", "skip"):
        options = {"on_error": on_error, "block_bytes": block_bytes}
        file, piped = JsonlSource(path, "y", **options), pipe(text, "y", **options)
        rows, error = read(file)
        found, other_error = read(piped)
        piped.restore()
        assert len(found) == len(rows)
        assert [ids for ids, _ in found] == [ids for ids, _ in rows]
        if error is None:  # else the file knows labels from behind the bad line
            assert found == rows
            assert other_error is None
            assert piped.label_names == file.label_names
            assert piped.skipped == file.skipped
        else:
            line = error.removeprefix(f"{path}:").partition(":")[0]
            assert other_error.startswith(f"stdin:{line}: expected ")


def test_labels_that_are_text_become_codes_in_alphabetical_order(path):
    text = (
        '{"y":"b"}\n{"y":"ä"}\n{"y":null}\n{"y":""}\n{}\n{"y":"a\\u0062"}\n{"y":"b"}\n'
    )
    path.write_text(text)
    for source in (
        JsonlSource(path, "y", block_bytes=1),
        pipe(text.encode(), "y", block_bytes=1),
    ):
        assert source.label_names == ["", "ab", "b", "ä"]
        y = np.concatenate([block.y for block in source.blocks()])
        np.testing.assert_array_equal(y, [2, 3, np.nan, 0, np.nan, 1, 2])
        getattr(source, "restore", lambda: None)()


def test_labels_stay_what_the_first_one_is(path):
    path.write_text('{"y":"a"}\n{"y":1}\n')
    source = JsonlSource(path, "y")
    complaint = "expected text as label, as in the rows before, got '1'"
    assert read(source)[1] == f"{path}:2: {complaint}"
    assert source.label_names == ["a"]


def test_a_new_label_late_in_a_pipe_is_an_error(monkeypatch):
    monkeypatch.setattr(jsonl, "_HEAD_BYTES", 25)
    text = b'{"y":"b"}\n{"y":"a"}\n{"y":"b"}\n{"y":"a"}\n{"y":"c"}\n{"y":"a"}\n'
    source = pipe(text, "y", block_bytes=10)
    rows, error = read(source)
    source.restore()
    assert len(rows) == 4
    assert error == (
        "stdin:5: expected a label known from the start ('a', 'b'), got '\"c\"'"
    )
    source = pipe(text, "y", block_bytes=10, on_error="skip")
    assert len(read(source)[0]) == 5
    assert source.skipped == 1
    source.restore()


def test_numbers_as_labels_let_a_pipe_pass_at_once():
    source = pipe(b'{"y":1}\n{"y":2}\n{"y":"no"}\n', "y", block_bytes=8)
    blocks = source.blocks()
    assert next(blocks).y.tolist() == [1]
    assert source.label_names is None
    assert next(blocks).y.tolist() == [2]
    with pytest.raises(DataError, match=r"stdin:3: expected a number as label"):
        next(blocks)
    with pytest.raises(DataError, match="only once"):
        source.blocks()
    source.restore()


def test_labels_are_looked_for_in_the_first_megabyte(path, monkeypatch):
    monkeypatch.setattr(jsonl, "_HEAD_BYTES", 20)
    path.write_text('{"a":1}\n' * 5 + '{"y":"late"}\n')
    rows, error = read(JsonlSource(path, "y", block_bytes=8))
    assert len(rows) == 5
    assert error == f"{path}:6: expected a number as label, got '\"late\"'"


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_too_many_labels_are_an_error(path, monkeypatch, on_error):
    monkeypatch.setattr(_json_format, "_MOST_LABELS", 2)
    path.write_text('{"y":"a"}\n{"y":"b"}\n{"y":"a"}\n{"y":"c"}\n')
    with pytest.raises(DataError, match=r"rows.jsonl:4: expected at most .* labels"):
        list(JsonlSource(path, "y", on_error=on_error).blocks())


def test_labels_of_bad_lines_are_no_labels(path):
    path.write_text('{"y":"a"}\n{"y":"b",}\n{"y":"c","x":1e999}\n{"y":"d"}\n')
    assert JsonlSource(path, "y", on_error="skip").label_names == ["a", "d"]
