"""A small dataset in MNIST's own format, and a server for it that can misbehave."""

import dataclasses
import gzip
import hashlib
import json
import os
import socket
import struct
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble.datasets.download_manifest import DownloadManifest, RemoteFile
from ensemble.datasets.registry import ENTRIES, DatasetEntry
from ensemble.datasets.transfer import TransferSettings

TRAIN, TEST = 60, 20


class Handler(BaseHTTPRequestHandler):
    """Serves `server.files`; each request takes the next of its file's `server.moods`."""

    server: "Server"

    def do_GET(self) -> None:
        name = self.path.rsplit("/", 1)[-1]
        self.server.asked[name] += 1
        moods = self.server.moods[name]
        mood = moods.popleft() if moods else "good"
        body = self.server.files.get(name)
        if body is None or mood.isdigit():
            self.send_error(404 if body is None else int(mood))
            return
        if mood == "silent":
            self.server.let_go.wait()
            return
        if mood == "hold":
            self.server.let_go.wait()
        if mood == "wrong":
            body = bytes(len(body))
        if mood == "longer":
            body = body + b"x"
        if mood == "login page":
            body = b"<html>Please log in to this network</html>"
        self.send_response(200)
        if mood != "cut without a length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = len(body) // 2
        if mood in ("cut", "cut without a length"):
            self.wfile.write(body[:half])
        elif mood == "reset":
            self.wfile.write(body[:half])
            self.wfile.flush()
            linger = struct.pack("ii", 1, 0)  # closing now sends a reset
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            os.close(self.connection.detach())
        elif mood == "stall":
            self.wfile.write(body[:half])
            self.server.let_go.wait()
        elif mood == "trickle":
            self.trickle(body)
        else:
            self.wfile.write(body)

    def trickle(self, body: bytes) -> None:
        for value in body:
            if self.server.let_go.is_set():
                return
            try:
                self.wfile.write(bytes([value]))
            except OSError:  # the client has given up
                return
            time.sleep(0.05)

    def log_message(self, *arguments: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """`files`: name to bytes. `moods`: what the next requests for a file get, then "good"."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.moods: defaultdict[str, deque[str]] = defaultdict(deque)
        self.asked: Counter[str] = Counter()
        self.let_go = threading.Event()
        self.base_url = f"http://127.0.0.1:{self.server_port}/sets/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that hangs up is what is being tested


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.let_go.set()
        running.shutdown()
        thread.join()


@dataclasses.dataclass(frozen=True)
class Tiny:
    """A dataset of 80 images: its entry, its recipe, its files' bytes, its arrays."""

    entry: DatasetEntry
    recipe: DownloadManifest
    files: dict[str, bytes]
    arrays: dict[str, Any]

    def as_json(self) -> str:
        """Entry and recipe for another process."""
        return json.dumps([dataclasses.asdict(self.entry), dataclasses.asdict(self.recipe)])


def idx_bytes(array: Any) -> bytes:
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


@pytest.fixture
def tiny() -> Tiny:
    """MNIST in small, in MNIST's own file format; the URLs are nobody's."""
    rng = np.random.default_rng(0)
    arrays = {
        "train-images-idx3-ubyte.gz": rng.integers(0, 256, (TRAIN, 28, 28), np.uint8),
        "t10k-images-idx3-ubyte.gz": rng.integers(0, 256, (TEST, 28, 28), np.uint8),
        "train-labels-idx1-ubyte.gz": rng.integers(0, 10, TRAIN, np.uint8),
        "t10k-labels-idx1-ubyte.gz": rng.integers(0, 10, TEST, np.uint8),
    }
    files = {name: idx_bytes(array) for name, array in arrays.items()}
    remote = tuple(
        RemoteFile(name, f"http://unreachable.invalid/{name}", len(body), hashlib.sha256(body).hexdigest())
        for name, body in files.items()
    )
    entry = dataclasses.replace(ENTRIES["mnist"], train_size=TRAIN, test_size=TEST)
    return Tiny(entry, DownloadManifest("3.0.1", remote), files, arrays)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, which ENSEMBLE_DATA names."""
    path = tmp_path / "data folder"
    monkeypatch.setenv("ENSEMBLE_DATA", str(path))
    return path


@pytest.fixture
def transfer(server: Server, tiny: Tiny) -> TransferSettings:
    """The server with the small dataset's files; a busy machine is not taken for a stall."""
    server.files.update(tiny.files)
    return TransferSettings(base_url=server.base_url, stall_seconds=10, pause_seconds=0.01)


@pytest.fixture
def hasty(transfer: TransferSettings) -> TransferSettings:
    """`transfer` for those who wait for a stall."""
    return dataclasses.replace(transfer, stall_seconds=0.3)
