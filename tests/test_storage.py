"""Files are whole or absent, say what is wrong with them, and give back every bit."""

import json
import os
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shortlist import storage
from shortlist._protocols import DataError, ShortlistError

quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# Every letter, with lone surrogates: file names and broken data have them.
any_text = st.text(st.characters(exclude_categories=()), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3)
    ),
    max_leaves=8,
)
plain_arrays = hnp.arrays(
    dtype=st.one_of(
        hnp.boolean_dtypes(),
        hnp.integer_dtypes(),
        hnp.unsigned_integer_dtypes(),
        hnp.floating_dtypes(sizes=(32, 64)),
        hnp.complex_number_dtypes(sizes=(64, 128)),
        hnp.unicode_string_dtypes(max_len=3),
        hnp.datetime64_dtypes(),
    ),
    shape=hnp.array_shapes(min_dims=0, min_side=0, max_side=3),
)


def write(path, header=None, arrays=None, kind="shortlist", version=1):
    storage.save(
        path, kind=kind, version=version, header=header or {}, arrays=arrays or {}
    )


def read(path, kind="shortlist", version=1):
    return storage.load(path, kind=kind, version=version)


def names_in(folder):
    return sorted(entry.name for entry in folder.iterdir())


def forge(path, members):
    """Write a zip as somebody else might."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def envelope(**changes):
    content = {"written_by": "shortlist", "kind": "shortlist", "version": 1}
    return json.dumps(content | {"header": {}, "arrays": []} | changes)


@quick
@given(value=json_values)
@example(value={"$float": "nan"})
@example(value={"$map": [], "a": 1})
@example(value={"$text": {"$text": ["x"]}})
@example(value={"\ud83d\ude00": "\ud83d\ude00", "\U0001f600": "\U0001f600"})
@example(value=[-0.0, 5e-324, 1.7976931348623157e308, float("-inf"), 2**70, True])
def test_json_gives_back_the_same_value_and_is_strict(value):
    text = storage.to_json(value)
    back = storage.from_json(text)
    assert repr(back) == repr(_sorted_keys(value))
    assert storage.to_json(back) == text

    def refuse(token):
        raise AssertionError(f"{token} is no JSON")

    json.loads(text, parse_constant=refuse)
    assert text.isascii()


def _sorted_keys(value):
    if isinstance(value, dict):
        return {key: _sorted_keys(value[key]) for key in sorted(value)}
    return [_sorted_keys(item) for item in value] if isinstance(value, list) else value


def test_json_takes_numpy_scalars_and_tuples():
    value = {"a": np.float32(0.5), "b": (np.int64(3), np.bool_(True), np.str_("x"))}
    assert storage.from_json(storage.to_json(value)) == {"a": 0.5, "b": [3, True, "x"]}


@pytest.mark.parametrize("value", [{1: 2}, {"a": object()}, [{1, 2}], b"x", 1j])
def test_what_is_no_json_value_is_refused_before_anything_is_written(tmp_path, value):
    with pytest.raises(ShortlistError, match=r"^(keys of )?value\['header'\]\['v'\]"):
        write(tmp_path / "f", header={"v": value})
    assert names_in(tmp_path) == []


def test_json_refuses_bare_tokens():
    with pytest.raises(ValueError, match="NaN is not JSON"):
        storage.from_json("[NaN]")


@quick
@given(
    header=st.dictionaries(any_text, json_values, max_size=3),
    arrays=st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,5}", fullmatch=True),
        plain_arrays,
        max_size=3,
    ),
)
def test_load_gives_back_what_was_saved(tmp_path, header, arrays):
    path = tmp_path / "file"
    write(path, header, arrays)
    header_back, arrays_back = read(path)
    assert storage.to_json(header_back) == storage.to_json(header)
    assert arrays_back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert arrays_back[name].dtype == array.dtype
        assert arrays_back[name].shape == array.shape
        assert arrays_back[name].tobytes() == array.tobytes()
    assert names_in(tmp_path) == ["file"]


def test_same_content_gives_the_same_bytes(tmp_path):
    table = np.arange(6.0).reshape(2, 3)
    write(tmp_path / "a", {"x": 1, "y": [2.5]}, {"p": table, "q": np.ones(2)})
    columns_first = np.asfortranarray(table)
    write(tmp_path / "b", {"y": (2.5,), "x": 1}, {"q": np.ones(2), "p": columns_first})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_numpy_and_unzip_read_the_file_without_us(tmp_path):
    write(tmp_path / "f.zip", {"a": 1}, {"x": np.arange(3)})
    with zipfile.ZipFile(tmp_path / "f.zip") as archive:
        assert archive.namelist() == ["header.json", "x.npy"]
        assert json.loads(archive.read("header.json"))["header"] == {"a": 1}
        assert np.array_equal(np.load(archive.open("x.npy")), np.arange(3))


@pytest.mark.parametrize(
    "array", [np.array([{}]), np.array([(1, 2.0)], dtype="i4,f8"), np.array([None])]
)
def test_arrays_of_objects_and_records_are_not_saved(tmp_path, array):
    with pytest.raises(ShortlistError, match="array 'x' should hold bools, numbers"):
        write(tmp_path / "f", arrays={"x": array})
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a\0", "é", ".hidden"])
def test_names_that_a_zip_may_twist_are_refused(tmp_path, name):
    with pytest.raises(ShortlistError, match="array names should be"):
        write(tmp_path / "f", arrays={name: np.zeros(1)})


def fail(error):
    def raise_it(*args, **kwargs):
        raise error

    return raise_it


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_midway_leaves_what_was_there(
    tmp_path, monkeypatch, step, error, exists
):
    path = tmp_path / "f"
    if exists:
        write(path, {"old": True})
    monkeypatch.setattr(os, step, fail(error))
    expected = ShortlistError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        write(path, {"new": True})
    monkeypatch.undo()
    if expected is ShortlistError:
        assert str(caught.value) == f"{path}: cannot be written: No space left"
    assert names_in(tmp_path) == (["f"] if exists else [])
    if exists:
        assert read(path)[0] == {"old": True}


def test_a_failure_while_arrays_are_written_leaves_what_was_there(
    tmp_path, monkeypatch
):
    write(tmp_path / "f", {"old": True})
    monkeypatch.setattr(np.lib.format, "write_array", fail(MemoryError()))
    with pytest.raises(MemoryError):
        write(tmp_path / "f", {}, {"x": np.zeros(3)})
    assert names_in(tmp_path) == ["f"]
    assert read(tmp_path / "f")[0] == {"old": True}


KILLED_WHILE_SAVING = """
import os, signal, sys
from shortlist import storage
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
storage.save(sys.argv[1], kind="shortlist", version=1, header={"new": 1}, arrays={})
"""


def test_what_a_killed_process_leaves_is_swept_by_the_next_save(tmp_path):
    path = tmp_path / "f"
    write(path, {"old": True})
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_SAVING, path], timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert read(path)[0] == {"old": True}
    assert len(names_in(tmp_path)) == 2
    bystander = ".f.mine.part"
    (tmp_path / bystander).touch()
    write(path, {"new": True})
    assert names_in(tmp_path) == [bystander, "f"]


def test_a_save_in_progress_is_not_swept_by_another(tmp_path, monkeypatch):
    path, replace = tmp_path / "f", os.replace

    def replace_after_another_save(part, target):
        monkeypatch.setattr(os, "replace", replace)
        write(path, {"other": True})
        replace(part, target)

    monkeypatch.setattr(os, "replace", replace_after_another_save)
    write(path, {"slow": True})
    assert read(path)[0] == {"slow": True}
    assert names_in(tmp_path) == ["f"]


def test_a_folder_that_cannot_be_flushed_does_not_fail_the_save(tmp_path, monkeypatch):
    fsync, calls = os.fsync, []

    def only_files(handle):
        calls.append(handle)
        if len(calls) > 1:
            raise OSError(22, "Invalid argument")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", only_files)
    write(tmp_path / "f", {"a": 1})
    assert len(calls) == 2
    assert read(tmp_path / "f")[0] == {"a": 1}


def test_links_are_followed_and_permissions_kept(tmp_path):
    path, link = tmp_path / "f", tmp_path / "link"
    write(path)
    path.chmod(0o600)
    link.symlink_to(path)
    write(link, {"a": 1})
    assert link.is_symlink()
    assert read(path)[0] == {"a": 1}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "f")
    finally:
        os.umask(before)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


def test_a_missing_folder_is_one_clear_line(tmp_path):
    path = tmp_path / "no" / "f"
    with pytest.raises(ShortlistError, match="cannot be written: No such file"):
        write(path)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read(path)


def test_another_kind_is_named(tmp_path):
    write(tmp_path / "f", kind="checkpoint")
    with pytest.raises(DataError, match=r"f: a checkpoint, expected a shortlist$"):
        read(tmp_path / "f")


def test_other_versions_say_what_to_do(tmp_path):
    write(tmp_path / "f", version=2)
    with pytest.raises(DataError, match=r"written by a newer shortlist .*; upgrade$"):
        read(tmp_path / "f", version=1)
    with pytest.raises(DataError, match=r"written by an older shortlist .* again$"):
        read(tmp_path / "f", version=3)


@pytest.mark.parametrize(
    "content", [b"rank,name\n", b"PK\x05\x06" + bytes(18), b"\x93NUMPY", b"{}"]
)
def test_a_foreign_file_is_called_foreign(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match=r"f: not a file written by shortlist$"):
        read(tmp_path / "f")


@pytest.mark.parametrize(
    "members",
    [
        {"x.npy": b""},
        {"header.json": "[]"},
        {"header.json": '{"kind": "shortlist", "version": 1}'},
        {"header.json": envelope(version="1")},
        {"header.json": envelope(kind=None)},
    ],
)
def test_a_foreign_zip_is_called_foreign(tmp_path, members):
    forge(tmp_path / "f", members)
    with pytest.raises(DataError, match=r"f: not a file written by shortlist$"):
        read(tmp_path / "f")


@pytest.mark.parametrize(
    "members",
    [
        {"header.json": "{"},
        {"header.json": envelope()[:-1] + ', "x": NaN}'},
        {"header.json": "[" * 100_000},
        {"header.json": b"\xff\xfe"},
        {"header.json": envelope(header=[])},
        {"header.json": envelope(arrays=3)},
        {"header.json": envelope(arrays=["x"])},
        {"header.json": envelope(header={"$float": "x"})},
        {"header.json": envelope(arrays=["x"]), "x.npy": b"junk"},
    ],
)
def test_a_damaged_header_or_a_lost_array_is_called_corrupt(tmp_path, members):
    forge(tmp_path / "f", members)
    with pytest.raises(DataError, match="f: truncated or corrupt; restore it or make"):
        read(tmp_path / "f")


def npy(descr, shape, data=b""):
    """Bytes of an .npy file, with whatever header."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}}}\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data


def test_object_arrays_are_refused_on_reading(tmp_path):
    forge(
        tmp_path / "f",
        {"header.json": envelope(arrays=["x"]), "x.npy": npy("|O", (1,), b"cos\n.")},
    )
    with pytest.raises(DataError, match="array 'x' has dtype object; only bools"):
        read(tmp_path / "f")


@pytest.mark.parametrize("shape", [(10**15,), (3,), (1,), (-1, -2)])
def test_an_array_that_claims_another_size_is_never_allocated(tmp_path, shape):
    forge(
        tmp_path / "f",
        {"header.json": envelope(arrays=["x"]), "x.npy": npy("<f8", shape, bytes(16))},
    )
    with pytest.raises(DataError, match="truncated or corrupt"):
        read(tmp_path / "f")


def test_a_compressed_file_is_not_inflated(tmp_path):
    with zipfile.ZipFile(tmp_path / "f", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", envelope(header={"a": "a" * 10**6}))
    with pytest.raises(DataError, match="truncated or corrupt"):
        read(tmp_path / "f")


def small_file(path):
    write(path, {"names": ["a", "b"]}, {"x": np.arange(4.0), "y": np.zeros(0)})
    return path.read_bytes()


def test_a_file_cut_anywhere_is_called_corrupt(tmp_path):
    whole = small_file(tmp_path / "f")
    for length in range(0, len(whole), 7):
        (tmp_path / "f").write_bytes(whole[:length])
        with pytest.raises(DataError, match="truncated or corrupt"):
            read(tmp_path / "f")


def test_a_flipped_bit_is_noticed_or_harmless(tmp_path):
    whole = small_file(tmp_path / "f")
    header, arrays = read(tmp_path / "f")
    harmless = 0
    for position in range(len(whole)):
        for bit in (0, 3, 7):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << bit
            (tmp_path / "f").write_bytes(damaged)
            try:
                header_back, arrays_back = read(tmp_path / "f")
            except DataError:
                continue
            harmless += 1
            assert header_back == header
            assert all(np.array_equal(arrays_back[n], arrays[n]) for n in arrays)
    # Time stamps and permissions in the zip's own records.
    assert harmless < len(whole) * 3 / 5
