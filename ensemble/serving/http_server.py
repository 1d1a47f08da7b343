"""The server process: its socket, slow and silent clients, and an end that loses no answer."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ensemble.serving import limits

_KEEP_ALIVE_SECONDS = 30  # that a connection without a request stays open
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _OpenConnections(ServerState):
    """Keep the open connections, and close silent ones when there are too many.

    uvicorn's own limit counts silent connections too, and refuses every request above it.

    Args:
      limit: how many connections may be open at once.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        # A dict keeps its keys in the order in which they were added: longest silent first.
        self._silent: dict[_TimedProtocol, None] = {}

    def add_silent(self, connection: "_TimedProtocol") -> None:
        """Add a connection that was heard just now and whose client has to send or read next."""
        self._silent.pop(connection, None)
        self._silent[connection] = None

    def remove_silent(self, connection: "_TimedProtocol") -> None:
        """Remove a connection that was lost, or whose request is complete and not answered yet."""
        self._silent.pop(connection, None)

    def make_room(self) -> None:
        """Close the longest-silent connections above the limit.

        Those that still have a part of an answer to send are closed last.
        """
        while len(self.connections) > self._limit and self._silent:
            idle = (one for one in self._silent if not one.transport.get_write_buffer_size())
            longest = next(idle, None) or next(iter(self._silent))
            self.remove_silent(longest)
            # It is lost a moment later, and must not be counted until then.
            self.connections.discard(longest)
            longest.transport.abort()


class _TimedProtocol(H11Protocol):
    """HTTP by uvicorn, which sets no time limit for a request's first lines, nor for reading.

    A connection without a whole request is closed after `HEADER_SECONDS`, one whose client reads
    nothing of its answer after `SEND_SECONDS`, and a silent one when others need its room.
    """

    server_state: _OpenConnections
    _header_timer: asyncio.TimerHandle | None = None
    _send_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for a connection, and time its first request."""
        super().connection_made(transport)
        self.server_state.make_room()
        self._watch_header()
        self._watch_silence()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._watch_header()
        self._watch_silence()

    def on_response_complete(self) -> None:
        """Wait for the next request, or answer it if it is already here."""
        super().on_response_complete()
        self._watch_silence()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of a connection."""
        for timer in (self._header_timer, self._send_timer):
            if timer:
                timer.cancel()
        super().connection_lost(exc)
        self.server_state.remove_silent(self)

    def pause_writing(self) -> None:
        """Wait for a client that does not read its answer."""
        super().pause_writing()
        self._send_timer = self.loop.call_later(limits.SEND_SECONDS, self.transport.abort)
        self._watch_silence()

    def resume_writing(self) -> None:
        """Continue with an answer whose client reads again."""
        if self._send_timer:
            self._send_timer.cancel()
        super().resume_writing()
        self._watch_silence()

    def _watch_silence(self) -> None:
        """Count as silent from now on, unless an answer is being computed."""
        if self._has_request() and not self.cycle.more_body and not self.flow.write_paused:
            self.server_state.remove_silent(self)
        else:
            self.server_state.add_silent(self)

    def _has_request(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch_header(self) -> None:
        if not self._has_request():
            if self._header_timer is None:
                self._header_timer = self.loop.call_later(limits.HEADER_SECONDS, self.transport.abort)
        elif self._header_timer:
            self._header_timer.cancel()
            self._header_timer = None


class _AnnouncingServer(uvicorn.Server):
    """A server that reports once that it answers.

    Args:
      config: its settings.
      connections: the connections that it opens.
      announce: called once it answers requests.
    """

    def __init__(self, config: uvicorn.Config, connections: _OpenConnections, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self.server_state = connections
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
        listening.listen(limits.compute_backlog())
    except BaseException:
        listening.close()
        raise
    return listening


def run_server(app: ASGIApp, listening: socket.socket, announce: Callable[[], None]) -> None:
    """Answer requests until a signal to stop, and finish those in hand.

    Args:
      app: the application that answers.
      listening: the socket to listen on.
      announce: called once the server answers requests.
    """
    settings: dict[str, Any] = {
        "http": _TimedProtocol,
        "ws": "none",
        "lifespan": "on",
        "log_config": None,  # what is wrong goes to stderr, as Python does by itself
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": _KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": int(limits.STOP_SECONDS),
        "backlog": limits.compute_backlog(),
    }
    connections = _OpenConnections(limits.compute_connection_limit())
    with _ignore_repeated_signals():
        _AnnouncingServer(uvicorn.Config(app, **settings), connections, announce).run([listening])


@contextlib.contextmanager
def _ignore_repeated_signals() -> Iterator[None]:
    """Within this a signal to stop has done its work once the server has ended.

    uvicorn raises it again then, so that whoever would end by it does.
    """
    before = {number: signal.signal(number, lambda *_: None) for number in _STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
