"""Files that are there whole or not at all: JSON and arrays in one zip, never pickle.

A file is a plain zip with ``header.json`` and one ``<name>.npy`` for each array, so
``unzip`` and ``numpy.load`` read it without us. What holds for every file:

- A reader sees the old file or the new one, never a part. The new one is written
  beside it as ``.<name>.<random>.part``, flushed to disk, then renamed. An exception
  removes the part; a process killed outright leaves it, and the next save of the same
  file sweeps it away.
- The same content gives the same bytes: keys and arrays are sorted, the time stamps
  are fixed, nothing is compressed (compressed bytes depend on the zlib version).
- The JSON is strict and gives back exactly what was put in. What JSON has no words for
  is spelled out: ``{"$float": "nan"}`` for numbers that are not finite, ``{"$text":
  [...]}`` for text whose neighbouring surrogates a reader would melt into one letter,
  ``{"$map": [[key, value], ...]}`` for mappings with keys that look like these marks.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
import secrets
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from shortlist._protocols import DataError, ShortlistError

_WRITTEN_BY = "shortlist"
_MAGIC = b"PK\x03\x04"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first day that a zip can name
_NPY = (1, 0)
_PLAIN_KINDS = "biufcSUMm"  # bools, numbers, text, times: no objects, no records
_ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_BETWEEN_SURROGATES = re.compile(r"(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")
_DAMAGE = (
    zipfile.BadZipFile,
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    OverflowError,
    RuntimeError,
    struct.error,
)


def save(
    path: str | os.PathLike[str],
    *,
    kind: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write a file, or leave everything as it was.

    Parameters
    ----------
    path : str or path-like
        Where to; an existing file is replaced, a link is followed.
    kind : str
        What the file holds, for people: "shortlist", "checkpoint".
    version : int
        Version of the layout of ``header`` and ``arrays`` for this kind.
    header : mapping
        JSON values (None, bool, int, float, str, lists, mappings with text as keys);
        NumPy scalars count as numbers, tuples as lists.
    arrays : mapping of str to ndarray
        Arrays of bools, numbers, text or times. Names are letters, digits, ``_``,
        ``.`` and ``-``.

    Raises
    ------
    ShortlistError
        If something in it cannot be stored or the file cannot be written.
    """
    for name in arrays:
        if not _ARRAY_NAME.fullmatch(name):
            raise ShortlistError(
                f"array names should be letters, digits, _ . and -, got {name!r}"
            )
    plain = {name: plain_array(name, arrays[name]) for name in sorted(arrays)}
    envelope = {
        "written_by": _WRITTEN_BY,
        "kind": kind,
        "version": version,
        "header": header,
        "arrays": list(plain),
    }
    text = (to_json(envelope) + "\n").encode("ascii")
    try:
        with replacing(Path(os.path.realpath(path))) as stream:
            _write_zip(stream, text, plain)
    except OSError as error:
        raise ShortlistError(
            f"{path}: cannot be written: {error.strerror or error}"
        ) from error


def load(
    path: str | os.PathLike[str], *, kind: str, version: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file that ``save`` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.
    kind : str
        What it should hold.
    version : int
        The version of that kind which the caller understands.

    Returns
    -------
    header : dict
        As saved, with lists for tuples.
    arrays : dict of str to ndarray
        As saved, bit for bit.

    Raises
    ------
    DataError
        If it is no such file, holds another kind or version, or is damaged.
    """
    try:
        with open(path, "rb") as stream:
            return _read_zip(stream, path, kind, version)
    except ShortlistError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except _DAMAGE as error:
        raise DataError(
            f"{path}: truncated or corrupt; restore it or make it again"
        ) from error


def plain_array(name: str, values: Any) -> NDArray[Any]:
    """Return values as an array that can be stored: row by row, no objects."""
    array = np.asarray(values, order="C")
    if array.dtype.kind not in _PLAIN_KINDS:
        raise ShortlistError(
            f"array {name!r} should hold bools, numbers, text or times, "
            f"got dtype {array.dtype}"
        )
    return array


def to_json(value: Any) -> str:
    """Write a JSON value as strict ASCII text, the same text for the same value."""
    return json.dumps(
        _encode(value, "value"),
        allow_nan=False,
        sort_keys=True,
        separators=(",", ":"),
    )


def from_json(text: str | bytes) -> Any:
    """Read what ``to_json`` wrote; the bare tokens NaN and Infinity are refused."""
    return json.loads(text, object_hook=_decode, parse_constant=_refuse_token)


def _encode(value: Any, where: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(float(value))}
    if isinstance(value, str):
        parts = _BETWEEN_SURROGATES.split(value)
        return value if len(parts) == 1 else {"$text": parts}
    if isinstance(value, list | tuple):
        if all(type(item) is str for item in value) and "".join(value).isascii():
            return list(value)  # as most long ones are
        return [_encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return _encode_mapping(value, where)
    raise ShortlistError(
        f"{where} should be a JSON value (None, bool, number, text, list or mapping), "
        f"got {type(value).__name__}"
    )


def _encode_mapping(value: Mapping[Any, Any], where: str) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise ShortlistError(f"keys of {where} should be text, got {key!r}")
    items = {key: _encode(value[key], f"{where}[{key!r}]") for key in sorted(value)}
    if any(key.startswith("$") or _BETWEEN_SURROGATES.search(key) for key in items):
        return {"$map": [[_encode(key, where), item] for key, item in items.items()]}
    return items


def _decode(mapping: dict[str, Any]) -> Any:
    # Called from the innermost mapping outwards: contents are decoded already.
    if len(mapping) == 1:
        if "$float" in mapping:
            return float(mapping["$float"])
        if "$text" in mapping:
            return "".join(mapping["$text"])
        if "$map" in mapping:
            return dict(mapping["$map"])
    return mapping


def _refuse_token(token: str) -> NoReturn:
    raise ValueError(f"{token} is not JSON")


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Open a part file that becomes the target if the block ends well."""
    _sweep(target)
    stream, part = _open_part(target)
    try:
        # Renamed while still open: closing gives up the lock that keeps others from
        # taking the part for a leftover.
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    # The new file is in place by now, and some network file systems cannot flush a
    # folder: failing here would report a save that did happen as one that did not.
    with contextlib.suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _open_part(target: Path) -> tuple[IO[bytes], Path]:
    # Never more readable than the file that it replaces.
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with contextlib.suppress(OSError):  # a file system without locks: no sweeping
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return os.fdopen(handle, "wb"), part
        os.close(handle)  # swept by another save before it was locked: try again


def _sweep(target: Path) -> None:
    """Remove parts whose writer was killed: those that nobody holds a lock on."""
    leftover = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.part")
    with os.scandir(target.parent) as entries:
        leftovers = [entry.path for entry in entries if leftover.fullmatch(entry.name)]
    for part in leftovers:
        with contextlib.suppress(OSError):
            handle = os.open(part, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(part)
            finally:
                os.close(handle)


def _write_zip(
    stream: IO[bytes], header: bytes, arrays: Mapping[str, NDArray[Any]]
) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        with _new_member(archive, "header.json", len(header)) as member:
            member.write(header)
        for name, array in arrays.items():
            with _new_member(archive, f"{name}.npy", array.nbytes) as member:
                np.lib.format.write_array(
                    member, array, version=_NPY, allow_pickle=False
                )


def _new_member(archive: zipfile.ZipFile, name: str, size: int) -> IO[bytes]:
    info = zipfile.ZipInfo(name, date_time=_LONG_AGO)
    info.create_system = 3  # whatever the platform
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    return archive.open(info, "w", force_zip64=size >= 1 << 30)


def _read_zip(
    stream: IO[bytes], path: object, kind: str, version: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    not_ours = DataError(f"{path}: not a file written by shortlist")
    # A beginning that stops short of the magic number is a truncated file, not a
    # foreign one.
    if not _MAGIC.startswith(stream.read(len(_MAGIC))):
        raise not_ours
    with zipfile.ZipFile(stream) as archive:
        if "header.json" not in archive.namelist():
            raise not_ours
        envelope = from_json(archive.read(_member(archive, "header.json")))
        if (
            not isinstance(envelope, dict)
            or envelope.get("written_by") != _WRITTEN_BY
            or not isinstance(envelope.get("kind"), str)
            or not isinstance(envelope.get("version"), int)
        ):
            raise not_ours
        if envelope["kind"] != kind:
            raise DataError(f"{path}: a {envelope['kind']}, expected a {kind}")
        found = envelope["version"]
        if found > version:
            raise DataError(
                f"{path}: written by a newer shortlist ({kind} version {found}, this "
                f"one reads version {version}); upgrade"
            )
        if found < version:
            raise DataError(
                f"{path}: written by an older shortlist ({kind} version {found}, this "
                f"one reads version {version}); make it again"
            )
        if not isinstance(envelope["header"], dict):
            raise ValueError("the header should be a mapping")
        arrays = {n: _read_array(archive, n, path) for n in envelope["arrays"]}
        return envelope["header"], arrays


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Find a member whose claimed size its file can really hold."""
    info = archive.getinfo(name)
    assert archive.fp is not None
    if (
        info.compress_type != zipfile.ZIP_STORED
        or info.file_size != info.compress_size
        or info.file_size > os.fstat(archive.fp.fileno()).st_size
    ):
        raise zipfile.BadZipFile(f"{name} is compressed or longer than the file")
    return info


def _read_array(archive: zipfile.ZipFile, name: str, path: object) -> NDArray[Any]:
    info = _member(archive, f"{name}.npy")
    # Size and type are checked before anything is allocated or built.
    with archive.open(info) as member:
        if np.lib.format.read_magic(member) != _NPY:
            raise ValueError("npy version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        if dtype.kind not in _PLAIN_KINDS:
            raise DataError(
                f"{path}: array {name!r} has dtype {dtype}; only bools, numbers, text "
                f"and times are read"
            )
        if math.prod(shape) * dtype.itemsize != info.file_size - member.tell():
            raise ValueError("npy size")
    # Opened afresh, so that the zip's checksum covers every byte.
    with archive.open(info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array
