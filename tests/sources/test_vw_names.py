"""Names of features of Vowpal Wabbit text: looked up in files, kept of pipes."""

import gzip
import io
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from shortlist._protocols import DataError
from shortlist.kernels.hashing import mix
from shortlist.kernels.name_hash import GOLDEN, hash_bytes
from shortlist.sources import VwSource, _name_stores

ROWS = b"".join(b"1 |s a%d b:2 | c%d\n" % (i, i) for i in range(2000))


@pytest.fixture
def pipe(monkeypatch):
    """Make a source of text that comes on standard input."""

    def pipe(text, **options):
        stdin = SimpleNamespace(buffer=io.BytesIO(text))
        monkeypatch.setattr(sys, "stdin", stdin)
        return VwSource("-", **options)

    return pipe


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rows.vw").write_bytes(ROWS)
    return tmp_path / "rows.vw"


def ids_of(*names):
    return hash_bytes([name.encode() for name in names])


def clashing_names():
    """Make two names of printable characters that have one hash.

    Both are two words long. Whatever the first word is, some second word leads to the
    same hash; words are tried until that one can be printed.
    """

    def after(word):
        hashed = int(mix(np.uint64(start ^ int.from_bytes(word, "little"))))
        return (hashed + int(GOLDEN)) % 2**64

    start = int(mix(np.uint64(int(GOLDEN) * 17 % 2**64)))
    first = b"namename"
    goal = after(first) ^ int.from_bytes(first, "little")
    for i in range(10**6):
        word = b"%08x" % i
        rest = (goal ^ after(word)).to_bytes(8, "little")
        if all(33 <= c < 127 and c not in b"|:^" for c in rest):
            return first + first, word + rest
    raise AssertionError


def test_names_are_found_wherever_they_stand(path):
    for block_bytes in (50, 1 << 20):
        source = VwSource(path, block_bytes=block_bytes)
        names = ["c1999", "s^a0", "s^b", "s^a1500", "s^b"]
        assert source.names(ids_of(*names)) == names
        assert source.names(ids_of()) == []


def test_what_no_row_has_is_called_by_its_hash_unless_somebody_named_it(path):
    source = VwSource(path)
    ids = ids_of("c1", "nowhere", "named")
    source.ids(["named"])
    assert source.names(ids) == ["c1", f"#{int(ids[1]):016x}", "named"]


def test_looking_for_names_ends_with_the_last_and_answers_are_remembered(tmp_path):
    path = tmp_path / "rows.vw.gz"
    packed = gzip.compress(ROWS)
    path.write_bytes(packed[: len(packed) // 2])
    source = VwSource(path, block_bytes=200)
    early, late = ids_of("s^a3", "c1"), ids_of("s^a3", "c1999")
    assert source.names(early) == ["s^a3", "c1"]
    with pytest.raises(DataError, match="expected whole and sound gz"):
        source.names(late)
    path.unlink()
    assert source.names(early) == ["s^a3", "c1"]


def test_bad_lines_do_not_keep_names_from_being_found(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_bytes(b"1 | a\nbad\n1 | no:1:2 b\n1 | c\n")
    source = VwSource(path)
    assert source.names(ids_of("a", "c")) == ["a", "c"]
    assert source.names(ids_of("no"))[0].startswith("#")


def test_bytes_that_are_no_text_go_through_names_and_back(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_bytes(b"1 |\xff \xed\xa0\x80 \x00 \xc3\xa9\n")
    source = VwSource(path)
    (block,) = source.blocks()
    names = source.names(block.ids)
    assert names == ["\udcff^\udced\udca0\udc80", "\udcff^\x00", "\udcff^é"]
    assert VwSource(path).ids(names).tolist() == block.ids.tolist()


@pytest.mark.parametrize("name", ["", "a b", "a|b", "a:1", "a\n", "\ud800"])
def test_names_that_text_cannot_have_are_refused(path, name):
    with pytest.raises(DataError, match="expected a name without blanks"):
        VwSource(path).ids(["a", name])


def test_two_names_of_one_hash_are_an_error_that_has_both(tmp_path):
    one, other = clashing_names()
    path = tmp_path / "rows.vw"
    path.write_bytes(b"1 | x\n1 | %s y\n1 | %s z\n" % (one, other))
    ids = hash_bytes([one, other, b"z"])
    assert ids[0] == ids[1]
    with pytest.raises(DataError, match="different hashes") as error:
        VwSource(path).names(ids)
    assert repr(one.decode()) in str(error.value)
    assert repr(other.decode()) in str(error.value)
    early = VwSource(path, block_bytes=10)  # complete before the other comes
    assert early.names(ids[:1]) == [one.decode()]
    assert len(set(hash_bytes([one, other], seed=1).tolist())) == 2


@pytest.mark.parametrize("block_bytes", [30, 1 << 20])
def test_names_of_a_pipe_are_kept_as_far_as_there_is_room(
    pipe, monkeypatch, block_bytes
):
    names = ids_of("s^a0", "s^b", "c0", "s^a1", "c1")
    monkeypatch.setattr(_name_stores, "MOST_NAMES", 4)
    source = pipe(ROWS, block_bytes=block_bytes)
    assert sum(block.n_rows for block in source.blocks()) == 2000
    assert source.names(names) == [
        "s^a0",
        "s^b",
        "c0",
        "s^a1",
        f"#{int(names[4]):016x}",
    ]
    monkeypatch.setattr(_name_stores, "MOST_CHARACTERS", 9)
    source = pipe(ROWS, block_bytes=block_bytes)
    assert sum(block.n_rows for block in source.blocks()) == 2000
    assert source.names(names)[:3] == ["s^a0", "s^b", "c0"]
    assert source.names(names)[3].startswith("#")


def test_a_pipe_knows_where_rows_stand_and_passes_once(pipe):
    source = pipe(b"\n" + ROWS)
    assert not source.reiterable
    next(source.blocks())
    assert source.locate(0) == "stdin:2"
    with pytest.raises(DataError, match="only once"):
        source.blocks()


def test_memory_does_not_grow_with_names(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_bytes(b"".join(b"1 |user name%d\n" % i for i in range(300_000)))
    source = VwSource(path, block_bytes=1 << 16)
    wanted = ids_of("user^name5", "user^name299999")
    VwSource(path).names(wanted[:1])  # compiled by now
    tracemalloc.start()
    assert source.names(wanted) == ["user^name5", "user^name299999"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000 < path.stat().st_size


def test_very_long_names_find_room(tmp_path):
    path = tmp_path / "rows.vw"
    space, name = "s" * 5000, "n" * 9000
    path.write_text(f"1 |{space} {name} b |{space}: c\n1 |{space} c\n")
    source = VwSource(path, on_error="skip")
    assert source.names(ids_of(f"{space}^c")) == [f"{space}^c"]
    path.write_text(f"1 |{space} {name} b\n")
    both = [f"{space}^{name}", f"{space}^b"]
    assert VwSource(path).names(ids_of(*both)) == both
