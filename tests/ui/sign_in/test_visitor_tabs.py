"""Tabs of who has not signed in, silent ones among them, leave room for newcomers."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from ensemble.machine import open_files
from ensemble.ui.sign_in import middleware, visitor_tabs
from ensemble.ui.sign_in.visitor_tabs import find_visitor_address
from tests.ui.sign_in.test_middleware import Tab, cookies, shared  # noqa: F401 (a fixture)


async def is_open(tab: Tab) -> bool:
    """Whether a tab answers what is pressed in it."""
    while not tab._back.empty():
        if tab._back.get_nowait()["type"] == "websocket.close":
            return False
    await tab.press()
    return (await tab.told())["type"] == "websocket.send"


async def closing_code(tab: Tab) -> int:
    while (message := await tab.told())["type"] != "websocket.close":
        pass
    return int(message["code"])


def test_silent_ones_of_one_address_make_room_for_who_comes_from_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_tabs, "MAX_VISITORS", 6)

    async def come() -> None:
        async with AsyncExitStack() as stack:
            reads = await stack.enter_async_context(Tab({}, address="192.0.2.7"))
            silent = [await stack.enter_async_context(Tab({}, address="198.51.100.1")) for _ in range(9)]
            newcomer = await stack.enter_async_context(Tab({}, address="192.0.2.8"))
            assert [await closing_code(tab) for tab in silent[:5]] == [1013] * 5
            assert await is_open(newcomer)
            assert await is_open(reads), "it came first, and is the only one of its address"
            mine = await stack.enter_async_context(Tab(cookies(), address="198.51.100.1"))
            assert await is_open(mine), "who has signed in is not counted"
            assert await is_open(silent[-1])

    asyncio.run(come())


def test_one_address_has_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_tabs, "MAX_VISITORS_PER_ADDRESS", 2)

    async def come() -> None:
        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(Tab({}))
            assert await is_open(first)
            second, third = [await stack.enter_async_context(Tab({})) for _ in range(2)]
            # It never spoke, where the one before it has.
            assert await closing_code(second) == 1013
            assert await is_open(first)
            assert await is_open(third)

    asyncio.run(come())


@pytest.mark.parametrize(("speaks", "limit"), [(False, "FIRST_MESSAGE_S"), (True, "IDLE_S")])
def test_one_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch, speaks: bool, limit: str) -> None:
    monkeypatch.setattr(middleware, "CHECK_INTERVAL_S", 0.01)

    async def come() -> None:
        async with Tab({}) as tab, Tab(cookies()) as mine:
            if speaks:
                assert await is_open(tab)
            monkeypatch.setattr(visitor_tabs, limit, 0.0)
            assert await closing_code(tab) == 1013
            assert await is_open(mine)

    asyncio.run(come())


def test_where_files_are_few_half_of_the_tabs_are_for_who_has_signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "raise_open_file_limit", lambda: 256)
    served = open_files.estimate_served_tabs(256)
    assert 1 < visitor_tabs.count_visitor_places() == served // 2
    monkeypatch.setattr(open_files, "raise_open_file_limit", lambda: 8192)
    assert visitor_tabs.count_visitor_places() == visitor_tabs.MAX_VISITORS


@pytest.mark.parametrize(
    ("client", "forwarded", "address"),
    [
        (("192.0.2.1", 1), "", "192.0.2.1"),
        (("192.0.2.1", 0), "192.0.2.1", "192.0.2.1"),  # put in place by the server
        (("192.0.2.1", 0), "203.0.113.9, 192.0.2.1", "192.0.2.1"),
        (("10.0.0.5", 1), "192.0.2.1", ""),  # of a proxy that is not trusted
        (("::ffff:192.0.2.1", 1), "", "192.0.2.1"),
        (("2001:db8:1:2:3:4:5:6", 1), "", "2001:db8:1:2::/64"),
        (None, "", ""),
    ],
)
def test_an_address_is_that_of_the_visitor_or_of_nobody(client: Any, forwarded: str, address: str) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "websocket", "client": client, "headers": headers}
    assert find_visitor_address(scope) == address
