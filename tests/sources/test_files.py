import bz2
import gzip
import io
import os
import subprocess
import sys
import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import zstandard

from shortlist._protocols import DataError, ShortlistError
from shortlist.engines import Broken, run
from shortlist.sketch._mission import mission
from shortlist.sources import LibsvmSource

ROWS = b"".join(b"%d %d:0.5 9:2\r\n" % (i % 2, i) for i in range(3000))


def zstd(text):
    return zstandard.ZstdCompressor().compress(text)


PACK = {".svm": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd}
COMPRESSED = [".gz", ".bz2", ".zst"]


def features(source):
    """First id of every row."""
    return [int(block.ids[i]) for block in source.blocks() for i in block.indptr[:-1]]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("block_bytes", [100, 1 << 20])
def test_rows_are_the_same_in_every_compression(tmp_path, suffix, block_bytes):
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(PACK[suffix](ROWS))
    source = LibsvmSource(path, block_bytes=block_bytes)
    for _ in range(2):
        assert features(source) == list(range(3000))
    *_, last = source.blocks()
    assert last.position == source.size == path.stat().st_size


@pytest.mark.parametrize("suffix", PACK)
def test_lines_are_numbered_right_in_every_compression(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(PACK[suffix](ROWS + b"# note\n\n1 1:oops\n"))
    for block_bytes in (50, 1 << 20):
        with pytest.raises(DataError, match=rf"rows{suffix}:3003: expected a number"):
            features(LibsvmSource(path, block_bytes=block_bytes))


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_parts_packed_one_after_the_other_are_all_read(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    cut = 20_001  # within a line
    path.write_bytes(
        PACK[suffix](ROWS[:cut]) + PACK[suffix](b"") + PACK[suffix](ROWS[cut:])
    )
    assert features(LibsvmSource(path)) == list(range(3000))


def test_compressed_positions_count_compressed_bytes(tmp_path):
    rng = np.random.default_rng(0)
    text = b"".join(b"1 %d:%r\n" % (i, rng.random()) for i in range(40_000))
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(text))
    source = LibsvmSource(path, block_bytes=1 << 15)
    positions = [block.position for block in source.blocks()]
    assert len(set(positions)) > 3
    assert positions == sorted(positions)
    assert positions[-1] == path.stat().st_size < len(text)


@pytest.mark.parametrize("suffix", COMPRESSED)
@pytest.mark.parametrize("harm", ["truncated", "corrupt", "plain"])
def test_damaged_files_are_named(tmp_path, suffix, harm):
    rng = np.random.default_rng(0)
    text = b"".join(b"1 %d:%r\n" % (i, rng.random()) for i in range(2000))
    packed = bytearray(PACK[suffix](text))
    if harm == "truncated":
        del packed[-50:]
    elif harm == "corrupt":
        packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\xff" * 40
    else:
        packed = text
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(packed)
    with pytest.raises(
        DataError, match=rf"rows{suffix}: expected whole and sound {suffix[1:]}"
    ):
        features(LibsvmSource(path, on_error="skip"))


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_what_comes_before_a_break_is_learned_from(tmp_path, suffix):
    rng = np.random.default_rng(0)
    lines = [b"%d %d:%r\n" % (i % 2, i % 7 + 1, rng.random()) for i in range(60_000)]
    packed = PACK[suffix](b"".join(lines))
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(packed[: 3 * len(packed) // 4])
    with pytest.raises(Broken, match="expected whole and sound") as stop:
        run(mission(3, recipe="newton"), LibsvmSource(path))
    # bzip2 packs 900 kB at a time
    assert stop.value.result.n_examples > (35_000 if suffix == ".bz2" else 44_000)


@pytest.mark.parametrize("suffix", [".svm", ".gz", ".zst"])  # bz2 takes long to write
def test_no_more_than_a_block_is_in_memory(tmp_path, suffix):
    line = b"1 " + b" ".join(b"%d:0.25" % i for i in range(100)) + b"\n"
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(PACK[suffix](line * 30_000))
    source = LibsvmSource(path, block_bytes=1 << 16)
    next(source.blocks())  # compiled by now
    tracemalloc.start()
    n_rows = sum(block.n_rows for block in source.blocks())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_rows == 30_000
    assert peak < 10_000_000 < len(line) * 30_000 / 2


def test_a_missing_library_is_named_with_its_remedy(tmp_path, monkeypatch):
    for module in ("zstandard", "compression.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "rows.zst"
    path.write_bytes(zstd(ROWS))
    with pytest.raises(ShortlistError, match=r"pip install shortlist\[zstd\]$"):
        features(LibsvmSource(path))


def test_rows_and_positions_go_on_over_files(tmp_path):
    for name, rows in (
        ("b.svm", b"1 2:1\n1 3:1"),
        ("a.svm", b"1 1:1\n"),
        ("c.svm", b""),
    ):
        (tmp_path / name).write_bytes(rows)
    (tmp_path / "d.svm.gz").write_bytes(gzip.compress(b"1 4:1\nbad\n"))
    (tmp_path / "folder.svm").mkdir()
    source = LibsvmSource([tmp_path / "*.svm", tmp_path / "d.svm.gz"])
    assert source.name == f"{tmp_path / 'a.svm'} and 3 more"
    blocks = source.blocks()
    first, second, third = next(blocks), next(blocks), next(blocks)
    assert [block.ids.tolist() for block in (first, second, third)] == [
        [1],
        [2, 3],
        [4],
    ]
    assert [block.first_row for block in (first, second, third)] == [0, 1, 3]
    assert (first.position, second.position, third.position) == (6, 17, source.size)
    with pytest.raises(DataError, match=r"d.svm.gz:2: expected a number as label"):
        next(blocks)
    skipping = LibsvmSource([tmp_path / "d.svm.gz"] * 2, on_error="skip")
    assert features(skipping) == [4, 4]
    assert skipping.skipped == 2


def test_a_file_with_a_pattern_for_a_name_is_that_file(tmp_path):
    (tmp_path / "a[1].svm").write_bytes(b"1 5:1\n")
    (tmp_path / "a1.svm").write_bytes(b"1 6:1\n")
    assert features(LibsvmSource(tmp_path / "a[1].svm")) == [5]
    assert features(LibsvmSource(tmp_path / "a[12].svm")) == [6]


def test_places_without_text_are_named(tmp_path):
    with pytest.raises(DataError, match=r"none\*.svm: no file matches"):
        LibsvmSource(tmp_path / "none*.svm")
    with pytest.raises(DataError, match=r"none.svm: No such file"):
        LibsvmSource(tmp_path / "none.svm")
    with pytest.raises(DataError, match=r"expected a file, got a directory"):
        LibsvmSource(tmp_path)
    with pytest.raises(DataError, match=r"at least one path"):
        LibsvmSource([])


def test_a_file_that_has_gone_is_named(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1\n")
    source = LibsvmSource(path)
    path.unlink()
    with pytest.raises(DataError, match=r"rows.svm: No such file"):
        features(source)


@pytest.mark.parametrize("block_bytes", [10, 1 << 20])
def test_standard_input_is_read_once(monkeypatch, block_bytes):
    stdin = io.BytesIO(ROWS)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    source = LibsvmSource("-", block_bytes=block_bytes)
    assert (source.name, source.size, source.reiterable) == ("stdin", None, False)
    *_, last = source.blocks()
    assert last.first_row + last.n_rows == 3000
    assert last.position == len(ROWS)
    assert not stdin.closed
    with pytest.raises(DataError, match="stdin: a pipe can be read only once"):
        source.blocks()


def test_standard_input_of_another_process_is_read(tmp_path):
    code = (
        "from shortlist.sources import LibsvmSource\n"
        "print(sum(block.n_rows for block in LibsvmSource('-').blocks()))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], input=ROWS, capture_output=True, check=True
    )
    assert out.stdout.split() == [b"3000"]


def test_errors_in_standard_input_say_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"1\nx\n")))
    with pytest.raises(DataError, match=r"^stdin:2: expected a number as label, got"):
        list(LibsvmSource("-").blocks())


@pytest.mark.parametrize("suffix", [".svm", ".gz"])
def test_a_named_pipe_is_read_once(tmp_path, suffix):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(PACK[suffix](ROWS),))
    writer.start()
    source = LibsvmSource(path)
    assert (source.size, source.reiterable) == (None, False)
    assert features(source) == list(range(3000))
    writer.join()
    with pytest.raises(DataError, match="a pipe can be read only once"):
        source.blocks()
