"""Who asks: the visitor behind a request, and the one whose tab is being drawn."""

import time
from collections.abc import Mapping
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection

from ensemble.access import LOCAL, NOBODY, Person, actions, audit, claims, exposure, identify_by
from ensemble.access.claims import Visit
from ensemble.access.exposure import Sharing, Start
from ensemble.ui.sign_in import cookie, provider

HEADERS = "server.trustedUserHeaders"


class _Server:
    """How this process knows who asks; set once, before it listens."""

    begun = False
    sharing = Sharing.ALONE
    header = ""
    # Who signed out before their time, by whom and since when they were signed in, until when
    # their cookie could still be shown.
    signed_out: dict[tuple[str, float], float] = {}  # noqa: RUF012 (one a process)


def begin() -> Sharing:
    """Find out how this server is to know who asks, and have it asked from now on.

    Raises:
      ConfigError: others could reach it, and it would not know them; it says what to do.
    """
    trusted = st.get_option(HEADERS) or {}
    _Server.header = next((name for name, user in trusted.items() if user == "email"), "")
    _Server.sharing = exposure.settle(
        Start(
            address=st.get_option("server.address") or "",
            provider=provider.is_begun(),
            missing=provider.missing(),
            header=_Server.header,
            headers=bool(trusted),
            hosts=tuple(st.get_option("server.allowedHosts")),
        )
    )
    identify_by(person if is_shared() else None)
    _Server.begun = True
    return _Server.sharing


def has_begun() -> bool:
    """Whether this process found out; a page that is served without `app.py` did not."""
    return _Server.begun


def sharing() -> Sharing:
    """How this server knows who asks."""
    return _Server.sharing


def is_shared() -> bool:
    """Whether it tells people apart at all."""
    return _Server.sharing in (Sharing.SIGN_IN, Sharing.PROXY)


def behind(connection: HTTPConnection) -> Visit:
    """Who sends a request, or opens a WebSocket."""
    if not is_shared():
        return Visit(LOCAL)
    if _Server.sharing is Sharing.PROXY:
        return _named(connection.headers.getlist(_Server.header))
    return _of(
        cookie.claims_in(
            connection.cookies, provider.cookie_secret(), provider.origin(), claims.longest()
        )
    )


def here() -> Visit:
    """Whose tab is being drawn, or pressed a button in it."""
    if not is_shared():
        return Visit(LOCAL)
    if _Server.sharing is Sharing.PROXY:
        return _named(st.context.headers.get_all(_Server.header))
    said = st.user.to_dict()
    return _of(said if said.get("is_logged_in") is True else {})


def person() -> Person:
    """Who asks now; nobody where that cannot be told, as in a thread of its own."""
    return here().person


def sign_out(connection: HTTPConnection) -> None:
    """What this cookie allowed, it allows no longer, in whichever tab or program holds it."""
    found = cookie.claims_in(
        connection.cookies, provider.cookie_secret(), provider.origin(), claims.longest()
    )
    if (key := _key(found)) and key not in _Server.signed_out:
        now = time.time()
        audit.write(actions.SIGNED_OUT, "", _of(found).person)
        old = [one for one, until in _Server.signed_out.items() if until < now]
        for one in old:
            del _Server.signed_out[one]
        _Server.signed_out[key] = now + claims.longest() + claims.SKEW_SECONDS


def _of(found: Mapping[str, Any]) -> Visit:
    if _key(found) in _Server.signed_out:
        return Visit()
    return claims.of_claims(found, time.time())


def _key(found: Mapping[str, Any]) -> tuple[str, float] | None:
    """One signing-in of one person; None where nobody signed in."""
    who, issued = found.get("sub") or found.get("email"), found.get("iat")
    if isinstance(who, str) and isinstance(issued, int | float):
        return who, float(issued)
    return None


def _named(values: list[str]) -> Visit:
    # Two of them are no proxy's doing: one was sent by the visitor.
    return claims.of_address(values[0]) if len(values) == 1 else Visit(NOBODY)
