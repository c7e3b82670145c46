"""Rows of chosen features as libsvm text, CSV or Parquet, written as they come.

CSV and Parquet need a cell for every row and feature; rows are laid out a slice at a
time so that memory depends on neither the length of a block nor the number of features.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from shortlist.cli._output import shortest

if TYPE_CHECKING:
    from shortlist._protocols import Floats, RowBlock
    from shortlist._shortlist import Shortlist
    from shortlist.kernels.masking import MaskedRows

_CELLS = 1 << 20  # laid out at a time
_GROUP_ROWS = 1 << 16  # rows of a Parquet row group, where features are few


NO_FEATURE_MET = "none of the features of the model occurs in these rows: right file?"


class Chosen:
    """The features of a shortlist, each once, in its order."""

    def __init__(self, shortlist: Shortlist) -> None:
        import numpy as np

        from shortlist.kernels.masking import mask_of

        features = shortlist.names_by_id()
        self.ids = list(features)
        self.names = list(features.values())
        self._mask = mask_of(np.array(self.ids, np.uint64))

    def of(self, block: RowBlock) -> MaskedRows:
        """Keep the chosen features of a block; columns are positions in ``ids``."""
        from shortlist.kernels.masking import restrict

        rows: MaskedRows = restrict(self._mask, block)
        return rows

    def occurs_in(self, block: RowBlock) -> bool:
        """Whether a row of the block has any of the features."""
        return len(self.of(block).values) > 0

    @property
    def rows_at_a_time(self) -> int:
        """Rows that can be laid out at once."""
        return max(1, _CELLS // max(1, len(self.ids)))

    def column_names(self) -> list[str]:
        """Names of the columns of a table: the label's first, unlike all others."""
        label = "label"
        while label in self.names:
            label += "_"
        return [label, *self.names]


class Writer(Protocol):
    """What turns rows into bytes of a format."""

    def __init__(
        self, stream: BinaryIO, chosen: Chosen, label_names: Sequence[str] | None = None
    ) -> None: ...

    def write(self, rows: MaskedRows) -> None:
        """Take in rows."""
        ...

    def close(self) -> None:
        """Write what is left; the stream stays open."""
        ...


class SvmWriter:
    """Libsvm text: label (a number, or its code), then id:value as they came."""

    def __init__(
        self, stream: BinaryIO, chosen: Chosen, label_names: Sequence[str] | None = None
    ) -> None:
        self._stream = stream
        self._ids = [f" {number}:" for number in chosen.ids]

    def write(self, rows: MaskedRows) -> None:
        """Write a line a row."""
        from shortlist._protocols import DataError

        if any(label != label for label in rows.y.tolist()):
            raise DataError(
                "libsvm text has a label in each row, and a row came without: write "
                "CSV or Parquet instead"
            )
        cells = [
            self._ids[column] + shortest(value)
            for column, value in zip(
                rows.columns.tolist(), rows.values.tolist(), strict=True
            )
        ]
        ends = rows.indptr.tolist()
        lines = [
            shortest(label) + "".join(cells[first:last])
            for label, first, last in zip(rows.y.tolist(), ends, ends[1:], strict=False)
        ]
        self._stream.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        """Nothing is left."""


class CsvWriter:
    """CSV with a header; what a row lacks is 0."""

    def __init__(
        self, stream: BinaryIO, chosen: Chosen, label_names: Sequence[str] | None = None
    ) -> None:
        self._stream, self._chosen = stream, chosen
        self._label_names = label_names
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(chosen.column_names())
        stream.write(header.getvalue().encode("utf-8", "backslashreplace"))

    def write(self, rows: MaskedRows) -> None:
        """Write a line a row."""
        for labels, cells in laid_out(rows, self._chosen):
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(
                [label, *map(shortest, row)]
                for label, row in zip(
                    self._spelled(labels), cells.tolist(), strict=True
                )
            )
            self._stream.write(text.getvalue().encode("utf-8", "surrogateescape"))

    def _spelled(self, labels: Floats) -> list[str]:
        if self._label_names is None:
            return list(map(shortest, labels.tolist()))
        return [name or "" for name in named(labels, self._label_names)]

    def close(self) -> None:
        """Nothing is left."""


class ParquetWriter:
    """Parquet, a row group at a time; all columns float64, labels may be text."""

    def __init__(
        self, stream: BinaryIO, chosen: Chosen, label_names: Sequence[str] | None = None
    ) -> None:
        from shortlist._protocols import ShortlistError

        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise ShortlistError(
                "writing Parquet needs pyarrow: pip install shortlist[parquet]"
            ) from None
        self._pa, self._chosen = pa, chosen
        self._group_rows = min(_GROUP_ROWS, chosen.rows_at_a_time)
        names = [
            name.encode("utf-8", "backslashreplace").decode()
            for name in chosen.column_names()
        ]
        self._label_names = label_names
        types = [pa.float64()] * len(names)
        if label_names is not None:
            types[0] = pa.string()
        self._schema = pa.schema(list(zip(names, types, strict=True)))
        self._file: Any = pq.ParquetWriter(stream, self._schema)
        self._waiting: list[Any] = []
        self._n_waiting = 0

    def write(self, rows: MaskedRows) -> None:
        """Take in rows; write them once they fill a group."""
        for labels, cells in laid_out(rows, self._chosen, self._group_rows):
            columns = [labels, *cells.T]
            if self._label_names is not None:
                columns[0] = named(labels, self._label_names)
            arrays = [self._pa.array(column) for column in columns]
            table = self._pa.Table.from_arrays(arrays, schema=self._schema)
            self._waiting.append(table)
            self._n_waiting += len(labels)
            if self._n_waiting >= self._group_rows:
                self._write_group()

    def _write_group(self) -> None:
        if self._waiting:
            self._file.write_table(self._pa.concat_tables(self._waiting))
        self._waiting, self._n_waiting = [], 0

    def close(self) -> None:
        """Write the last group and the footer."""
        self._write_group()
        self._file.close()


WRITERS: dict[str, type[Writer]] = {
    "svm": SvmWriter,
    "csv": CsvWriter,
    "parquet": ParquetWriter,
}


def named(labels: Floats, label_names: Sequence[str]) -> list[str | None]:
    """Names of labels that came as codes; None where there is no label."""
    return [
        None if label != label else label_names[int(label)] for label in labels.tolist()
    ]


def laid_out(
    rows: MaskedRows, chosen: Chosen, most_rows: int | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """Yield labels and a dense array for slices of rows; repeated ids add up."""
    import numpy as np

    most = min(chosen.rows_at_a_time, most_rows or chosen.rows_at_a_time)
    row_of = np.repeat(np.arange(len(rows.y)), np.diff(rows.indptr))
    for begin in range(0, len(rows.y), most):
        end = min(begin + most, len(rows.y))
        part = slice(int(rows.indptr[begin]), int(rows.indptr[end]))
        cells = np.zeros((end - begin, len(chosen.ids)))
        np.add.at(cells, (row_of[part] - begin, rows.columns[part]), rows.values[part])
        yield rows.y[begin:end], cells
