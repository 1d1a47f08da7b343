"""The server as it answers: to which names, with which headers, and with few open files."""

import asyncio
import http.client
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass

import pytest
import streamlit as st
from starlette.types import Message, Receive, Scope, Send

from ensemble.machine import open_files
from ensemble.ui.shared.server import SecurityMiddleware
from tests.browser.serving import OF_THE_CLONE, REPO, Server, serving

FEW = 96  # open files: room for some ten tabs
SHAKE = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: streamlit\r\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that may open few files, and has to ask even for these."""
    limited = f'ulimit -Sn {FEW // 2}; ulimit -Hn {FEW}; exec "$@"'
    program = ("bash", "-c", limited, "bash", *OF_THE_CLONE, "--server.disconnectedSessionTTL=2")
    with serving(tmp_path_factory.mktemp("few"), program) as started:
        yield started


@dataclass(frozen=True)
class Answer:
    """What the server says to a request."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def asked(server: Server, path: str, host: str = "localhost", method: str = "GET") -> Answer:
    port = int(server.url.rpartition(":")[2])
    with closing(http.client.HTTPConnection("localhost", port)) as connection:
        connection.request(method, path, headers={"Host": host})
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


def open_tab(server: Server, origin: str = "") -> socket.socket | None:
    """A tab's connection; None where it is refused."""
    tab = socket.create_connection(("localhost", int(server.url.rpartition(":")[2])), timeout=10)
    tab.sendall((SHAKE + (f"Origin: {origin}\r\n" if origin else "") + "\r\n").encode())
    if b" 101 " in tab.recv(64):
        return tab
    tab.close()
    return None


@pytest.mark.parametrize("path", ["/", "/train", "/_stcore/host-config", "/static/none.js"])
def test_every_answer_tells_browsers_to_keep_to_this_server(server: Server, path: str) -> None:
    headers = asked(server, path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "://" not in policy
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/train", "/_stcore/host-config"])
def test_a_name_that_is_not_allowed_is_answered_nothing(server: Server, path: str) -> None:
    answer = asked(server, path, "rebound.example")
    assert answer.status == 400
    assert answer.body == b"This name is not among server.allowedHosts.\n"
    assert asked(server, path, "127.0.0.1:8501").status == 200


def test_another_sites_page_opens_no_connection_and_hands_in_no_file(server: Server) -> None:
    assert open_tab(server, "http://rebound.example") is None
    assert "external IP" not in server.log.read_text(), "the internet was asked"
    tab = open_tab(server, "http://localhost")
    assert tab is not None
    tab.close()
    assert asked(server, "/_stcore/upload_file/tab/file", method="PUT").status == 403
    cookies = asked(server, "/_stcore/health").headers.get_all("Set-Cookie") or []
    assert [one.partition("=")[0] for one in cookies] == ["_streamlit_xsrf"]
    assert "samesite=strict" in cookies[0].lower()


@pytest.mark.parametrize(
    ("origin", "host", "heard"),
    [
        (None, "localhost:8501", True),
        ("http://localhost:8501", "localhost:8501", True),
        ("https://lab.example.org", "lab.example.org", True),
        ("http://127.0.0.1:9", "localhost:8501", True),
        ("http://a.example", "localhost", True),
        ("http://rebound.example", "localhost:8501", False),
        ("null", "localhost", False),
        ("http://localhost.rebound.example", "localhost", False),
        ("", "localhost", False),
        ("http://[", "localhost", False),
    ],
)
def test_another_sites_page_does_not_have_the_internet_asked_who_we_are(
    origin: str | None, host: str, heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit asks, for seconds in which it serves nobody, before it refuses a connection."""
    options = {"browser.serverAddress": "localhost", "server.corsAllowedOrigins": ["http://a.example"]}
    before = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: options.get(name, before(name)))
    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin is not None else [])]
    told: list[str] = []

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        told.append("heard")

    async def send(message: Message) -> None:
        told.append(f"{message['type']} {message['code']}")

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers, "client": None}
    asyncio.run(SecurityMiddleware(streamlit)(scope, receive, send))
    assert told == (["heard"] if heard else ["websocket.close 1008"])


def test_who_looks_whether_it_lives_may_use_any_name(server: Server) -> None:
    assert asked(server, "/_stcore/health", "10.0.0.7:8501").body == b"ok"


def test_with_few_open_files_tabs_are_refused_before_all_is_stuck(server: Server) -> None:
    # As `streamlit run` has it: the app, which raises the limit, is imported before anybody comes.
    assert f"allows this server {FEW} open files, enough for about 4 browser tabs" in (server.log.read_text())
    with ExitStack() as tabs:
        opened = 0
        while (tab := open_tab(server)) and opened < FEW:
            tabs.enter_context(tab)
            opened += 1
        assert 4 <= opened < FEW
        assert asked(server, "/").status == 200, "pages are answered meanwhile"


def test_tabs_that_came_and_went_do_not_keep_others_out_for_good(server: Server) -> None:
    """Streamlit forgets a closed tab, and its open files, only when another one is closed."""
    come_and_gone = 0
    while (tab := open_tab(server)) and come_and_gone < 10 * FEW:
        tab.close()
        come_and_gone += 1
    assert come_and_gone < 10 * FEW, "nobody was refused: the test tells nothing"
    end = time.monotonic() + 240
    while (tab := open_tab(server)) is None and time.monotonic() < end:
        time.sleep(0.2)
    assert tab is not None
    tab.close()


def test_as_many_open_files_are_asked_for_as_any_number_of_tabs_needs() -> None:
    script = (
        "from ensemble.machine import open_files\n"
        "import subprocess\n"
        "print(open_files.raise_open_file_limit(), flush=True)\n"
        "subprocess.run(['bash', '-c', 'ulimit -Sn'])"
    )
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = open_files.TARGET_FILE_LIMIT if hard == resource.RLIM_INFINITY else min(hard, open_files.TARGET_FILE_LIMIT)
    done = subprocess.run(
        ["bash", "-c", 'ulimit -Sn 256; exec "$@"', "bash", sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(most)] * 2, "of itself, and of what it starts"


@pytest.mark.parametrize(("wanted", "kept"), [(120, 10), (2, 2)])
def test_with_few_open_files_closed_tabs_are_kept_for_at_most_10_seconds(wanted: int, kept: int) -> None:
    script = (
        "from streamlit import config\n"
        "from ensemble.ui.shared import server\n"
        f"config.set_option('server.disconnectedSessionTTL', {wanted})\n"
        "assert server.raise_tab_limit()\n"
        "print(config.get_option('server.disconnectedSessionTTL'))"
    )
    limited = ["bash", "-c", f'ulimit -n {FEW}; exec "$@"', "bash", sys.executable, "-c", script]
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    assert subprocess.run(limited, env=env, capture_output=True, text=True, check=True).stdout.split() == [str(kept)]
