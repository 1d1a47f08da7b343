"""The program that reads Parquet, Arrow and CSV files for `table_process.py`, within limits on memory and time.

It runs as a script, without the package: requests on stdin, a JSON line each; frames on stdout.
"""

import json
import os
import resource
import socket
import struct
import sys
import traceback
from typing import Any, BinaryIO

_SHARED_DESCRIPTOR = 200
SHARED_PATH = f"/dev/fd/{_SHARED_DESCRIPTOR}"  # of the file that the parent has sent
FRAME_HEADER = struct.Struct("<cQ")  # the kind of a frame and how many bytes follow
MAX_MEMORY_BYTES = 3 * 2**30  # of address space, libraries included
_MAX_PROCESSOR_S = 3600  # in case that the parent was killed while this process computes
_READ_BUFFER_BYTES = 2**20
_ARROW_ENDING, _ARROW_START = ".arrow", b"ARROW1"  # of streams and of files
_BLOCK_BYTES = 2**22  # of a CSV that are parsed at once; a row has to fit
_COLUMN_OVERHEAD_BYTES = 2**16  # that a column may take beyond its cells
_HEAD_START_BYTES = 2**26  # that its first rows may take beyond their share, since a batch is written out at once


class _TooLargeError(Exception):
    """A column, which is named, or all columns together unpack to more than the request allows."""


class _RowError(Exception):
    """A row of a CSV does not fit; the message is Arrow's."""


class _ArrowFile:
    """A file of Arrow's own form, as Hugging Face's save_to_disk writes it; its batches are as row groups of Parquet.

    Args:
      path: of the file.
      pa: PyArrow.
    """

    def __init__(self, path: str, pa: Any) -> None:
        self._path, self._pa = path, pa
        self._restart()
        self.schema_arrow = self._reader.schema
        self.batch_rows: list[int] = []
        self.sizes: dict[str, int] = {}
        self.largest: dict[str, int] = {}
        self.filled: dict[str, bool] = {}
        for batch in self._iterate_from(0):
            self.batch_rows.append(batch.num_rows)
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                parts = {name: column}
                if pa.types.is_struct(column.type):
                    parts = {f"{name}.{field.name}": column.field(field.name) for field in column.type}
                for part, values in parts.items():
                    self.sizes[part] = self.sizes.get(part, 0) + values.nbytes
                    self.largest[part] = max(self.largest.get(part, 0), values.nbytes)
                    self.filled[part] = self.filled.get(part, False) or values.null_count != len(values)

    def iter_batches(self, batch_rows: int, row_groups: list[int], columns: list[str]) -> Any:
        names = [name.partition(".")[0] for name in columns]
        for number in row_groups:
            batch = next(self._iterate_from(number)).select(names)
            for start in range(0, batch.num_rows, batch_rows):
                yield batch.slice(start, batch_rows)

    def _restart(self) -> None:
        file = self._pa.PythonFile(os.fdopen(os.open(self._path, os.O_RDONLY), "rb", _READ_BUFFER_BYTES), mode="r")
        is_file = file.read(len(_ARROW_START)) == _ARROW_START
        file.seek(0)
        self._reader = self._pa.ipc.open_file(file) if is_file else self._pa.ipc.open_stream(file)
        self._count = self._reader.num_record_batches if is_file else None
        self._place = 0

    def _iterate_from(self, number: int) -> Any:
        if self._count is not None:
            yield from map(self._reader.get_batch, range(number, self._count))
            return
        if number < self._place:
            self._restart()
        while True:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            self._place += 1
            if self._place > number:
                yield batch


class _TableReader:
    """Answers requests about files; the last Parquet or Arrow file stays open."""

    def __init__(self, answers: BinaryIO) -> None:
        import pyarrow.parquet

        pyarrow.set_cpu_count(1)
        self._answers = answers
        self._pa: Any = pyarrow
        self._file: Any = None
        self._key: tuple[Any, ...] = ()

    def answer(self, request: dict[str, Any]) -> None:
        """Answer a request by frames, the last of which is an end or an error."""
        try:
            if "columns" in request:
                self._send_batches(**request)
            elif "names" in request:
                self._send_csv(**request)
            else:
                self._send_layout(request["path"])
        except _TooLargeError as error:
            self._send(b"X", json.dumps({"kind": "large", "column": str(error)}).encode())
        except _RowError as error:
            self._send(b"X", json.dumps({"kind": "row", "message": str(error)}).encode())
        except MemoryError:
            self._send(b"X", json.dumps({"kind": "memory"}).encode())
        except Exception as error:  # a damaged file makes pyarrow raise errors of many kinds
            problem: dict[str, Any] = {"kind": "damaged", "traceback": traceback.format_exc()}
            if isinstance(error, OSError) and error.errno:
                problem = {"kind": "system", "errno": error.errno}
            elif isinstance(error, TypeError | AttributeError | NameError):
                problem["kind"] = "bug"
            self._send(b"X", json.dumps(problem).encode())
        else:
            self._send(b"E")

    def _send(self, kind: bytes, *content: Any) -> None:
        self._answers.write(FRAME_HEADER.pack(kind, sum(len(part) for part in content)))
        for part in content:
            self._answers.write(part)
        self._answers.flush()

    def _open(self, path: str) -> Any:
        status = os.stat(path)
        key = (path, status.st_ino, status.st_size, status.st_mtime_ns)
        if key != self._key:
            self._file, self._key = None, ()
            self._file = (
                _ArrowFile(path, self._pa)
                if path.lower().endswith(_ARROW_ENDING)
                else self._pa.parquet.ParquetFile(
                    os.fdopen(os.open(path, os.O_RDONLY), "rb"), buffer_size=_READ_BUFFER_BYTES
                )
            )
            self._key = key
        return self._file

    def _send_layout(self, path: str) -> None:
        file = self._open(path)
        schema = file.schema_arrow
        for field in schema:  # a name that is not UTF-8 raises here
            str(field)
        if isinstance(file, _ArrowFile):
            self._send(b"S", schema.serialize())
            self._send_sizes(file.batch_rows, file.sizes, file.largest, file.filled)
            return
        metadata = file.metadata
        sizes: dict[str, int] = {}
        largest: dict[str, int] = {}
        filled: dict[str, bool] = {}
        rows = []
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            rows.append(group.num_rows)
            for place in range(group.num_columns):
                column = group.column(place)
                name = column.path_in_schema
                size = max(0, column.total_uncompressed_size)
                sizes[name] = sizes.get(name, 0) + size
                largest[name] = max(largest.get(name, 0), size)
                statistics = column.statistics
                filled[name] = filled.get(name, False) or (
                    statistics is None or statistics.null_count != group.num_rows
                )
        self._send(b"S", schema.serialize())
        self._send_sizes(rows, sizes, largest, filled)

    def _send_sizes(
        self, rows: list[int], sizes: dict[str, int], largest: dict[str, int], filled: dict[str, bool]
    ) -> None:
        layout = {
            "row_groups": rows,
            "sizes": sizes,
            "largest": largest,
            "empty": [name for name, has_values in filled.items() if not has_values],
        }
        self._send(b"J", json.dumps(layout).encode())

    def _send_batches(
        self,
        path: str,
        columns: list[str],
        row_group: int | None,
        batch_rows: int,
        most_cell: int | None,
        most_bytes: int | None,
        cut: list[str],
        cut_at: int,
    ) -> None:
        """Send the columns batch by batch, each as a stream of Arrow with one batch.

        Text is read as dictionaries: a text that stands there once for a million rows is weighed
        before it is written out for each of them.
        """
        file = self._open(path)
        schema, pa = file.schema_arrow, self._pa
        if most_cell is not None and not isinstance(file, _ArrowFile):
            texts = [name for name in columns if _is_text(schema.field(name).type, pa)]
            file = pa.parquet.ParquetFile(
                os.fdopen(os.open(path, os.O_RDONLY), "rb"),
                metadata=file.metadata,
                read_dictionary=texts,
                buffer_size=_READ_BUFFER_BYTES,
            )
        if isinstance(file, _ArrowFile):
            group_rows = file.batch_rows
        else:
            group_rows = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        groups = range(len(group_rows)) if row_group is None else [row_group]
        rows = sum(group_rows[number] for number in groups)
        totals, rows_read = dict.fromkeys(columns, 0), 0
        batches = file.iter_batches(batch_rows, row_groups=list(groups), columns=columns)
        for batch in batches:
            batch.validate(full=True)
            arrays = []
            rows_read += batch.num_rows
            for name, array in zip(batch.schema.names, batch.columns, strict=True):
                if name in cut and pa.types.is_dictionary(array.type):
                    array = _cut_texts(array, cut_at, pa)
                totals[name] = totals.get(name, 0) + _measure_array(array, pa)
                if most_cell is not None and totals[name] > min(
                    _COLUMN_OVERHEAD_BYTES + most_cell * rows, _HEAD_START_BYTES + most_cell * rows_read
                ):
                    raise _TooLargeError(name)
                if pa.types.is_dictionary(array.type):
                    array = array.cast(array.type.value_type)
                arrays.append(array)
            if most_bytes is not None and sum(totals.values()) > most_bytes:
                raise _TooLargeError("")
            self._send_batch(pa.record_batch(arrays, names=batch.schema.names))

    def _send_csv(self, path: str, names: list[str], wanted: list[str], delimiter: str, start: int) -> None:
        """Send the rows of a CSV in UTF-8, every cell as text."""
        import pyarrow.csv

        pa, csv = self._pa, pyarrow.csv
        file = os.fdopen(os.open(path, os.O_RDONLY), "rb", buffering=_READ_BUFFER_BYTES)
        file.seek(start)
        try:
            reader = csv.open_csv(
                pa.PythonFile(file, mode="r"),
                csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=names),
                csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.string()), include_columns=wanted, strings_can_be_null=False
                ),
            )
            for batch in reader:
                self._send_batch(batch)
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):
                raise _RowError(str(error)) from error

    def _send_batch(self, batch: Any) -> None:
        sink = self._pa.BufferOutputStream()
        with self._pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        self._send(b"B", sink.getvalue())


def _is_text(kind: Any, pa: Any) -> bool:
    """Return whether a column is of text or bytes, which can be read as a dictionary."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _cut_texts(array: Any, letters: int, pa: Any) -> Any:
    import pyarrow.compute as pc

    texts = array.dictionary
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return array
    short = pc.utf8_slice_codeunits(texts, 0, letters)
    return pa.DictionaryArray.from_arrays(array.indices, short)


def _measure_array(array: Any, pa: Any) -> int:
    """Return the bytes that an array takes once each row has its own text."""
    if not pa.types.is_dictionary(array.type):
        return int(array.nbytes)
    import pyarrow.compute as pc

    if not _is_text(array.type.value_type, pa):
        return int(array.dictionary.nbytes + array.indices.nbytes)
    lengths = pc.cast(pc.binary_length(array.dictionary), pa.int64())
    return int(pc.sum(pc.take(lengths, array.indices)).as_py() or 0)


def _limit_resources() -> None:
    """Limit this process's memory and processor time; it leaves no core dump."""
    for what, most in (
        (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
        (resource.RLIMIT_CPU, _MAX_PROCESSOR_S),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        try:
            resource.setrlimit(what, (most, most))
        except (OSError, ValueError):
            continue  # macOS knows some limits by name alone


def main() -> None:
    """Answer the requests on stdin until it ends."""
    # The packages of the process that asks, behind the standard library.
    sys.path += [folder for folder in json.loads(sys.argv[1]) if folder not in sys.path]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints does not mix with the frames
    _limit_resources()
    reader, channel = _TableReader(answers), socket.socket(fileno=int(sys.argv[2]))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "receive" in request:
            (descriptor,) = socket.recv_fds(channel, 1, 1)[1]
            os.dup2(descriptor, _SHARED_DESCRIPTOR)
            os.close(descriptor)
        else:
            reader.answer(request)


if __name__ == "__main__":
    main()
