"""Parquet and CSV files from outside, read by a child process with limits on memory and time.

A damaged footer makes Arrow abort the process that reads it, and no `except` helps; a page's header
may ask for all memory there is. Here that ends a child, and the reader gets a sentence. The child's
program is `table_process_main.py`.
"""

import json
import logging
import os
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ensemble.files.table_process_main import FRAME_HEADER, MAX_MEMORY_BYTES, SHARED_PATH
from ensemble.storage.arrays.damaged_file import DamagedFileError

TIMEOUT_S = 120.0  # for the next frame
_MAX_BATCH_ROWS, _MAX_BATCH_CELLS = 2**14, 2**21
_MAX_FRAME_BYTES = MAX_MEMORY_BYTES
_READ_BYTES = 2**20
_DAMAGED = "it is damaged, or not a readable Parquet file. Save it again."
_TOO_MUCH_MEMORY = (
    f"reading it needs more than {MAX_MEMORY_BYTES / 2**30:.0f} GB of memory. Save it with smaller "
    "row groups and shorter texts."
)
_TOO_SLOW = f"it could not be read within {TIMEOUT_S:.0f} s. Save it again, with fewer columns."


class LargeColumnError(DamagedFileError):
    """A column unpacks to more than its rows may take.

    Attributes:
      column: its name, from the file; "" if all columns together do.
    """

    def __init__(self, column: str) -> None:
        super().__init__("a column unpacks to more than its rows can hold. Save it again.")
        self.column = column


@dataclass(frozen=True)
class ParquetLayout:
    """What a Parquet file's footer says.

    Attributes:
      schema: of Arrow, with the file's own metadata.
      row_groups: number of rows of each row group.
      sizes: bytes of each column before compression, as the footer claims, by the column's path.
      largest: likewise the bytes of each column's largest row group.
      empty: paths of columns without any value.
    """

    schema: pa.Schema
    row_groups: tuple[int, ...]
    sizes: dict[str, int]
    largest: dict[str, int]
    empty: frozenset[str]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.row_groups)


class CsvRowError(DamagedFileError):
    """A row of a CSV does not fit; the message is Arrow's."""


class TableProcess:
    """Reads Parquet and CSV files in a child, which is started when it is first asked and after it died.

    Use it as a context manager, or let it be collected: both end the child.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._shared: int | None = None

    def __enter__(self) -> "TableProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def share_file(self, descriptor: int) -> Path:
        """The path by which the child opens an open file of this process, until the next is shared."""
        self._shared = descriptor
        if self._child is not None and self._child.poll() is None:
            self._send_descriptor()
        return Path(SHARED_PATH)

    @property
    def is_reading(self) -> bool:
        """Whether an answer has not been read to its end."""
        return self._lock.locked()

    def forget_file(self) -> None:
        """Send the shared file to no further child."""
        self._shared = None

    def read_layout(self, path: Path) -> ParquetLayout:
        """Read what the footer says.

        Raises:
          DamagedFileError: the file is not a readable Parquet file; says what to do.
          OSError: the system cannot read it.
        """
        with self._lock:
            schema, layout = (content for _, content in self._ask({"path": _write_path(path)}))
            found = json.loads(layout)
            try:
                return ParquetLayout(
                    pa.ipc.read_schema(pa.py_buffer(schema)),
                    tuple(found["row_groups"]),
                    found["sizes"],
                    found["largest"],
                    frozenset(found["empty"]),
                )
            except (pa.ArrowException, ValueError) as error:
                raise DamagedFileError(_DAMAGED) from error

    def read_batches(
        self,
        path: Path,
        columns: Sequence[str],
        *,
        row_group: int | None = None,
        batch_rows: int = _MAX_BATCH_ROWS,
        most_cell: int | None = None,
        most_bytes: int | None = None,
        cut: Sequence[str] = (),
        cut_at: int = 0,
    ) -> Iterator[pa.RecordBatch]:
        """Read columns batch by batch. Dictionaries are written out.

        Args:
          path: of the file.
          columns: their names or paths.
          row_group: the only one to read; None for all.
          batch_rows: rows of a batch at most.
          most_cell: bytes that a cell may take, on average over a column; None for any number.
          most_bytes: bytes that all columns may take; None for any number.
          cut: columns of which only the first `cut_at` letters of each text are read, if
            `most_cell` is given.
          cut_at: that number of letters.

        Raises:
          LargeColumnError: a column takes more than it may.
          DamagedFileError: the file is not a readable Parquet file; says what to do.
          OSError: the system cannot read it.
        """
        request = {
            "path": _write_path(path),
            "columns": list(columns),
            "row_group": row_group,
            "batch_rows": max(1, min(batch_rows, _MAX_BATCH_CELLS // max(1, len(columns)))),
            "most_cell": most_cell,
            "most_bytes": most_bytes,
            "cut": list(cut),
            "cut_at": cut_at,
        }
        yield from self._read_frames(request)

    def read_csv(
        self, path: Path, names: Sequence[str], wanted: Sequence[str], delimiter: str, start: int
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of a CSV in UTF-8 batch by batch, every cell as text.

        Args:
          path: of the file.
          names: of its columns.
          wanted: of the columns to read.
          delimiter: what separates the cells.
          start: where the rows begin, in bytes.

        Raises:
          CsvRowError: a row does not fit.
          DamagedFileError: the file cannot be read; says what to do.
          OSError: the system cannot read it.
        """
        request: dict[str, Any] = {"path": _write_path(path), "names": list(names), "wanted": list(wanted)}
        request |= {"delimiter": delimiter, "start": start}
        yield from self._read_frames(request)

    def _read_frames(self, request: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        with self._lock:
            for _, content in self._ask(request):
                try:
                    yield from pa.ipc.open_stream(pa.py_buffer(content))
                except (pa.ArrowException, ValueError) as error:
                    raise DamagedFileError(_DAMAGED) from error

    def _ask(self, request: dict[str, Any]) -> Iterator[tuple[bytes, bytearray]]:
        """Yield the frames of an answer; whoever stops before the last one ends the child."""
        child, done = self._start(), False
        try:
            assert child.stdin
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
            while True:
                kind, size = FRAME_HEADER.unpack(_receive(child, FRAME_HEADER.size))
                if size > _MAX_FRAME_BYTES:
                    raise DamagedFileError(_TOO_MUCH_MEMORY)
                content = _receive(child, size)
                if kind == b"E":
                    done = True
                    return
                if kind == b"X":
                    done = True
                    raise _convert_problem(json.loads(content))
                yield kind, content
        except (BrokenPipeError, EOFError) as error:
            raise DamagedFileError(_DAMAGED) from error
        finally:
            if not done:
                self.end()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.end()
            program = str(Path(__file__).with_name("table_process_main.py"))
            # Isolated: what lies in the working folder is not imported. The packages are ours.
            paths = json.dumps([folder for folder in sys.path if folder])
            self._socket, other = socket.socketpair()
            self._child = subprocess.Popen(
                [sys.executable, "-I", program, paths, str(other.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1"},
            )
            other.close()
            weakref.finalize(self, _end_own_child, self._child, self._socket, os.getpid())
            if self._shared is not None:
                self._send_descriptor()
        return self._child

    def _send_descriptor(self) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        assert self._socket is not None
        assert self._shared is not None
        try:
            socket.send_fds(self._socket, [b"F"], [self._shared])
            self._child.stdin.write(b'{"receive": true}\n')
            self._child.stdin.flush()
        except OSError:
            self.end()  # it died: the next child is sent the file when it starts

    def end(self) -> None:
        """End the child."""
        if self._child is not None:
            _end_child(self._child, self._socket)
            self._child = None


_idle_processes: list[TableProcess] = []
os.register_at_fork(after_in_child=_idle_processes.clear)


@contextmanager
def borrow_table_process() -> Iterator[TableProcess]:
    """A process that reads files from outside; one stays for the next reader, since starting takes a while."""
    process = _idle_processes.pop() if _idle_processes else TableProcess()
    try:
        yield process
    finally:
        process.forget_file()
        if _idle_processes or process.is_reading:
            process.end()
        else:
            _idle_processes.append(process)


def _end_own_child(child: "subprocess.Popen[bytes]", channel: socket.socket, owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of the process that started it
        _end_child(child, channel)


def _end_child(child: "subprocess.Popen[bytes]", channel: socket.socket | None) -> None:
    child.kill()
    if channel:
        channel.close()
    for pipe in (child.stdin, child.stdout):
        if pipe:
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # a request that it did not read
    child.wait()


def _write_path(path: Path) -> str:
    return os.path.abspath(path)


def _receive(child: "subprocess.Popen[bytes]", size: int) -> bytearray:
    """Receive so many bytes; EOFError if the child ended before, DamagedFileError if it is slow."""
    assert child.stdout
    content, end = bytearray(), time.monotonic() + TIMEOUT_S
    descriptor, poll = child.stdout.fileno(), select.poll()
    poll.register(descriptor, select.POLLIN)
    while len(content) < size:
        if not poll.poll(max(0.0, 1000 * (end - time.monotonic()))):
            raise DamagedFileError(_TOO_SLOW)
        piece = os.read(descriptor, min(_READ_BYTES, size - len(content)))
        if not piece:
            raise EOFError
        content += piece
    return content


def _convert_problem(problem: dict[str, Any]) -> Exception:
    if problem["kind"] == "system":
        return OSError(problem["errno"], os.strerror(problem["errno"]))
    if problem["kind"] == "row":
        return CsvRowError(problem["message"])
    if problem["kind"] == "large":
        return LargeColumnError(problem["column"])
    if problem["kind"] == "memory":
        return DamagedFileError(_TOO_MUCH_MEMORY)
    level = logging.ERROR if problem["kind"] == "bug" else logging.INFO
    message = "A table could not be read.\n%s"
    logging.getLogger("ensemble").log(level, message, problem["traceback"])
    return DamagedFileError(_DAMAGED)
