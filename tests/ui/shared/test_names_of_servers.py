"""By which names a server is asked for, and which pages may open a tab's connection to it."""

from collections.abc import Callable

import pytest
import streamlit as st
from starlette.datastructures import Headers

from ensemble.ui.shared.server import is_host_allowed, is_origin_allowed


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("localhost", True),
        ("LOCALHOST.:8501", True),
        ("127.0.0.1:8501", True),
        ("", False),
        ("localhost.evil.example", False),
        ("evil.example", False),
        ("[::1", False),
        ("localhost@evil.example", False),
        ("evil.example#localhost", False),
    ],
)
def test_a_host_is_told_by_its_whole_name(host: str, allowed: bool) -> None:
    assert is_host_allowed(host) is allowed


@pytest.fixture
def option(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, object], None]:
    """Sets an option of Streamlit's for this test."""
    given: dict[str, object] = {}
    read = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: given.get(name, read(name)))
    return given.__setitem__


@pytest.mark.parametrize(
    ("pattern", "host", "allowed"),
    [
        ("*.example.org", "runs.example.org", True),
        ("*.example.org", "a.b.EXAMPLE.org:80", True),
        ("*.Example.ORG.", "runs.example.org.", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "evilexample.org", False),
        ("*.example.org", ".example.org.evil", False),
        ("*.example.org", "example.org.evil.net", False),
        ("*example.org", "evilexample.org", False),
        ("runs.*", "runs.evil.net", False),
        ("*", "evil.net", True),
        ("", "evil.net", False),
    ],
)
def test_a_star_stands_for_whole_parts_of_a_name(
    option: Callable[[str, object], None], pattern: str, host: str, allowed: bool
) -> None:
    option("server.allowedHosts", ["localhost", pattern])
    assert is_host_allowed(host) is allowed


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (None, True),
        ("http://localhost:3000", True),
        ("https://runs.example.org", True),
        ("http://runs.example.org:8501", True),
        ("https://other.example.org:99", True),
        ("https://evilother.example.org", False),
        ("https://other.example.org.evil.net", False),
        ("https://example.org", False),
        ("http://localhost.evil.net", False),
        ("null", False),
        ("", False),
        ("http://[::1", False),
        ("//runs.example.org:8501@evil.net", False),
    ],
)
def test_a_tab_is_of_a_page_of_this_server_or_of_one_that_is_named(
    option: Callable[[str, object], None], origin: str | None, allowed: bool
) -> None:
    option("server.corsAllowedOrigins", ["https://other.example.org"])
    option("browser.serverAddress", "runs.example.org")
    sent = {"host": "runs.example.org:8501"} | ({} if origin is None else {"origin": origin})
    assert is_origin_allowed(Headers(sent)) is allowed
