"""Who has not signed in is answered nothing but the way in; cookies are those Streamlit signs."""

import asyncio
import json
import secrets
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from streamlit.auth_util import set_cookie_with_chunks
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from ensemble.access import set_person_source
from ensemble.access.server_access import AccessMode
from ensemble.ui.sign_in import middleware, provider, visitors
from ensemble.ui.sign_in.middleware import SignInMiddleware

SECRET, ORIGIN = "k" * 32, "http://testserver"
CLAIMS = {"email": "ann@example.org", "email_verified": True, "sub": "1", "origin": ORIGIN, "is_logged_in": True}
PRIVATE = [
    "/media/0a1b.png",
    "/component/x/index.html",
    "/_stcore/bidi-components/x/a.js",
    "/_stcore/metrics",
    "/_stcore/agent/interact",
    "/_stcore/script-health-check",
    "/app/static/a.csv",
    "/static/../media/0a1b.png",
    "//media/0a1b.png",
    "/train/x",
    "/media/static/a.js",
    "/%6dedia/0a1b.png",
    "/_stcore/stream",
]
PUBLIC = [
    "/",
    "/train",
    "/static/js/index.js",
    "/favicon.png",
    "/_stcore/health",
    "/_stcore/host-config",
    "/train/_stcore/health",
    "/auth/login",
    "/oauth2callback",
]


async def inside(scope: Scope, receive: Receive, send: Send) -> None:
    """What stands behind: it answers all that it is asked, as Streamlit might."""
    if scope["type"] == "http":
        return await PlainTextResponse("inside")(scope, receive, send)
    assert (await receive())["type"] == "websocket.connect"
    await send({"type": "websocket.accept"})
    words = HTTPConnection(scope).headers.get("sec-websocket-protocol", "")
    await send({"type": "websocket.send", "text": words})
    while (await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": "drawn"})


APP = SignInMiddleware(inside)


def scope_of(path: str, given: dict[str, str], headers: list[tuple[str, str]]) -> Scope:
    said = [*headers, ("cookie", "; ".join(f"{name}={one}" for name, one in given.items()))]
    return {
        "type": "http",
        "method": "GET",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("testserver", 80),
        "headers": [(name.lower().encode(), value.encode()) for name, value in said],
    }


def status(path: str, given: dict[str, str] | None = None, *headers: tuple[str, str], **other: Any) -> int:
    """The status of an answer; one that lets nobody in says nothing of what is inside."""
    told: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        told.append(message)

    asyncio.run(APP({**scope_of(path, given or {}, list(headers)), **other}, receive, send))
    assert (told[0]["status"] == 200) == (b"inside" in told[1]["body"])
    return int(told[0]["status"])


class Tab:
    """A browser's end of a WebSocket."""

    def __init__(self, given: dict[str, str], words: str = "streamlit", address: str = "192.0.2.1") -> None:
        self._scope = scope_of("/_stcore/stream", given, [("sec-websocket-protocol", words)])
        self._scope |= {"type": "websocket", "client": (address, 50_000)}
        self._to: asyncio.Queue[Message] = asyncio.Queue()
        self._back: asyncio.Queue[Message] = asyncio.Queue()

    async def __aenter__(self) -> "Tab":
        self._task = asyncio.create_task(APP(self._scope, self._to.get, self._back.put))
        await self._to.put({"type": "websocket.connect"})
        first = await self.told()
        assert first["type"] == "websocket.accept", first
        return self

    async def __aexit__(self, *how: object) -> None:
        await self._to.put({"type": "websocket.disconnect", "code": 1000})
        await asyncio.wait_for(self._task, 10)

    async def told(self) -> Message:
        return await asyncio.wait_for(self._back.get(), 10)

    async def press(self) -> None:
        await self._to.put({"type": "websocket.receive", "text": "press"})


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ENSEMBLE_ALLOW", "ann@example.org=member")
    monkeypatch.setattr(provider, "read_auth_section", lambda: {"cookie_secret": SECRET})
    monkeypatch.setattr(provider, "get_server_origin", lambda: ORIGIN)
    monkeypatch.setattr(visitors._IdentityState, "sharing", AccessMode.SIGN_IN)
    yield
    set_person_source(None)


def cookies(secret: str = SECRET, **other: Any) -> dict[str, str]:
    """As Streamlit gives them to who has signed in."""
    made: dict[str, str] = {}
    said = {"iat": time.time(), **CLAIMS, **other}

    def sign(name: str, value: str) -> bytes:
        return create_signed_value(secret, name, value)

    set_cookie_with_chunks(
        lambda name, value: made.update({name: sign(name, value).decode()}),
        sign,
        "_streamlit_user",
        said,
        cookie_attr_size=80,
    )
    return made


@pytest.mark.parametrize("path", PRIVATE)
def test_signed_out_nothing_is_answered(path: str) -> None:
    assert status(path) == 401
    assert status(path, cookies()) == 200


@pytest.mark.parametrize("path", PUBLIC)
def test_the_way_in_is_open(path: str) -> None:
    assert status(path) == 200
    assert status(path, method="PUT") == 401


def test_an_upload_needs_who_signed_in() -> None:
    assert status("/_stcore/upload_file/tab/file", method="PUT") == 401
    assert status("/_stcore/upload_file/tab/file", cookies(), method="PUT") == 200


@pytest.mark.parametrize(
    "given",
    [
        cookies("z" * 32),
        cookies(origin="http://elsewhere"),
        cookies(email="eve@example.org"),
        cookies(email_verified=False),
        cookies(iat=time.time() - 13 * 3600),
        cookies(is_logged_in=False),
        {"_streamlit_user": "nonsense"},
        {"_streamlit_user": create_signed_value(SECRET, "_streamlit_user", "[1]").decode()},
        {"_streamlit_user": create_signed_value(SECRET, "_streamlit_user", "chunks-99").decode()},
        {"_streamlit_user": create_signed_value(SECRET, "other", json.dumps(CLAIMS)).decode()},
    ],
    ids=[
        "forged",
        "another server's",
        "not listed",
        "unverified",
        "too old",
        "signed out",
        "nonsense",
        "no object",
        "chunks that are missing",
        "another cookie's",
    ],
)
def test_a_cookie_that_is_not_good_opens_nothing(given: dict[str, str]) -> None:
    assert status("/media/0a1b.png", given) == 401


def test_a_long_cookie_comes_in_parts() -> None:
    given = cookies(groups=[secrets.token_hex(30) for _ in range(100)])
    assert len(given) > 2
    assert status("/media/0a1b.png", given) == 200


def test_a_cookie_opens_nothing_once_its_person_has_signed_out() -> None:
    given = cookies(sub="another")
    assert status("/media/0a1b.png", given) == 200
    status("/auth/logout", given)
    assert status("/media/0a1b.png", given) == 401


@pytest.mark.parametrize("at_rest", [False, True])
def test_an_open_tab_is_closed_when_its_person_may_no_longer_come_in(
    at_rest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "ADMISSION_TTL_S", 0.0)
    monkeypatch.setattr(middleware, "CHECK_INTERVAL_S", 0.02 if at_rest else 60.0)

    async def one_leaves() -> None:
        async with Tab(cookies()) as tab:
            await tab.told()
            await tab.press()
            assert (await tab.told())["text"] == "drawn"
            monkeypatch.setenv("ENSEMBLE_ALLOW", "bob@example.org")
            if not at_rest:
                await tab.press()
            assert ForwardMsg.FromString((await tab.told())["bytes"]).auth_redirect.url == "/"
            assert await tab.told() == {"type": "websocket.close", "code": middleware.CLOSE_CODE_REFUSED}

    asyncio.run(one_leaves())


def test_a_visitor_does_not_go_on_with_the_tab_of_another() -> None:
    async def heard(given: dict[str, str]) -> str:
        async with Tab(given, "streamlit,token,a-tab") as tab:
            return str((await tab.told())["text"])

    assert asyncio.run(heard({})) == "streamlit,token"
    assert asyncio.run(heard(cookies())) == "streamlit,token,a-tab"


def test_a_proxys_header_is_who_comes_and_two_are_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors._IdentityState, "sharing", AccessMode.PROXY)
    monkeypatch.setattr(visitors._IdentityState, "header", "X-Forwarded-Email")
    path, mine = "/media/0a1b.png", ("X-Forwarded-Email", "Ann@example.org")
    assert status(path, None, mine) == 200
    assert status(path, None, ("X-Forwarded-Email", "")) == 401
    assert status(path, None, mine, mine) == 401
    assert status(path, cookies()) == 401, "a cookie is no header"


def test_with_sign_in_a_header_is_nobody() -> None:
    assert status("/media/0a1b.png", None, ("X-Forwarded-Email", "ann@example.org")) == 401


@pytest.mark.parametrize(
    ("server", "elsewhere"),
    [
        (("127.0.0.1", 8501), False),
        (("::1", 8501, 0, 0), False),
        (None, False),
        (("testserver", 80), False),
        (("/run/app.sock", None), False),
        (("::ffff:127.0.0.1", 8501), False),
        (("192.0.2.2", 8501), True),
        (("fe80::1%eth0", 8501), True),
        (("2001:db8::1", 8501), True),
        (("::ffff:192.0.2.2", 8501), True),
    ],
)
def test_a_server_of_ones_own_answers_its_own_machine_alone(
    server: tuple[object, ...] | None, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors._IdentityState, "sharing", AccessMode.ALONE)
    assert status("/media/a.png", server=server) == (403 if elsewhere else 200)


def test_the_base_path_is_no_way_around(monkeypatch: pytest.MonkeyPatch) -> None:
    before = st.get_option
    options = {"server.baseUrlPath": "static"}
    monkeypatch.setattr(st, "get_option", lambda name: options.get(name, before(name)))
    assert status("/static/media/0a1b.png") == 401
    assert status("/static/static/js/index.js") == 200
