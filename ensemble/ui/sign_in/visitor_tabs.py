"""Open tabs of those who have not signed in: one who comes anew always finds room.

Anybody may open as many as they like, and say nothing. So the one that has been silent longest is
closed where there are too many; of the address, that is, that has most of them. A browser opens
another by itself, should its visitor still be there.
"""

import asyncio
import contextlib
import ipaddress
import time
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.types import Message, Scope

from ensemble.machine import open_files

# So many tabs may ask to sign in at once, each of which takes four open files; and so many from one
# address, which may be that of a whole school.
MAX_VISITORS, MAX_VISITORS_PER_ADDRESS = 200, 100
# A browser speaks as soon as it is connected; after that one reads the page, and signs in.
FIRST_MESSAGE_S, IDLE_S = 20.0, 15 * 60.0
_IPV6_SITE_BITS = 64  # of an address, that whoever has it does not choose
# Of those who come by a proxy that FORWARDED_ALLOW_IPS does not name, nobody knows the address.
_UNKNOWN_ADDRESS = ""


@dataclass(eq=False)
class VisitorTab:
    """An open tab of somebody who has not signed in.

    Attributes:
      address: where it comes from, of `find_visitor_address`.
      heard: when it said something last, by the monotonic clock; when it came, before that.
      has_spoken: whether it has said anything.
      released: set where it is to be closed, to make room or for its silence.
    """

    address: str
    heard: float = field(default_factory=time.monotonic)
    has_spoken: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def note_message(self) -> None:
        self.heard, self.has_spoken = time.monotonic(), True

    def release_if_silent(self) -> None:
        silence = time.monotonic() - self.heard
        if silence > (IDLE_S if self.has_spoken else FIRST_MESSAGE_S):
            self.released.set()

    async def wait_for(self, receiving: Awaitable[Message]) -> Message | None:
        """What it says next; None once it is to be closed."""
        message = asyncio.ensure_future(receiving)
        release = asyncio.ensure_future(self.released.wait())
        try:
            await asyncio.wait({message, release}, return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else None
        finally:
            for waiting in (message, release):
                waiting.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await waiting


class VisitorTabs:
    """All of them that are open in this process; used by its event loop alone."""

    def __init__(self) -> None:
        self._open: list[VisitorTab] = []

    @contextlib.contextmanager
    def admit(self, address: str) -> Iterator[VisitorTab]:
        """Another tab, for as long as it is open; others make room for it.

        Args:
          address: of `find_visitor_address`.
        """
        while tab := self._find_tab_to_release(address):
            tab.released.set()
            self._open.remove(tab)  # Its place is free at once, however long its closing takes.
        tab = VisitorTab(address)
        self._open.append(tab)
        try:
            yield tab
        finally:
            if tab in self._open:
                self._open.remove(tab)

    def _find_tab_to_release(self, address: str) -> VisitorTab | None:
        """The one that makes room for a newcomer of this address; None where there is room."""
        own = [tab for tab in self._open if tab.address == address]
        if address != _UNKNOWN_ADDRESS and len(own) >= MAX_VISITORS_PER_ADDRESS:
            return _find_most_silent(own)
        if len(self._open) < count_visitor_places():
            return None
        counts = Counter(tab.address for tab in self._open)
        most = max(counts.values())
        return _find_most_silent(tab for tab in self._open if counts[tab.address] == most)


def _find_most_silent(tabs: Iterable[VisitorTab]) -> VisitorTab:
    """The one that has been silent longest; those that never spoke come before the others."""
    return min(tabs, key=lambda tab: (tab.has_spoken, tab.heard))


def count_visitor_places() -> int:
    """How many tabs there may be; where files are few, half of those that can be served at all."""
    limit = open_files.raise_open_file_limit()
    if not open_files.is_file_limit_low(limit) or limit is None:
        return MAX_VISITORS
    return max(1, min(MAX_VISITORS, open_files.estimate_served_tabs(limit) // 2))


def find_visitor_address(scope: Scope) -> str:
    """Where a connection comes from, as a limit counts it; `_UNKNOWN_ADDRESS` if nobody can tell.

    The server has put in place what a proxy that FORWARDED_ALLOW_IPS names (by default one on this
    machine) says of it. Of IPv6 it is the network, of whose addresses anybody has very many.
    """
    client = str(scope["client"][0]) if scope.get("client") else ""
    forwarded = Headers(scope=scope).get("x-forwarded-for", "")
    if forwarded and client not in [part.strip() for part in forwarded.split(",")]:
        return _UNKNOWN_ADDRESS  # It is that of a proxy which is not trusted to say more.
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv4Address):
        return client
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _IPV6_SITE_BITS), strict=False))
