"""The server process: its socket, clients that are too slow, and an end that loses no answer."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ensemble.machine.open_files import raise_open_file_limit
from ensemble.serving import limits

KEEP_ALIVE_SECONDS = 30  # that a connection without a request stays open
RESERVED_FILES = 128  # of those that the system allows: not for connections
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class TimedProtocol(H11Protocol):
    """HTTP by uvicorn, which has no limit of time for a request's first lines, nor for reading.

    A connection without a whole request is closed after `HEADER_SECONDS`, and one whose client
    reads nothing of its answer after `SEND_SECONDS`.
    """

    _header_timer: asyncio.TimerHandle | None = None
    _send_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As asyncio has it."""
        super().connection_made(transport)
        self._watch_header()

    def data_received(self, data: bytes) -> None:
        """As asyncio has it."""
        super().data_received(data)
        self._watch_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """As asyncio has it."""
        for timer in (self._header_timer, self._send_timer):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """As asyncio has it."""
        super().pause_writing()
        self._send_timer = self.loop.call_later(limits.SEND_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """As asyncio has it."""
        if self._send_timer:
            self._send_timer.cancel()
        super().resume_writing()

    def _watch_header(self) -> None:
        """Have the time run as long as no request is being answered."""
        if self.cycle is None or self.cycle.response_complete:
            if self._header_timer is None:
                self._header_timer = self.loop.call_later(
                    limits.HEADER_SECONDS, self.transport.abort
                )
        elif self._header_timer:
            self._header_timer.cancel()
            self._header_timer = None


class AnnouncingServer(uvicorn.Server):
    """A server that says once that it answers."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def open_listening_socket(host: str, port: int) -> socket.socket:
    """A socket of this machine's at an address; port 0 is any that is free.

    Raises:
      OSError: it cannot be had; `socket.gaierror` where there is no such address.
    """
    places = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM, 0, socket.AI_PASSIVE)
    # What is called localhost has an address of either kind, and clients try both.
    family, kind, protocol, _, place = sorted(places, key=lambda at: at[0] != socket.AF_INET)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(limits.MAX_CONNECTIONS)
    except BaseException:
        listening.close()
        raise
    return listening


def run_server(app: ASGIApp, listening: socket.socket, announce: Callable[[], None]) -> None:
    """Answer until a signal says to stop, and then what is in hand.

    Args:
      app: what answers.
      listening: where.
      announce: called once requests are answered.
    """
    files = raise_open_file_limit() or limits.MAX_CONNECTIONS + RESERVED_FILES
    settings: dict[str, Any] = {
        "http": TimedProtocol,
        "ws": "none",
        "lifespan": "on",
        "log_config": None,  # what is wrong goes to stderr, as Python does by itself
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": int(limits.STOP_SECONDS),
        "limit_concurrency": max(8, min(limits.MAX_CONNECTIONS, files - RESERVED_FILES)),
        "backlog": limits.MAX_CONNECTIONS,
    }
    with ignore_repeated_signals():
        AnnouncingServer(uvicorn.Config(app, **settings), announce).run([listening])


@contextlib.contextmanager
def ignore_repeated_signals() -> Iterator[None]:
    """Within this a signal to stop has done its work once the server has ended.

    uvicorn raises it again then, so that whoever would end by it does.
    """
    before = {number: signal.signal(number, lambda *_: None) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
