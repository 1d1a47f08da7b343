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

from ensemble.access import Person, usage_limits
from ensemble.access.server_access import SIGN_IN_ADVICE, AccessMode, is_loopback_address
from ensemble.ui.sign_in import uploads, visitors
from ensemble.ui.sign_in.messages import build_leave_message, is_message_allowed
from ensemble.ui.sign_in.visitor_tabs import VisitorTab, VisitorTabs, find_visitor_address

_SIGN_IN_FIRST = "Sign in first: open this server's page in a browser.\n"
_NOT_SHARED = f"This server is for its own machine alone. To let others in, {SIGN_IN_ADVICE}.\n"
_TOO_MANY_UPLOADS = "You have uploaded many files within a minute: wait for one, then go on.\n"
_UPLOAD_MEMORY_EXCEEDED = (
    "What you have uploaded takes all the memory that one person may have here: take files out, or "
    "close the tabs that they are in, then go on.\n"
)
_INVALID_CALLBACK = "This is not an answer from a sign-in provider: open this server's page, and sign in from there.\n"
_CROSS_SITE_LOGOUT = "Another site asked to sign you out: do that on this server's page, if you want to.\n"
_LOGOUT_PATH, _UPLOAD_PATH = "/auth/logout", "/_stcore/upload_file/"
_CALLBACK_PATH = "/oauth2callback"
_CONTROL_CHARACTERS = re.compile(rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")  # in UTF-8
# What tells nothing of what is here: Streamlit's own files, the pages' empty frame (one for all),
# and the way to the provider and back.
_PUBLIC_PATHS = re.compile(
    r"/([a-z][a-z-]*)?|/static/(?!.*\.\.).+|/favicon\.[a-z]+|(/[a-z-]+)?/_stcore/(health|host-config)"
)
_SIGN_IN_PATHS = re.compile(r"/auth/(login|logout)|/oauth2callback")
# A tab that is open learns within so many seconds that its visitor may no longer see what it
# shows; nothing is sent to it, and nothing taken from it, a second after that is so.
CHECK_INTERVAL_S, ADMISSION_TTL_S = 5.0, 1.0
_CLOSE_CODE_FULL = 1013  # a browser's word for it: try again later
CLOSE_CODE_REFUSED = 1008  # a WebSocket's word for it: the browser opens another, and is asked to sign in


class SignInMiddleware:
    """Lets through who has signed in and may come in; asks anew while a tab is open."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        if visitors.get_sharing_mode() is AccessMode.ALONE and _is_remote_request(scope):
            return await _refuse_request(scope, receive, send, _NOT_SHARED, 403)
        if not visitors.is_server_shared():
            return await self._app(scope, receive, send)
        if scope["type"] == "websocket":
            return await _TabConnection(self._app, scope, receive, send).serve()
        connection = HTTPConnection(scope)
        if _get_request_path(scope) == _CALLBACK_PATH and _CONTROL_CHARACTERS.search(
            unquote_to_bytes(scope["query_string"])
        ):
            # Streamlit logs what a provider says, and anybody may say that they are one.
            return await _refuse_request(scope, receive, send, _INVALID_CALLBACK, 400)
        if _get_request_path(scope) == _LOGOUT_PATH:
            if connection.headers.get("sec-fetch-site") == "cross-site":
                return await _refuse_request(scope, receive, send, _CROSS_SITE_LOGOUT, 403)
            visitors.sign_out_connection(connection)
        if _is_public_request(scope):
            return await self._app(scope, receive, send)
        if not (visit := visitors.identify_connection(connection)).is_admitted:
            return await _refuse_request(scope, receive, send, _SIGN_IN_FIRST, 401)
        if is_upload_request(scope):
            return await self._admit_upload(visit.person, scope, receive, send)
        await self._app(scope, receive, send)

    async def _admit_upload(self, person: Person, scope: Scope, receive: Receive, send: Send) -> None:
        if not usage_limits.register_upload(person):
            return await _refuse_request(scope, receive, send, _TOO_MANY_UPLOADS, 429)
        tab, nbytes = (
            _get_request_path(scope).removeprefix(_UPLOAD_PATH).partition("/")[0],
            uploads.get_upload_size(scope),
        )
        with uploads.reserve_upload(person.name, tab, nbytes, usage_limits.upload_bytes_per_person(person)) as fits:
            if not fits:
                return await _refuse_request(scope, receive, send, _UPLOAD_MEMORY_EXCEEDED, 413)
            await self._app(scope, receive, send)


class _TabConnection:
    """A tab's WebSocket, which is closed once its visitor may no longer come in."""

    def __init__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        self._app, self._scope, self._receive, self._send = app, scope, receive, send
        self._looked, self._admitted, self._closed = 0.0, False, False
        self._visitor_tab: VisitorTab | None = None  # of who has not signed in

    async def serve(self) -> None:
        if self._is_admitted():
            return await self._serve_app()
        with _visitor_tabs.admit(find_visitor_address(self._scope)) as self._visitor_tab:
            self._scope = _strip_session_token(self._scope)
            await self._serve_app()

    async def _serve_app(self) -> None:
        looking = asyncio.create_task(self._poll_admission())
        try:
            await self._app(self._scope, self._receive_message, self._send_message)
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking

    def _is_admitted(self) -> bool:
        """Whether they may come in still; who never might has nothing to lose."""
        now = time.monotonic()
        if now - self._looked >= ADMISSION_TTL_S or not self._looked:
            was, self._looked = self._admitted, now
            self._admitted = visitors.identify_connection(HTTPConnection(self._scope)).is_admitted
            self._closed = self._closed or (was and not self._admitted)
        return self._admitted

    async def _poll_admission(self) -> None:
        while not self._closed:
            await asyncio.sleep(CHECK_INTERVAL_S)
            self._is_admitted()
            if self._visitor_tab:
                self._visitor_tab.release_if_silent()
        await self._close()

    async def _close(self) -> None:
        with contextlib.suppress(Exception):  # It may be gone already.
            await self._send({"type": "websocket.send", "bytes": build_leave_message()})
            await self._send({"type": "websocket.close", "code": CLOSE_CODE_REFUSED})

    async def _receive_message(self) -> Message:
        while (message := await self._receive_or_release())["type"] == "websocket.receive":
            self._is_admitted()
            if self._closed:
                await self._close()
                return {"type": "websocket.disconnect", "code": CLOSE_CODE_REFUSED}
            if is_message_allowed(message.get("bytes"), self._admitted):
                break
        return message

    async def _receive_or_release(self) -> Message:
        """The next message; as of a tab that has gone, where a visitor's is to be closed."""
        if self._visitor_tab is None:
            return await self._receive()
        message = await self._visitor_tab.wait_for(self._receive())
        if message is not None:
            if message["type"] == "websocket.receive":
                self._visitor_tab.note_message()
            return message
        self._closed = True
        with contextlib.suppress(Exception):  # It may be gone already.
            await self._send({"type": "websocket.close", "code": _CLOSE_CODE_FULL})
        return {"type": "websocket.disconnect", "code": _CLOSE_CODE_FULL}

    async def _send_message(self, message: Message) -> None:
        if message["type"] == "websocket.send":
            self._is_admitted()
        if not self._closed:
            await self._send(message)


_visitor_tabs = VisitorTabs()


def _strip_session_token(scope: Scope) -> Scope:
    """A WebSocket's request without the tab that it wants to go on with: it begins a new one."""
    scope = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=scope)
    name = "sec-websocket-protocol"
    words = headers.get(name, "").split(",")
    if len(words) > 2:
        headers[name] = ",".join(words[:2])
    return scope


def _is_public_request(scope: Scope) -> bool:
    """Whether a request is for what anybody may have, so that they can sign in."""
    path = _get_request_path(scope)
    if visitors.get_sharing_mode() is AccessMode.SIGN_IN and _SIGN_IN_PATHS.fullmatch(path):
        return scope["method"] in ("GET", "HEAD")
    return scope["method"] in ("GET", "HEAD") and _PUBLIC_PATHS.fullmatch(path) is not None


def is_upload_request(scope: Scope) -> bool:
    return scope["method"] in ("PUT", "POST") and _get_request_path(scope).startswith(_UPLOAD_PATH)


def _get_request_path(scope: Scope) -> str:
    """A request's path as Streamlit's routes read it, below `server.baseUrlPath`."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    base = st.get_option("server.baseUrlPath").strip("/")
    for above in (root, f"/{base}" if base else ""):
        if above and (path == above or path.startswith(f"{above}/")):
            path = path[len(above) :] or "/"
    return path


def _is_remote_request(scope: Scope) -> bool:
    server = scope.get("server")
    at = str(server[0]) if server else ""
    # A number is what it listens on; a name is none, such as a test's.
    return bool(re.fullmatch(r"[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.%\w]*", at)) and not is_loopback_address(
        at.removeprefix("::ffff:")
    )


async def _refuse_request(scope: Scope, receive: Receive, send: Send, reason: str, status: int) -> None:
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": CLOSE_CODE_REFUSED})
    headers = {"Cache-Control": "no-store"}
    await PlainTextResponse(reason, status, headers)(scope, receive, send)
