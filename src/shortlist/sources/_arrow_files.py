"""Parquet files, Arrow files and streams of Arrow: batches of their columns.

The fields of structs are columns of their own, called by dotted names as keys of JSON are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from shortlist._protocols import DataError, ShortlistError
from shortlist.sources._files import TextFile

_PARQUET, _ARROW = b"PAR1", b"ARROW1"


class ArrowFile:
    """A file whose columns pyarrow reads; what it holds is told by its first bytes."""

    def __init__(self, file: TextFile, magic: bytes, keeps_open: bool = False):
        self.name, self.size = file.name, file.size or 0
        # workers elsewhere have other working directories
        self._path = os.path.abspath(file.path)
        # of Parquet; to read it, or open the file, takes long if columns are many
        self._metadata: Any = None
        self._keeps_open, self._kept = keeps_open, None
        self._is_parquet = magic.startswith(_PARQUET)
        self._is_stream = not self._is_parquet and not magic.startswith(_ARROW)
        with self._reading():
            schema = self._find_schema()
        #: of all columns, those within structs too: from the outermost name inwards
        self.paths = list(_paths_in(schema))
        self._path_of = {".".join(path): path for path in self.paths}
        self.schema = _flat(schema, self.paths)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        """Yield batches of columns, and the share of the file that lies before their end.

        At most ``rows`` rows at a time, whatever the groups of the file.
        """
        with self._reading():
            yield from (self._of_parquet if self._is_parquet else self._of_arrow)(
                columns, rows
            )

    def _find_schema(self) -> Any:
        if self._is_parquet:
            import pyarrow.parquet as pq

            self._metadata = pq.read_metadata(self._path)
            return self._metadata.schema.to_arrow_schema()
        with _open_arrow(self._path, self._is_stream) as reader:
            return reader.schema

    def _of_parquet(
        self, columns: Sequence[str], rows: int
    ) -> Iterator[tuple[Any, float]]:
        done, total = 0, max(1, self._metadata.num_rows)
        with self._opened() as file:
            for batch in file.iter_batches(rows, columns=list(columns)):
                done += batch.num_rows
                yield self._unpacked(batch, columns), done / total

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """The Parquet file, which is left open if it will be asked for often."""
        import pyarrow.parquet as pq

        file = self._kept
        if file is None:
            file = pq.ParquetFile(self._path, metadata=self._metadata, memory_map=True)
        if self._keeps_open:
            self._kept = file
            yield file
            return
        with file:
            yield file

    def __getstate__(self) -> dict[str, Any]:
        """All but the open file, which is of this process."""
        return {**self.__dict__, "_kept": None}

    def _of_arrow(
        self, columns: Sequence[str], rows: int
    ) -> Iterator[tuple[Any, float]]:
        with _open_arrow(self._path, self._is_stream) as reader:
            n = 0 if self._is_stream else reader.num_record_batches
            batches = reader if self._is_stream else map(reader.get_batch, range(n))
            for i, batch in enumerate(batches):
                names = dict.fromkeys(self._path_of[column][0] for column in columns)
                chosen = self._unpacked(batch.select(list(names)), columns)
                for start in range(0, batch.num_rows, rows):
                    share = (i + min(1.0, (start + rows) / batch.num_rows)) / max(1, n)
                    yield chosen.slice(start, rows), min(1.0, share)

    def _unpacked(self, batch: Any, columns: Sequence[str]) -> Any:
        """A batch of columns with those within structs by themselves."""
        paths = [self._path_of[column] for column in columns]
        if all(len(path) == 1 for path in paths):
            return batch
        import pyarrow as pa
        import pyarrow.compute as pc

        arrays = [batch.column(path[0]) for path in paths]
        within = (
            # which is null where anything around it is
            pc.struct_field(array, list(path[1:])) if len(path) > 1 else array
            for array, path in zip(arrays, paths, strict=True)
        )
        return pa.RecordBatch.from_arrays(list(within), names=list(columns))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn what pyarrow says about a broken file into an error of ours."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            kind = "Parquet" if self._is_parquet else "Arrow"
            why = " ".join(str(error).split())
            if self._is_stream and self.name.lower().endswith((".parquet", ".pq")):
                kind, why = (
                    "Parquet",
                    f"one that does not begin with {_PARQUET.decode()}",
                )
            raise DataError(
                f"{self.name}: expected a whole and sound {kind} file, got: {why}"
            ) from None


def _paths_in(fields: Iterable[Any]) -> Iterator[tuple[str, ...]]:
    """Where each column is, in structs as deep as they go; those without fields stay."""
    import pyarrow.types as is_

    for field in fields:
        if is_.is_struct(field.type) and field.type.num_fields:
            for path in _paths_in(field.type):
                yield field.name, *path
        else:
            yield (field.name,)


def _flat(schema: Any, paths: Sequence[Sequence[str]]) -> Any:
    """Columns as they are called and what they hold: a.b is the field b of a struct a."""
    import pyarrow as pa

    if all(len(path) == 1 for path in paths):
        return schema

    def kind(path: Sequence[str]) -> Any:
        found = schema.field(path[0]).type
        for name in path[1:]:
            found = found.field(name).type
        return found

    return pa.schema([(".".join(path), kind(path)) for path in paths])


@contextmanager
def _open_arrow(path: str, is_stream: bool) -> Iterator[Any]:
    import pyarrow as pa

    with pa.memory_map(path) as file:
        open_it = pa.ipc.open_stream if is_stream else pa.ipc.open_file
        with open_it(file) as reader:
            yield reader


def open_arrow(file: TextFile, *, keeps_open: bool = False) -> ArrowFile:
    """Look at a file of columns; ``keeps_open`` if one reader asks for it often."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ShortlistError(
            "reading Parquet and Arrow needs pyarrow: pip install shortlist[parquet]"
        ) from None
    if file.size is None:
        raise DataError(
            f"{file.name}: a pipe cannot be read as Parquet or Arrow; save it to a file"
        )
    try:
        with open(file.path, "rb") as opened:
            magic = opened.read(8)
    except OSError as error:
        raise DataError(f"{file.name}: {error.strerror or error}") from None
    return ArrowFile(file, magic, keeps_open)
