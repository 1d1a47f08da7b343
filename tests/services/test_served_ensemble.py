"""A real `ensemble serve`: its sockets, slow and silent clients, what it prints and how it ends."""

import contextlib
import http.client
import io
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ensemble.runs import Run
from ensemble.serving import limits
from tests.export.drawn import create_served_run
from tests.services.server_process import ServerProcess, start_server, start_server_for_programs
from tests.serving.in_process import write_npy
from tests.serving.test_page import CURL, PROGRAM
from tests.serving.test_predictions import IMAGES, PICTURE, TOLERANCE, find_largest_difference

NPY = "application/x-npy"
HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"


@pytest.fixture(scope="module")
def served_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return create_served_run(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def shared_server(served_run: Run) -> Iterator[ServerProcess]:
    with start_server_for_programs(served_run) as server:
        yield server


@pytest.fixture
def server(shared_server: ServerProcess) -> Iterator[ServerProcess]:
    """One server of all tests that do not end it, which has nothing in hand after each."""
    yield shared_server
    shared_server.wait_until_idle()


def open_connection(server: ServerProcess, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(sent)
    return connection


def read_until_closed(connection: socket.socket) -> bytes:
    """All that comes until the server ends the connection; a test that waits for ever fails."""
    with connection:
        pieces = []
        while True:
            try:
                piece = connection.recv(2**16)
            except ConnectionResetError:
                break
            if not piece:
                break
            pieces.append(piece)
        return b"".join(pieces)


def test_slow_clients_are_let_go_while_others_are_answered(server: ServerProcess) -> None:
    slow = {
        "says nothing": open_connection(server, b""),
        "half a header": open_connection(server, b"POST /predict HTT"),
        "half a body": open_connection(server, HEAD + b"Content-Length: 1000\r\n\r\nabc"),
        "half a chunk": open_connection(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
        "a refused body that goes on": open_connection(
            server, HEAD.replace(b"predict", b"nowhere") + b"Content-Length: 9999999\r\n\r\nabc"
        ),
    }
    silent = [open_connection(server, b"") for _ in range(100)]
    began = time.monotonic()
    assert server.predict(IMAGES[:1], "?rejection=false")["digits"]
    assert time.monotonic() - began < 5 * 8, "nobody waits for the slow ones"
    ends = {}
    for name, connection in slow.items():
        if name == "a refused body that goes on":
            connection.sendall(b"x")
        ends[name] = read_until_closed(connection)
    for connection in silent:
        assert read_until_closed(connection) == b""
    assert ends["says nothing"] == ends["half a header"] == b""
    for name in ("half a body", "half a chunk"):
        assert ends[name].startswith(b"HTTP/1.1 408 "), name
        assert b"did not arrive within 8 s" in ends[name]
    assert ends["a refused body that goes on"].startswith(b"HTTP/1.1 404 ")


MAX_CONNECTIONS = 64
SILENT = {
    "says nothing": b"",
    "half a header": b"POST /predict HTT",
    "half a body": HEAD + b"Content-Length: 1000\r\n\r\nabc",
    "an answered request": b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.fixture(scope="module")
def shared_small_server(served_run: Run) -> Iterator[ServerProcess]:
    """Start a server with few connections, which never closes one because of its time limits."""
    seconds = dict.fromkeys(("HEADER_SECONDS", "BODY_SECONDS", "SEND_SECONDS"), 600.0)
    with start_server_for_programs(served_run, MAX_CONNECTIONS=MAX_CONNECTIONS, **seconds) as server:
        yield server


@pytest.fixture
def small_server(shared_small_server: ServerProcess) -> Iterator[ServerProcess]:
    yield shared_small_server
    shared_small_server.wait_until_idle()


def open_silent_connections(server: ServerProcess, sent: bytes, stack: contextlib.ExitStack) -> list[socket.socket]:
    """Open twice as many connections as the server keeps; /health is answered all the time."""
    silent = list[socket.socket]()
    while len(silent) < 2 * MAX_CONNECTIONS:
        # Fewer at once than may wait to be accepted: the system would delay the rest by a second.
        silent += [stack.enter_context(open_connection(server, sent)) for _ in range(4)]
        assert server.ask("/health").json == {"status": "ok"}
    return silent


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        while connection.recv(2**16):
            pass
    except BlockingIOError:
        return True
    except ConnectionResetError:
        pass
    return False


@pytest.mark.parametrize("sent", SILENT.values(), ids=SILENT)
def test_the_longest_silent_connection_makes_room_for_others(small_server: ServerProcess, sent: bytes) -> None:
    with contextlib.ExitStack() as stack:
        silent = open_silent_connections(small_server, sent, stack)
        assert small_server.predict(IMAGES[:1], "?rejection=false")["digits"]
        read_until_closed(silent[0])
        assert is_open(silent[-1])


def test_a_prediction_under_way_is_not_cut_to_make_room(small_server: ServerProcess) -> None:
    body = write_npy(np.resize(IMAGES, (limits.MAX_IMAGES, *IMAGES.shape[1:])))
    head = HEAD.replace(b"image/png", NPY.encode()) + b"Connection: close\r\n"
    with contextlib.ExitStack() as stack:
        asked = open_connection(small_server, head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        open_silent_connections(small_server, b"", stack)
        answer = read_until_closed(asked)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert len(json.loads(answer.partition(b"\r\n\r\n")[2])["digits"]) == limits.MAX_IMAGES


def test_a_client_that_still_reads_is_closed_after_those_with_nothing_to_read(small_server: ServerProcess) -> None:
    request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n"
    count = 1000  # more than the system holds back for a client
    with contextlib.ExitStack() as stack:
        reading = open_connection(
            small_server, (request + b"\r\n") * (count - 1) + request + b"Connection: close\r\n\r\n"
        )
        # Until an answer waits for the client; the other request in hand is this one.
        while b"ensemble_requests_in_hand 2\n" not in small_server.ask("/metrics").body:
            time.sleep(0.02)
        open_silent_connections(small_server, b"", stack)
        assert read_until_closed(reading).count(b"HTTP/1.1 200 ") == count


def test_a_body_without_end_is_cut(server: ServerProcess) -> None:
    with open_connection(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n") as connection:
        piece, sent = b"%x\r\n" % 2**20 + bytes(2**20) + b"\r\n", 0
        try:
            while sent < 1000:
                connection.sendall(piece)
                sent += 1
        except OSError:
            pass
    assert sent < 200, "the server took a gigabyte"


def test_what_is_no_http_is_refused_and_many_headers_too(server: ServerProcess) -> None:
    for sent in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a TLS hello
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100_000,
        b"GET /" + b"a" * 10**6,
        HEAD + b"Content-Length: -5\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    ):
        connection = open_connection(server, b"")
        with contextlib.suppress(OSError):
            connection.sendall(sent)
        assert read_until_closed(connection)[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 431")
    assert server.ask("/health").json == {"status": "ok"}


@pytest.mark.long
def test_clients_that_go_before_their_answer_leave_nothing(server: ServerProcess) -> None:
    body = write_npy(np.resize(IMAGES, (512, *IMAGES.shape[1:])))
    head = HEAD.replace(b"image/png", NPY.encode()) + b"Content-Length: %d\r\n\r\n" % len(body)
    for _ in range(8):
        open_connection(server, head + body).close()
        open_connection(server, head + body[:-1]).close()
    server.wait_until_idle()


def open_half_a_request(server: ServerProcess) -> tuple[socket.socket, bytes]:
    """A connection on which a request has begun, and the rest of that."""
    body = write_npy(IMAGES[:2])
    head = (
        f"POST /predict?rejection=false HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n"
        f"Content-Type: {NPY}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    return open_connection(server, head + body[:100]), body[100:]


@pytest.mark.long_cases
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_where_it_answers_and_a_signal_ends_it_once_what_is_in_hand_is_answered(
    served_run: Run, number: signal.Signals
) -> None:
    words = ("--host", "0.0.0.0", "--allowed-host", "models.example", "--members", "1,3")
    with start_server(served_run, *words, lines=2, BODY_SECONDS=60.0) as server:
        place = re.fullmatch(
            r".+: 2 members answer at http://localhost:(\d+)/predict; Ctrl-C ends it\.\n", server.lines[0]
        )
        token = re.fullmatch(r"Token, said once: (\S{43})\n", server.lines[1])
        assert place
        assert token
        server.port = int(place[1])
        assert server.ask("/").status == 401
        server.token = token[1]
        found = server.predict(IMAGES[:1])
        assert found["member_names"] == ["member 1", "member 3"]
        assert [len(digit["votes"]) for digit in found["digits"]] == [2]
        idle = open_connection(server, b"")
        connection, rest = open_half_a_request(server)
        while b"ensemble_requests_in_hand 2\n" not in server.ask("/metrics").body:
            time.sleep(0.02)
        server.process.send_signal(number)
        while True:  # until nobody new is let in
            try:
                server.ask("/health")
            except (OSError, http.client.HTTPException):
                break
            time.sleep(0.02)
        connection.sendall(rest)
        answer = read_until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.count(b'"named_votes"') == 2
        assert server.process.wait(60) == 0
        assert read_until_closed(idle) == b""
        log = server.log.read_text()
        assert "Traceback" not in log
        assert server.token not in log


@pytest.mark.parametrize(
    ("path", "status"), [("/../../etc/passwd", 404), ("/%2e%2e/%2e%2e/etc/passwd", 404), ("//health", 404)]
)
def test_a_path_is_taken_as_it_is_sent(server: ServerProcess, path: str, status: int) -> None:
    assert server.ask(path).status == status


def test_200_clients_at_once_are_answered_as_one_by_one(server: ServerProcess) -> None:
    alone = [server.predict(image[None], "?rejection=false&members=true") for image in IMAGES]
    begin = threading.Barrier(len(IMAGES))

    def ask_with_all(image: np.ndarray) -> dict[str, object]:
        begin.wait()
        return server.predict(image[None], "?rejection=false&members=true")

    with ThreadPoolExecutor(len(IMAGES)) as threads:
        together = list(threads.map(ask_with_all, IMAGES))
    for one, other in zip(together, alone, strict=True):
        assert find_largest_difference(one, other) <= TOLERANCE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "images.npy", IMAGES[:4])
    Image.open(io.BytesIO(PICTURE)).save(tmp_path / "four.png")
    return tmp_path


def run_line(command: list[str] | str, folder: Path) -> str:
    done = subprocess.run(
        command, shell=isinstance(command, str), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("line", CURL)
def test_a_line_of_curl_is_answered(line: str, server: ServerProcess, served_run: Run, folder: Path) -> None:
    said = run_line(line.replace("localhost:8700", f"localhost:{server.port}"), folder)
    if "/metrics" in line:
        assert "\nensemble_images_total " in said
    else:
        assert said.startswith('{"run_id":"' + served_run.id)
        assert said.count('"named_votes"') == (4 if "images.npy" in line else 3)
        assert ('"rejected"' in said) == ("rejection=false" not in line)


def test_the_program_prints_what_is_answered(server: ServerProcess, folder: Path) -> None:
    program = PROGRAM.replace("localhost:8700", f"localhost:{server.port}")
    lines = run_line([sys.executable, "-I", "-c", program], folder).splitlines()
    digits = server.predict(IMAGES[:4])["digits"]
    expected = [f"{d['name']} {max(d['probabilities'])} {d['named_votes']} {d['set']}" for d in digits]
    assert [re.sub(r"\d\.\d+", "", line) for line in lines] == [re.sub(r"\d\.\d+", "", line) for line in expected]
