"""Sessions opened and closed against a real server that may have few files open: all are answered.

A session is what a tab does: it opens the WebSocket, asks for a page, and has it drawn.
"""

import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks.common import ROOT, wait_until_healthy
from benchmarks.soak.place import Place
from benchmarks.soak.rows import LostError, Row, expect

HANDLES = 256  # the soft limit on macOS
PAGES = ("train", "predictions", "inspect", "classify", "parallel", "runs")
ANSWER_SECONDS = 30.0
# After so many in a row that were not answered the server is given up.
REFUSED = 3


def sessions(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many sessions, one after the other.

    Args:
      place: where.
      rng: draws each session's page.
      count: how many.
    """
    row = Row(f"sessions ({HANDLES} files)", every=25)
    with place.part("sessions") as runs, serving(runs) as url:
        in_a_row = 0
        for _ in range(count):
            page = rng.choice(PAGES)
            with row.attempt(page):
                expect(in_a_row < REFUSED, "not tried: the server answers nobody any more")
                in_a_row += 1
                one_session(url, page)
                in_a_row = 0
    return [row]


def one_session(url: str, page: str) -> None:
    """Open a session, have a page drawn to its end, close it; a loss where it is not drawn."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    request = BackMsg()
    request.rerun_script.page_name = page
    try:
        with connect(
            address, subprotocols=[Subprotocol("streamlit")], open_timeout=10, max_size=None, proxy=None
        ) as tab:
            tab.send(request.SerializeToString())
            answer(tab)
    except (OSError, WebSocketException) as error:
        raise LostError(f"no answer: {error!r}") from error


def answer(tab: ClientConnection) -> None:
    """Read what the server says until the page is drawn."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while True:
        message = ForwardMsg()
        message.ParseFromString(tab.recv(timeout=max(deadline - time.monotonic(), 0.1)))
        kind = message.WhichOneof("type")
        if kind == "page_not_found":
            raise LostError("the page was not found")
        if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
            raise LostError(f"an exception: {message.delta.new_element.exception.message[:200]}")
        if kind == "script_finished":
            status_name = ForwardMsg.ScriptFinishedStatus.Name(message.script_finished)
            if status_name == "FINISHED_EARLY_FOR_RERUN":  # It has only now found out what to show.
                continue
            expect(status_name == "FINISHED_SUCCESSFULLY", status_name)
            return


@contextmanager
def serving(runs: Path) -> Iterator[str]:
    """The app's own server with few files to open; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {"port": port, "headless": "true", "fileWatcherType": "none"}
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        *(f"--server.{name}={value}" for name, value in options.items()),
    ]
    few = ["sh", "-c", f'ulimit -S -n {HANDLES} && exec "$@"', "sh", *command]
    with (runs.parent / "server.log").open("wb") as log:
        process = subprocess.Popen(few, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        url = f"http://localhost:{port}"
        wait_until_healthy(url, process)
        yield url
    finally:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.wait(timeout=10)
