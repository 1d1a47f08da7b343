"""Who asks: the visitor behind a request, and the one whose tab is being drawn."""

import time
from collections.abc import Mapping
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection

from ensemble.access import LOCAL, NOBODY, Person, actions, audit_log, server_access, set_person_source, visitor_claims
from ensemble.access.server_access import AccessMode, ServerStart
from ensemble.access.visitor_claims import Visit
from ensemble.ui.sign_in import cookie, provider

_TRUSTED_HEADERS_OPTION = "server.trustedUserHeaders"


class _IdentityState:
    """How this process knows who asks; set once, before it listens."""

    begun = False
    sharing = AccessMode.ALONE
    header = ""
    # Who signed out before their time, by whom and since when they were signed in, until when
    # their cookie could still be shown.
    signed_out: dict[tuple[str, float], float] = {}  # noqa: RUF012 (one a process)


def start_identification() -> AccessMode:
    """Find out how this server is to know who asks, and have it asked from now on.

    Raises:
      ConfigError: others could reach it, and it would not know them; it says what to do.
    """
    trusted = st.get_option(_TRUSTED_HEADERS_OPTION) or {}
    _IdentityState.header = next((name for name, user in trusted.items() if user == "email"), "")
    _IdentityState.sharing = server_access.determine_access_mode(
        ServerStart(
            address=st.get_option("server.address") or "",
            provider=provider.has_auth_settings(),
            missing=provider.describe_missing_auth_settings(),
            header=_IdentityState.header,
            headers=bool(trusted),
            hosts=tuple(st.get_option("server.allowedHosts")),
        )
    )
    set_person_source(get_current_person if is_server_shared() else None)
    _IdentityState.begun = True
    return _IdentityState.sharing


def is_identification_started() -> bool:
    """Whether this process found out; a page that is served without `app.py` did not."""
    return _IdentityState.begun


def get_sharing_mode() -> AccessMode:
    return _IdentityState.sharing


def is_server_shared() -> bool:
    return _IdentityState.sharing in (AccessMode.SIGN_IN, AccessMode.PROXY)


def identify_connection(connection: HTTPConnection) -> Visit:
    if not is_server_shared():
        return Visit(LOCAL)
    if _IdentityState.sharing is AccessMode.PROXY:
        return _build_proxy_visit(connection.headers.getlist(_IdentityState.header))
    return _build_visit(
        cookie.parse_cookie_claims(
            connection.cookies,
            provider.get_cookie_secret(),
            provider.get_server_origin(),
            visitor_claims.read_sign_in_seconds(),
        )
    )


def identify_tab_visitor() -> Visit:
    if not is_server_shared():
        return Visit(LOCAL)
    if _IdentityState.sharing is AccessMode.PROXY:
        return _build_proxy_visit(st.context.headers.get_all(_IdentityState.header))
    claims = st.user.to_dict()
    return _build_visit(claims if claims.get("is_logged_in") is True else {})


def get_current_person() -> Person:
    """Who asks now; nobody where that cannot be told, as in a thread of its own."""
    return identify_tab_visitor().person


def sign_out_connection(connection: HTTPConnection) -> None:
    cookie_claims = cookie.parse_cookie_claims(
        connection.cookies,
        provider.get_cookie_secret(),
        provider.get_server_origin(),
        visitor_claims.read_sign_in_seconds(),
    )
    if (key := _get_sign_in_key(cookie_claims)) and key not in _IdentityState.signed_out:
        now = time.time()
        audit_log.write_audit_entry(actions.SIGN_OUT_EVENT, "", _build_visit(cookie_claims).person)
        old = [old_key for old_key, until in _IdentityState.signed_out.items() if until < now]
        for sign_in in old:
            del _IdentityState.signed_out[sign_in]
        _IdentityState.signed_out[key] = now + visitor_claims.read_sign_in_seconds() + visitor_claims.MAX_CLOCK_SKEW_S


def _build_visit(claims: Mapping[str, Any]) -> Visit:
    if _get_sign_in_key(claims) in _IdentityState.signed_out:
        return Visit()
    return visitor_claims.identify_visitor(claims, time.time())


def _get_sign_in_key(claims: Mapping[str, Any]) -> tuple[str, float] | None:
    """One signing-in of one person; None where nobody signed in."""
    who, issued = claims.get("sub") or claims.get("email"), claims.get("iat")
    if isinstance(who, str) and isinstance(issued, int | float):
        return who, float(issued)
    return None


def _build_proxy_visit(values: list[str]) -> Visit:
    # Two of them are no proxy's doing: one was sent by the visitor.
    return visitor_claims.identify_address(values[0]) if len(values) == 1 else Visit(NOBODY)
