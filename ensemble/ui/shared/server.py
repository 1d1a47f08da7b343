"""How the server answers, beyond the pages themselves: to whom, and what browsers are told.

Streamlit checks `server.allowedHosts` where a page opens its WebSocket; here it holds for every
answer. docs/security.md says what each header is for.
"""

import asyncio
import contextlib
import functools
import logging
import os
import threading
import webbrowser
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.starlette import App

from ensemble import runs
from ensemble.errors import EnsembleError
from ensemble.jobs import launch
from ensemble.jobs.queue import list_queued_jobs
from ensemble.machine import memory_arenas, open_files
from ensemble.machine.jax_settings import is_cpu_only
from ensemble.ui.frame.page_style import PageStyleMiddleware
from ensemble.ui.shared.stale_reruns import StaleRerunMiddleware
from ensemble.ui.sign_in import startup_check
from ensemble.ui.sign_in.middleware import SignInMiddleware

# Of a page nothing comes from elsewhere, and nobody else frames it. Streamlit's own pages need
# styles and programs within them, and figures programs that are made while they are drawn.
_CONTENT_SECURITY_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
_SECURITY_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
# Tells nothing but "ok", to whatever looks whether the server lives.
_HEALTH_PATH = "/_stcore/health"
# How long a closed tab's state is kept where files are few: a connection that is lost for longer
# begins anew.
_CLOSED_TAB_TTL_S = 10
_RESERVED_FILES = 32  # open files: for pages, and for `forget_closed_tabs`
_WEBSOCKET_PATH = "/_stcore/stream"
_FEW_FILES_MESSAGE = (
    "The system allows this server {limit:,} open files, enough for about {tabs:,} browser tabs at once: "
    "for more, raise the limit (`ulimit -Hn`, or the service's own setting) and start it again."
)
_TOO_FEW_FILES_MESSAGE = (
    "The system allows this server {limit:,} open files, too few for its pages to open: raise the "
    "limit (`ulimit -Hn`, or the service's own setting) and start it again."
)


def build_middleware() -> list[Middleware]:
    """What every request and answer passes; ends the server where others could reach it unasked."""
    raise_tab_limit()  # Before Streamlit reads its settings.
    memory_arenas.share_memory_arenas()
    startup_check.check_server_start()
    return [
        Middleware(SecurityMiddleware),
        Middleware(SignInMiddleware),
        Middleware(PageStyleMiddleware),
        Middleware(StaleRerunMiddleware),
    ]


@contextlib.asynccontextmanager
async def lifespan(app: App) -> AsyncIterator[None]:
    if few := raise_tab_limit():
        logging.getLogger("ensemble").warning(few)
        app.state["forgetting"] = asyncio.create_task(forget_closed_tabs(app))
    threading.Thread(target=_prepare_first_worker, name="warm worker", daemon=True).start()
    if not st.get_option("server.headless"):
        # Streamlit opens the browser itself only for a script without middleware.
        threading.Timer(0.5, webbrowser.open, [build_server_url()]).start()
    yield
    if os.environ.get(launch.STOP_WITH_SERVER) == "1":
        await asyncio.to_thread(launch.stop_children)


def _prepare_first_worker() -> None:
    """Have a process ready for a first run: it imports while a browser starts and draws a page.

    Not where there may be accelerators, of which it might take memory that somebody else needs, nor
    while a run has this machine: the Train page sees to it there.
    """
    with contextlib.suppress(EnsembleError, OSError):  # As it would be said to whoever launches.
        if is_cpu_only() and not list_queued_jobs():
            runs.keep_warm_worker()


async def forget_closed_tabs(app: ASGIApp) -> None:
    """Again and again have Streamlit forget the closed tabs whose time is over.

    It does so whenever a tab is closed, and else never: so one is opened and closed.
    """
    name = next((host.replace("*", "any") for host in st.get_option("server.allowedHosts")), "localhost")
    path = add_base_path(_WEBSOCKET_PATH)
    scope: Scope = {
        "type": "websocket",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", (name or "localhost").encode())],
        "subprotocols": ["streamlit"],
        "client": None,
        "server": None,
        "state": {},
    }

    async def send(message: Message) -> None:
        pass

    while True:
        await asyncio.sleep(st.get_option("server.disconnectedSessionTTL"))
        tab_messages = iter(({"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}))

        async def receive(messages: Iterator[Message] = tab_messages) -> Message:
            return next(messages)

        try:
            await app(dict(scope), receive, send)
        except Exception:
            logging.getLogger("ensemble").exception("Closed tabs could not be released")


@functools.cache
def raise_tab_limit() -> str:
    """What to say where the system allows so few open files that tabs may be refused; else "".

    Has the system allow as many as it will, for this process and all that it starts.
    """
    limit = open_files.raise_open_file_limit()
    if limit is None or not open_files.is_file_limit_low(limit):
        return ""
    # Those that were closed give theirs back sooner then.
    if st.get_option("server.disconnectedSessionTTL") > _CLOSED_TAB_TTL_S:
        config.set_option("server.disconnectedSessionTTL", _CLOSED_TAB_TTL_S)
    tabs = open_files.estimate_served_tabs(limit)
    return (_FEW_FILES_MESSAGE if tabs else _TOO_FEW_FILES_MESSAGE).format(limit=limit, tabs=tabs)


def build_server_url() -> str:
    host = st.get_option("server.address") or ""
    if host in ("", "0.0.0.0", "::"):
        host = "localhost"
    host = st.get_option("browser.serverAddress") if host == "localhost" else host
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}:{st.get_option('server.port')}{add_base_path('/')}"


def add_base_path(path: str) -> str:
    """Where a path of Streamlit's is: below `server.baseUrlPath`."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}{path}" if base else path


class SecurityMiddleware:
    """Refuses a Host that is not in `server.allowedHosts`; adds `_SECURITY_HEADERS` to answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["client"] and not _has_free_open_files():
            # The browser tries again by itself, until others are closed.
            return await send({"type": "websocket.close", "code": 1013})
        headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else Headers()
        if scope["type"] == "websocket" and not is_origin_allowed(headers):
            return await send({"type": "websocket.close", "code": 1008})
        if scope["type"] != "http":  # Streamlit checks a WebSocket's Host itself.
            return await self._app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_SECURITY_HEADERS)
            await send(message)

        answer = self._app
        if scope["path"] != add_base_path(_HEALTH_PATH) and not is_host_allowed(headers.get("host", "")):
            answer = PlainTextResponse("This name is not among server.allowedHosts.\n", 400)
        await answer(scope, receive, send_with_headers)


def _has_free_open_files() -> bool:
    if not raise_tab_limit():
        return True
    left = open_files.count_free_files()
    return left is None or left > _RESERVED_FILES


def is_origin_allowed(headers: Headers) -> bool:
    """Whether the page that opens a WebSocket is one of this server's, by its Origin.

    Streamlit looks too, but asks a machine on the internet for this one's address before it says
    no, and serves nobody until it has an answer or has waited for it.
    """
    origin = headers.get("origin")
    if origin is None or not st.get_option("server.enableCORS"):
        return True  # Browsers always send one.
    own_hosts = ("localhost", "127.0.0.1", "0.0.0.0", st.get_option("browser.serverAddress"))
    try:
        page = urlsplit(origin)
        allowed = [urlsplit(address.strip()) for address in st.get_option("server.corsAllowedOrigins")]
    except ValueError:
        return False
    return bool(page.hostname) and (
        page.netloc == headers.get("host")
        or page.hostname in (*own_hosts, *(page_url.hostname for page_url in allowed))
    )


def is_host_allowed(host: str) -> bool:
    """Whether a Host header names this server, as `server.allowedHosts` has it."""
    allowed = [pattern.strip().lower().rstrip(".") for pattern in st.get_option("server.allowedHosts")]
    try:
        name = (urlsplit(f"//{host}").hostname or "").lower().rstrip(".")
    except ValueError:
        return False
    return not allowed or any(
        pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:])) for pattern in allowed
    )
