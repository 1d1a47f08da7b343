"""Messages between two processes: a line of JSON, and arrays as they lie in memory."""

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

HEADER_LENGTH = struct.Struct(">I")
MAX_JSON_BYTES = 2**20  # bytes of JSON
MAX_ARRAY_BYTES = 2**36  # of one array
RECEIVE_CHUNK_BYTES = 2**20


class Message(NamedTuple):
    """What was said: a word for its kind, plain values, and arrays."""

    kind: str
    values: dict[str, Any]
    arrays: list[np.ndarray]


class MessageConnection:
    """One end of a connection; any thread may send, one receives.

    Attributes:
      last_received: when the last bytes came, on the clock that is not set.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._sending = connection, threading.Lock()
        self.last_received = time.monotonic()
        self.set_timeout(None)
        with contextlib.suppress(OSError):  # Between processes of one host it may be no TCP.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, kind: str, arrays: Sequence[np.ndarray] = (), **values: Any) -> None:
        """Say something; OSError where the other is gone."""
        whole = [np.asarray(array) for array in arrays]
        shapes = [[array.dtype.name, list(array.shape)] for array in whole]
        words = json.dumps({"kind": kind, "said": values, "arrays": shapes}).encode()
        with self._sending:
            self._connection.sendall(HEADER_LENGTH.pack(len(words)) + words)
            for sent_array in whole:
                self._connection.sendall(np.ascontiguousarray(sent_array).reshape(-1).view(np.uint8).data)

    def receive(self) -> Message:
        """The next message.

        Raises:
          OSError, EOFError: the other end is gone.
          ValueError: what came is no message.
        """
        (length,) = HEADER_LENGTH.unpack(self._receive_bytes(HEADER_LENGTH.size).data)
        if length > MAX_JSON_BYTES:
            raise ValueError(f"a message of {length:,} bytes")
        try:
            words = json.loads(bytes(self._receive_bytes(length)))
            kind, values, shapes = str(words["kind"]), dict(words["said"]), words["arrays"]
            array_types = [(np.dtype(name), tuple(map(int, shape))) for name, shape in shapes]
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"no message: {error}") from error
        return Message(kind, values, [self._receive_array(dtype, shape) for dtype, shape in array_types])

    def set_timeout(self, seconds: float | None) -> None:
        """How long to wait for the other before a TimeoutError; None for ever."""
        self._connection.settimeout(seconds)

    def close(self) -> None:
        """End the connection, for both."""
        with contextlib.suppress(OSError):  # The other was faster.
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _receive_array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        if dtype.hasobject or not 0 <= size <= MAX_ARRAY_BYTES:
            raise ValueError(f"an array of {size:,} bytes of {dtype}")
        return self._receive_bytes(size).view(dtype).reshape(shape)

    def _receive_bytes(self, size: int) -> np.ndarray:
        buffer = np.empty(size, np.uint8)
        view, done = buffer.data, 0
        while done < size:
            came = self._connection.recv_into(view[done : done + RECEIVE_CHUNK_BYTES])
            if not came:
                raise EOFError("the connection was closed")
            done += came
            self.last_received = time.monotonic()
        return buffer
