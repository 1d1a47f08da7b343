"""A connection's timers, and its place among those that are silent."""

import asyncio

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from ensemble.serving import http_server, limits

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport that goes nowhere and counts how often it is cut."""

    def __init__(self) -> None:
        super().__init__()
        self.aborts, self.unread = 0, 0

    def abort(self) -> None:
        self.aborts += 1

    def close(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return self.unread


async def wait_for_ever(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.Event().wait()


def connect(connections: http_server._OpenConnections) -> tuple[http_server._TimedProtocol, Wire]:
    config = uvicorn.Config(wait_for_ever, interface="asgi3", lifespan="off", log_config=None)
    protocol, wire = http_server._TimedProtocol(config, connections, {}), Wire()
    protocol.connection_made(wire)
    return protocol, wire


async def let_timers_end() -> None:
    """Timers of no seconds are called a turn of the loop after they have been made."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_connection_that_was_lost_is_not_closed_to_make_room() -> None:
    async def open_three() -> list[int]:
        connections = http_server._OpenConnections(1)
        lost, first = connect(connections)
        lost.connection_lost(None)
        wires = [first, connect(connections)[1], connect(connections)[1]]
        return [wire.aborts for wire in wires]

    assert asyncio.run(open_three()) == [0, 1, 0]


def test_one_whose_client_still_reads_is_closed_after_silent_ones() -> None:
    async def open_three() -> list[int]:
        connections = http_server._OpenConnections(2)
        wires = [connect(connections)[1], connect(connections)[1]]
        wires[0].unread = 9
        wires.append(connect(connections)[1])
        return [wire.aborts for wire in wires]

    assert asyncio.run(open_three()) == [0, 1, 0]


@pytest.mark.parametrize(("after", "aborts"), [(None, 1), ("resume_writing", 0), ("connection_lost", 0)])
def test_a_client_that_reads_nothing_is_cut_off_unless_it_reads_again_or_leaves(
    after: str | None, aborts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SEND_SECONDS", 0.0)

    async def pause() -> int:
        protocol, wire = connect(http_server._OpenConnections(1))
        protocol.pause_writing()
        if after:
            getattr(protocol, after)(*[None] * (after == "connection_lost"))
        await let_timers_end()
        return wire.aborts

    assert asyncio.run(pause()) == aborts


@pytest.mark.parametrize(("sent", "aborts"), [(b"", 1), (REQUEST[:-2], 1), (REQUEST, 0), (None, 0)])
def test_a_client_that_does_not_send_a_whole_request_is_cut_off(
    sent: bytes | None, aborts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None stands for one that leaves."""
    monkeypatch.setattr(limits, "HEADER_SECONDS", 0.0)

    async def send() -> int:
        protocol, wire = connect(http_server._OpenConnections(1))
        if sent is None:
            protocol.connection_lost(None)
        elif sent:
            protocol.data_received(sent)
        await let_timers_end()
        return wire.aborts

    assert asyncio.run(send()) == aborts
