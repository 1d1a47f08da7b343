"""Connections that say nothing, by the hundred, to a server with sign-in: a newcomer comes in.

A newcomer is who opens the page, presses "Sign in", says to the provider who they are, and has a
page of the app drawn: by the same requests as a browser's.
"""

import http.cookiejar
import itertools
import random
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from benchmarks.soak.place import Place
from benchmarks.soak.rows import LostError, Row, expect
from tests.browser.shared_server import build_request, draw_page, serving_people

SILENT, ADDRESSES = 200, 40
ANSWER_SECONDS, MOST_SECONDS = 30.0, 20.0
PERSON, LIST = "member", "ann@example.org=member\n"
STREAM = "/_stcore/stream"
Connect = Callable[[int, str], AbstractContextManager[object]]


def open_silent_sockets(place: Place, rng: random.Random, count: int) -> list[Row]:
    """So many times hundreds of connections are opened that say nothing, and somebody signs in.

    Args:
      place: where.
      rng: draws from how many addresses they come.
      count: how many times.
    """
    row = Row(f"silent sockets ({SILENT})")
    with place.part("sockets") as runs:
        people = runs / "people.txt"
        people.write_text(LIST)
        with serving_people(runs, people) as server:
            port = int(server.url.rpartition(":")[2])
            for kind, _ in zip(itertools.cycle(KINDS), range(count)):
                addresses = rng.choice((1, 2, ADDRESSES))
                with (
                    row.attempt(f"{kind}, {addresses} address{'es' * (addresses > 1)}") as details,
                    ExitStack() as stack,
                ):
                    for number in range(SILENT):
                        source = f"127.0.0.{1 + number % addresses}"
                        stack.enter_context(KINDS[kind](port, source))
                    began = time.monotonic()
                    come_in(server.url)
                    seconds = time.monotonic() - began
                    details.append(f"{seconds:.1f} s to sign in")
                    expect(seconds < MOST_SECONDS, "that took too long")
    return [row]


def connect_from(port: int, source: str, words: bytes = b"") -> socket.socket:
    """A connection from one of this machine's own addresses, on which no more than this is said."""
    connection = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
    connection.sendall(words)
    return connection


@contextmanager
def open_tab(port: int, source: str, page: str | None = None) -> Iterator[ClientConnection]:
    """A tab of somebody who has not signed in, which asks for that page at most."""
    with connect(
        f"ws://localhost:{port}{STREAM}",
        sock=connect_from(port, source),
        subprotocols=[Subprotocol("streamlit")],
        close_timeout=1,
        max_size=None,
        proxy=None,
    ) as tab:
        if page is not None:
            tab.send(build_request(page))
        yield tab


KINDS: dict[str, Connect] = {
    "say nothing": connect_from,
    "half a request": lambda port, source: connect_from(port, source, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "),
    "tabs that ask for nothing": open_tab,
    "tabs that ask once": lambda port, source: open_tab(port, source, ""),
}


def come_in(url: str) -> None:
    """Sign in and have a page drawn; a loss where that does not come about."""
    try:
        cookies = http.cookiejar.CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
        browser.open(f"{url}/_stcore/health", timeout=ANSWER_SECONDS).close()
        with browse(url, cookies) as tab:
            way_in = press_sign_in(tab)
        with browser.open(urllib.parse.urljoin(url, way_in), timeout=ANSWER_SECONDS) as form:
            asks = form.geturl()
        answer = urllib.parse.urlencode({"sub": PERSON}).encode()
        browser.open(asks, answer, timeout=ANSWER_SECONDS).close()
        with browse(url, cookies) as tab:
            words = b"".join(message.SerializeToString() for message in draw_page(tab, "runs"))
    except (OSError, WebSocketException) as error:
        raise LostError(f"no answer: {error!r}") from error
    expect(b"ann\xe2\x81\xa0@example.org" in words, "the page does not say who has signed in")


@contextmanager
def browse(url: str, cookies: http.cookiejar.CookieJar) -> Iterator[ClientConnection]:
    """A browser's tab, with its cookies."""
    values = {cookie.name: cookie.value or "" for cookie in cookies}
    with connect(
        url.replace("http", "ws", 1) + STREAM,
        origin=Origin(url),
        additional_headers={"Cookie": "; ".join(map("=".join, values.items()))},
        subprotocols=[Subprotocol("streamlit"), Subprotocol(values["_streamlit_xsrf"])],
        open_timeout=ANSWER_SECONDS,
        max_size=None,
        proxy=None,
    ) as tab:
        yield tab


def press_sign_in(tab: ClientConnection) -> str:
    """The address to which the button "Sign in" leads."""
    messages = draw_page(tab, "")
    elements = [message.delta.new_element for message in messages if message.HasField("delta")]
    buttons = [element.button for element in elements if element.HasField("button")]
    found = [button.id for button in buttons if button.label == "Sign in"]
    expect(found, "there is no way in")
    for message in draw_page(tab, "", press=found[0]):
        if message.HasField("auth_redirect"):
            return str(message.auth_redirect.url)
    raise LostError("the way in leads nowhere")
