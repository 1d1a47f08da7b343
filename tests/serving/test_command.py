"""`ensemble serve`: what it says, what it refuses, and how it ends."""

import errno
import http.client
import os
import re
import signal
import socket
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble.cli.program import main
from ensemble.runs import Run
from tests.serving.server_process import Server, start_process, start_server, write_npy
from tests.serving.test_predictions import IMAGES


def refuse(*words: str) -> str:
    """What is said where nothing is served."""
    done = CliRunner().invoke(main, ["serve", *words])
    assert done.exit_code in (1, 2), done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_a_taken_port_is_said_with_one_that_is_free(served_run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refuse(served_run.id, "--port", str(port))
    found = re.fullmatch(rf"Error: Port {port} is taken by another program: use --port (\d+)\.", said)
    assert found
    assert int(found[1]) > port


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "no such name"], "This machine cannot listen on no such name"),
        (["--host", "192.0.2.1", "--port", "0"], "This machine cannot listen on 192.0.2.1"),
        (["--members", "4"], "There is no member 4: choose from 1 to 3."),
        (["--members", "0"], "There is no member 0: choose from 1 to 3."),
        (["--members", "1,1"], "each once"),
        (["--members", ","], "at least one member"),
        (["--members", "nobody"], "There is no member 'nobody'"),
        (["--epoch", "1"], "epoch"),
        (["--token-file", "/nowhere"], "The token cannot be read from /nowhere"),
        (["--port", "70000"], "70000"),
    ],
)
def test_what_cannot_be_served_is_said(served_run: Run, words: list[str], said: str) -> None:
    if "--port" not in words:
        words = [*words, "--port", "0"]
    assert said in refuse(served_run.id, *words)


def test_a_run_without_members_and_one_that_is_not_there_are_refused() -> None:
    imported = ensemble.import_predictions(np.full((2, 20, 3), 1 / 3), np.arange(20) % 3, name="theirs")
    assert imported.id in refuse(imported.id)
    assert "There is no run “nobody”" in refuse("nobody")


def test_a_system_port_is_said(served_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_place(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse_place)
    assert "kept for the system: choose one from 1,024" in refuse(served_run.id, "--port", "80")


def open_half_a_request(server: Server) -> tuple[socket.socket, bytes]:
    """A connection on which a request has begun, and the rest of that."""
    body = write_npy(IMAGES[:2])
    head = (
        "POST /predict?rejection=false HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/x-npy\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    connection = socket.create_connection(server.place, timeout=60)
    connection.sendall(head + body[:100])
    return connection, body[100:]


@pytest.mark.long_cases
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_once_what_is_in_hand_is_answered(served_run: Run, number: signal.Signals) -> None:
    with start_server(served_run.id, BODY_SECONDS=60.0) as server:
        idle = socket.create_connection(server.place, timeout=60)
        connection, rest = open_half_a_request(server)
        while b"ensemble_requests_in_hand 2\n" not in server.ask("/metrics").body:
            time.sleep(0.02)
        os.kill(server.ready["pid"], number)
        while True:  # until nobody new is let in
            try:
                server.ask("/health")
            except (OSError, http.client.HTTPException):
                break
            time.sleep(0.02)
        connection.sendall(rest)
        answer = b""
        while piece := connection.recv(2**16):
            answer += piece
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.count(b'"named_votes"') == 2
        assert server.process.wait(60) == 0
        assert idle.recv(10) == b""
        connection.close()
        idle.close()
        assert "Traceback" not in server.log.read_text()


def test_people_are_told_where_it_answers_and_the_token_once(served_run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    words = ["serve", served_run.id, "--port", "0", "--allowed-host", "models.example"]
    process = start_process(words, log)
    try:
        assert process.stdout
        first, second = (process.stdout.readline().decode() for _ in range(2))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert re.match(r".+: 3 members answer at http://localhost:\d+/predict; Ctrl-C ends it\.", first)
    found = re.fullmatch(r"Token, said once: (\S{43})\n", second)
    assert found
    assert found[1] not in log.read_text()
