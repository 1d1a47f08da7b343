"""Tables in Parquet files from outside, read by `TableProcess` within limits."""

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pyarrow as pa

from ensemble.datasets.example_details import MAX_CELL_LENGTH
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import check_free_memory
from ensemble.files.table_process import LargeColumnError, ParquetLayout, TableProcess, borrow_table_process
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import BoundedReader

MOST_CELL = 1024  # bytes that a cell may take, on average over its column


class ParquetTable:
    """A Parquet file that is open in a child process.

    Attributes:
      layout: what its footer says.
    """

    def __init__(self, process: TableProcess, path: Path) -> None:
        self._process, self._path = process, path
        self.layout: ParquetLayout = process.read_layout(path)

    def read_batches(self, columns: Sequence[str], cut: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """Read columns batch by batch.

        Args:
          columns: their names.
          cut: columns of which `MAX_CELL_LENGTH` letters of each text are read.

        Raises:
          PredictionsError: they do not fit into the free memory.
          LargeColumnError: the cells of one take more than `MOST_CELL` on average.
          DamagedFileError: they cannot be read.
        """
        total = 0
        for batch in self._process.read_batches(
            self._path, columns, most_cell=MOST_CELL, cut=cut, cut_at=MAX_CELL_LENGTH
        ):
            total += batch.nbytes
            check_free_memory(total)
            yield batch

    def read_columns(self, columns: Sequence[str]) -> pa.Table:
        """Read columns as a whole; raises as `read_batches`."""
        batches = list(self.read_batches(columns))
        if batches:
            return pa.Table.from_batches(batches)
        return pa.schema([self.layout.schema.field(name) for name in columns]).empty_table()

    def list_flat_columns(self) -> list[str]:
        """List the columns without lists or records, in the file's order."""
        return [field.name for field in self.layout.schema if not pa.types.is_nested(field.type)]


@contextmanager
def open_parquet_table(file: BoundedReader) -> Iterator[ParquetTable]:
    """Open a Parquet file; the child that reads it ends with the context.

    Raises:
      PredictionsError: it cannot be read, or a column is too large; says what to do.
    """
    raw = cast(io.RawIOBase | io.BytesIO, file.raw)
    with tempfile.TemporaryFile() as copy:
        if isinstance(raw, io.BytesIO):
            copy.write(raw.getbuffer())
            copy.flush()
            descriptor = copy.fileno()
        else:
            descriptor = raw.fileno()
        try:
            with borrow_table_process() as process:
                yield ParquetTable(process, process.share_file(descriptor))
        except LargeColumnError as error:
            raise PredictionsError(
                f"its column “{error.column:.60}” unpacks to more than its rows can hold: at most "
                f"{MOST_CELL:,} bytes per cell are accepted. Leave the column out."
            ) from error
        except DamagedFileError as error:
            raise PredictionsError(str(error)) from error
        except OSError as error:
            raise PredictionsError(
                f"it cannot be read ({error.strerror or error}). Copy it to another disk."
            ) from error
