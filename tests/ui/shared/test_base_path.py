"""Under `server.baseUrlPath` the server's own requests go where Streamlit has its routes."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import create_websocket_routes

from ensemble.ui.shared import server

BASES = ["", "under/it", "/under/it/"]
Set = Callable[[str, object], None]


@pytest.fixture
def set_option() -> Iterator[Set]:
    before: dict[str, object] = {}

    def change(name: str, value: object) -> None:
        before.setdefault(name, config.get_option(name))
        config.set_option(name, value)

    yield change
    for name, value in before.items():
        config.set_option(name, value)


@pytest.mark.parametrize("base", BASES)
def test_closed_tabs_are_forgotten_where_streamlit_has_them(base: str, set_option: Set) -> None:
    asked = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"])
        raise asyncio.CancelledError

    set_option("server.baseUrlPath", base)
    set_option("server.disconnectedSessionTTL", 0)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(server.forget_closed_tabs(app))
    (route,) = create_websocket_routes(None, base)  # type: ignore[arg-type]
    assert asked == [route.path]  # type: ignore[attr-defined]


@pytest.mark.parametrize("base", BASES)
def test_who_looks_whether_it_lives_may_use_any_name(base: str, set_option: Set) -> None:
    answered = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        answered.append(scope["path"])

    async def send(message: Any) -> None:
        pass

    set_option("server.baseUrlPath", base)
    set_option("server.allowedHosts", ["localhost"])
    paths = [f"{base.strip('/') and '/under/it'}/_stcore/{one}" for one in ("health", "metrics")]
    for path in paths:
        scope = {"type": "http", "path": path, "headers": [(b"host", b"10.0.0.7")]}
        asyncio.run(server.SecurityMiddleware(app)(scope, None, send))
    assert answered == paths[:1]


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("localhost", "http://localhost:8501/"),
        ("0.0.0.0", "http://localhost:8501/"),
        ("127.0.0.1", "http://127.0.0.1:8501/"),
        ("::1", "http://[::1]:8501/"),
    ],
)
def test_the_browser_is_sent_to_the_address_that_is_served(address: str, url: str, set_option: Set) -> None:
    set_option("server.address", address)
    set_option("server.port", 8501)
    assert server.build_server_url() == url
