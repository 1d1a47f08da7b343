"""The page's own style within the frame of the page, so that nothing moves once it is drawn.

A style that a script sends comes after the first things stand: the menu and the settings would
jump. `drawer.js` adds it only if the frame came without it, because a rule that is there twice is matched twice.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ensemble.ui.frame.logo import STYLE_ID, load_stylesheet

_MAX_FRAME_BYTES = 1_000_000  # of a page's frame; a larger answer is none
# A frame that is sent anew each time, and not compressed, as it is to be written into.
_DROPPED_REQUEST_HEADERS = (b"accept-encoding", b"if-none-match", b"if-modified-since")


# A page's sidebar has its place from the start; once the page is drawn, `drawer.js` sees to it.
_SIDEBAR_STYLE = """
@media (min-width: 769px) {
  :is([data-page=train], [data-page=tune], [data-page=numbers], [data-page=parallel]) {
    [data-testid=stMainBlockContainer] { padding-inline: 2.5rem; }
    [data-testid=stAppViewContainer]:not(:has(> [data-testid=stSidebar]), :has(.st-key-sign_in)) {
      box-sizing: border-box;
      padding-left: 300px;
    }
  }
}
"""
_PAGE_SCRIPT = "document.documentElement.dataset.page = location.pathname.split('/').at(-1) || 'train'"


class PageStyleMiddleware:
    """Writes the style into every page that a browser opens."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not _wants_page(scope):
            return await self._app(scope, receive, send)
        headers = [(name, value) for name, value in scope["headers"] if name not in _DROPPED_REQUEST_HEADERS]
        first: list[Message] = []
        body = bytearray()

        async def send_styled(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                first.append(message)
                return
            if not first or message["type"] != "http.response.body":
                return await send(message)
            body.extend(message.get("body", b""))
            if message.get("more_body") and len(body) < _MAX_FRAME_BYTES:
                return
            start = first.pop()
            styled = add_page_style(bytes(body))
            MutableHeaders(scope=start).update({"Content-Length": str(len(styled))})
            if message.get("more_body"):  # Far too large for a frame: as it comes.
                del MutableHeaders(scope=start)["Content-Length"]
            await send(start)
            await send({**message, "body": styled})

        await self._app({**scope, "headers": headers}, receive, send_styled)


def _wants_page(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")


def _is_page(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return message["status"] == 200 and kind.startswith("text/html")


def add_page_style(page: bytes) -> bytes:
    """The page with the style at the end of its head."""
    style = f'<style id="{STYLE_ID}">{load_stylesheet()}\n{_SIDEBAR_STYLE}</style>'
    script = f"<script>{_PAGE_SCRIPT}</script>"
    return page.replace(b"</head>", f"{style}{script}</head>".encode(), 1)
