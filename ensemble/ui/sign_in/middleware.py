"""What the server keeps from who has not signed in: every answer but the way to sign in.

It stands before Streamlit, which hands pictures, uploads and downloads to whoever knows their
address, and lets a tab go on for as long as it is open.
"""

import asyncio
import contextlib
import re
import time
from urllib.parse import unquote_to_bytes

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ensemble.access import Person, limits
from ensemble.access.exposure import HOW, Sharing, is_loopback
from ensemble.ui.sign_in import uploads, visitors
from ensemble.ui.sign_in.messages import is_for_pages, leave

SIGN_IN_FIRST = "Sign in first: open this server's page in a browser.\n"
NOT_SHARED = f"This server is for its own machine alone. To let others in, {HOW}.\n"
TOO_MANY = "You have uploaded many files within a minute: wait for one, then go on.\n"
TOO_MUCH = (
    "What you have uploaded takes all the memory that one person may have here: take files out, or "
    "close the tabs that they are in, then go on.\n"
)
NOT_PLAIN = "This is no answer of a provider: open this server's page, and sign in from there.\n"
NOT_ASKED = "Another site asked to sign you out: do that on this server's page, if you want to.\n"
LOGOUT, UPLOAD = "/auth/logout", "/_stcore/upload_file/"
CALLBACK = "/oauth2callback"
CONTROL = re.compile(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")  # in UTF-8
# What tells nothing of what is here: Streamlit's own files, the pages' empty frame (one for all),
# and the way to the provider and back.
OPEN = re.compile(
    r"/([a-z][a-z-]*)?|/static/(?!.*\.\.).+|/favicon\.[a-z]+|(/[a-z-]+)?/_stcore/(health|host-config)"
)
WAY_IN = re.compile(r"/auth/(login|logout)|/oauth2callback")
# A tab that is open learns within so many seconds that its visitor may no longer see what it
# shows; nothing is sent to it, and nothing taken from it, a second after that is so.
LOOK_SECONDS, FRESH_SECONDS = 5.0, 1.0
# So many tabs may ask to sign in at once: each takes four open files, and costs who asks nothing.
MOST_VISITORS, FULL = 200, 1013
REFUSED = 1008  # a WebSocket's word for it: the browser opens another, and is asked to sign in


class SignInMiddleware:
    """Lets through who has signed in and may come in; asks anew while a tab is open."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as ASGI has it."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        if visitors.sharing() is Sharing.ALONE and is_from_elsewhere(scope):
            return await _refuse(scope, receive, send, NOT_SHARED, 403)
        if not visitors.is_shared():
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            return await Watched(self._app, scope, receive, send).serve()
        connection = HTTPConnection(scope)
        if path_of(scope) == CALLBACK and CONTROL.search(unquote_to_bytes(scope["query_string"])):
            # Streamlit logs what a provider says, and anybody may say that they are one.
            return await _refuse(scope, receive, send, NOT_PLAIN, 400)
        if path_of(scope) == LOGOUT:
            if connection.headers.get("sec-fetch-site") == "cross-site":
                return await _refuse(scope, receive, send, NOT_ASKED, 403)
            visitors.sign_out(connection)
        if is_open(scope):
            return await self._app(scope, receive, send)
        if not (visit := visitors.behind(connection)).admitted:
            return await _refuse(scope, receive, send, SIGN_IN_FIRST, 401)
        if is_upload(scope):
            return await self._upload(visit.person, scope, receive, send)
        await self._app(scope, receive, send)

    async def _upload(self, person: Person, scope: Scope, receive: Receive, send: Send) -> None:
        if not limits.may_upload(person):
            return await _refuse(scope, receive, send, TOO_MANY, 429)
        tab, nbytes = path_of(scope).removeprefix(UPLOAD).partition("/")[0], uploads.size_of(scope)
        with uploads.coming(person.name, tab, nbytes, limits.upload_bytes(person)) as fits:
            if not fits:
                return await _refuse(scope, receive, send, TOO_MUCH, 413)
            await self._app(scope, receive, send)


class Watched:
    """A tab's WebSocket, which is closed once its visitor may no longer come in.

    Attributes:
      visitors: how many tabs are open of who has not signed in.
    """

    visitors = 0

    def __init__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        self._app, self._scope, self._receive, self._send = app, scope, receive, send
        self._looked, self._admitted, self._closed = 0.0, False, False

    async def serve(self) -> None:
        """The tab, to its end."""
        if self._may():
            return await self._serve()
        if Watched.visitors >= MOST_VISITORS:
            return await self._send({"type": "websocket.close", "code": FULL})
        self._scope = anonymous(self._scope)
        Watched.visitors += 1
        try:
            await self._serve()
        finally:
            Watched.visitors -= 1

    async def _serve(self) -> None:
        looking = asyncio.create_task(self._look())
        try:
            await self._app(self._scope, self._taken, self._told)
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking

    def _may(self) -> bool:
        """Whether they may come in still; who never might has nothing to lose."""
        now = time.monotonic()
        if now - self._looked >= FRESH_SECONDS or not self._looked:
            was, self._looked = self._admitted, now
            self._admitted = visitors.behind(HTTPConnection(self._scope)).admitted
            self._closed = self._closed or (was and not self._admitted)
        return self._admitted

    async def _look(self) -> None:
        while not self._closed:
            await asyncio.sleep(LOOK_SECONDS)
            self._may()
        await self._close()

    async def _close(self) -> None:
        with contextlib.suppress(Exception):  # It may be gone already.
            await self._send({"type": "websocket.send", "bytes": leave()})
            await self._send({"type": "websocket.close", "code": REFUSED})

    async def _taken(self) -> Message:
        while (message := await self._receive())["type"] == "websocket.receive":
            self._may()
            if self._closed:
                await self._close()
                return {"type": "websocket.disconnect", "code": REFUSED}
            if is_for_pages(message.get("bytes"), self._admitted):
                break
        return message

    async def _told(self, message: Message) -> None:
        if message["type"] == "websocket.send":
            self._may()
        if not self._closed:
            await self._send(message)


def anonymous(scope: Scope) -> Scope:
    """A WebSocket's request without the tab that it wants to go on with: it begins a new one."""
    scope = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=scope)
    name = "sec-websocket-protocol"
    words = headers.get(name, "").split(",")
    if len(words) > 2:
        headers[name] = ",".join(words[:2])
    return scope


def is_open(scope: Scope) -> bool:
    """Whether a request is for what anybody may have, so that they can sign in."""
    path = path_of(scope)
    if visitors.sharing() is Sharing.SIGN_IN and WAY_IN.fullmatch(path):
        return scope["method"] in ("GET", "HEAD")
    return scope["method"] in ("GET", "HEAD") and OPEN.fullmatch(path) is not None


def is_upload(scope: Scope) -> bool:
    """Whether a request hands a file in."""
    return scope["method"] in ("PUT", "POST") and path_of(scope).startswith(UPLOAD)


def path_of(scope: Scope) -> str:
    """A request's path as Streamlit's routes read it, below `server.baseUrlPath`."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    base = st.get_option("server.baseUrlPath").strip("/")
    for above in (root, f"/{base}" if base else ""):
        if above and (path == above or path.startswith(f"{above}/")):
            path = path[len(above) :] or "/"
    return path


def is_from_elsewhere(scope: Scope) -> bool:
    """Whether a request came in by an address of this machine that others reach."""
    server = scope.get("server")
    at = str(server[0]) if server else ""
    # A number is what it listens on; a name is none, such as a test's.
    return bool(re.fullmatch(r"[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.%\w]*", at)) and not is_loopback(
        at.removeprefix("::ffff:")
    )


async def _refuse(scope: Scope, receive: Receive, send: Send, said: str, status: int) -> None:
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": REFUSED})
    headers = {"Cache-Control": "no-store"}
    await PlainTextResponse(said, status, headers)(scope, receive, send)
