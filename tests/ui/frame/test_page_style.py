"""The page's style is written into its frame, and nothing else is touched."""

import asyncio
import re
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from ensemble.ui.frame.logo import load_stylesheet
from ensemble.ui.frame.page_style import PageStyleMiddleware, add_page_style

PAGE = "<html><head><title>x</title></head><body>é</body></html>"


def ask(answer: Response, accept: str = "text/html", method: str = "GET") -> tuple[Any, ...]:
    """Status, headers and body as a browser gets them; the headers that the app was asked by."""
    asked: dict[str, str] = {}
    sent: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        asked.update(Request(scope).headers)
        await answer(scope, receive, send)

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"accept", accept.encode()), (b"accept-encoding", b"gzip"), (b"if-none-match", b"x")]
    scope = {"type": "http", "method": method, "path": "/train", "headers": headers}
    asyncio.run(PageStyleMiddleware(app)(scope, receive, send))
    start, *bodies = sent
    body = b"".join(one.get("body", b"") for one in bodies)
    return start["status"], dict(start["headers"]), body, asked


def test_a_page_has_the_style_in_its_head_and_its_length_is_right() -> None:
    status, headers, body, asked = ask(HTMLResponse(PAGE))
    assert status == 200
    assert int(headers[b"content-length"]) == len(body)
    head, rest = body.decode().split("</head>")
    assert rest == "<body>é</body></html>"
    assert load_stylesheet() in head
    assert "accept-encoding" not in asked
    assert "if-none-match" not in asked


@pytest.mark.parametrize(
    ("answer", "accept", "method"),
    [
        (JSONResponse({"a": "</head>"}), "text/html", "GET"),
        (HTMLResponse(PAGE, 404), "text/html", "GET"),
        (HTMLResponse(PAGE), "image/png", "GET"),
        (HTMLResponse(PAGE), "text/html", "POST"),
    ],
)
def test_what_is_no_page_stays_as_it_is(answer: Response, accept: str, method: str) -> None:
    status, headers, body, _ = ask(answer, accept, method)
    assert (status, body) == (answer.status_code, answer.body)
    assert int(headers[b"content-length"]) == len(body)


def test_the_style_names_no_file_and_a_page_without_a_head_is_left_alone() -> None:
    assert "icon.svg" not in load_stylesheet()
    assert "data:image/svg+xml;base64," in load_stylesheet()
    assert add_page_style(b"<p>x</p>") == b"<p>x</p>"


def test_has_selectors_are_tested_on_few_elements_and_look_for_a_class() -> None:
    """`div:has(…)` is tested on each div, and attributes, unlike classes, change whenever Streamlit draws."""
    elements = r"(?:\.stElementContainer|\[data-testid=\"?st(?:LayoutWrapper|PopoverBody|AppViewContainer)\"?\])"
    argument = r"\((?:> )?(?:\.[\w-]+|:is\(\.[\w-]+(?:, \.[\w-]+)*\))\)"
    style = load_stylesheet()
    assert len(re.findall(rf"{elements}:has{argument}", style)) == style.count(":has(") > 10
