"""Words that would do harm as Markdown or HTML, and all that a page hands to the browser."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from streamlit.testing.v1 import AppTest

# Each begins like something of Streamlit's Markdown; `zz` is in nothing that the app says.
PARTS = (
    "![zz](http://zz.example/zz.png)",
    "[zz](http://zz.example)",
    "http://zz.example",
    "www.zz.example",
    "zz@zz.example",
    "**zz**",
    "`zz`",
    "$zz$",
    ":red[zz]",
    ":material/zz:",
    "<b>zz</b>",
    "~~zz~~",
)
WORDS = " ".join(PARTS)
# A name may have 80 characters, and of a run's id in a link 40 are said.
NAME = "![zz](http://zz.example) :red[zz] $zz$ <b>zz</b> :material/zz: www.zz.example"
LINK = "![zz](http://zz.example) :red[zz] $zz$"
# What a browser would take for markup; escaped, something stands before or within it.
RAW = re.compile(r"(?<!\\)[\[`$]zz|http://zz|www\.zz|zz@zz|(?<!\\)\*\*zz|:red\[|:material/zz|<b>zz|(?<!\\)~~zz")

# Where the browser shows text as it is, each tried in one: (element, field).
PLAIN = {
    ("selectbox", "options"),
    ("multiselect", "options"),
    ("text_input", "placeholder"),
    ("text_input", "default"),
    ("text_input", "value"),
    ("text_area", "default"),
    ("text_area", "value"),
    ("text_area", "placeholder"),
    ("text", "body"),
    ("code", "code_text"),
    ("arrow_data_frame", "alt"),
    ("plotly_chart", "alt"),
    ("image", "alt"),
    ("page_link", "query_string"),
    ("bidi_component", "json"),
    ("selectbox", "raw_value"),
    ("multiselect", "raw_values"),
    ("html", "text"),
    ("dataframe", "alt"),
    ("dataframe", "columns"),
}


def holes(at: AppTest) -> list[tuple[str, str, str]]:
    """Every hostile word that the browser would take for markup: element, field and text."""
    return [(kind, field, text) for kind, field, text in strings(at) if (kind, field) not in PLAIN and RAW.search(text)]


def literal(at: AppTest) -> str:
    """All that is on the page as a browser shows it: without what escapes it."""
    return " ".join(text for _, _, text in strings(at)).replace("\\", "").replace("\u2060", "")


def strings(at: AppTest) -> Iterator[tuple[str, str, str]]:
    """Every text that the page hands to the browser, with its element and its field."""
    for node in nodes(at._tree):
        kind = str(node.type)
        if (proto := getattr(node, "proto", None)) is not None:
            for field, text in fields(proto):
                read = READ.get((kind, field))
                yield from read(text) if read else [(kind, field, text)]


def nodes(node: Any) -> Iterator[Any]:
    """The node and all under it."""
    yield node
    for child in getattr(node, "children", {}).values():
        yield from nodes(child)


def fields(message: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a protobuf message, by the name of its innermost field."""
    for field, value in message.ListFields():
        repeated = [value] if isinstance(value, str) or hasattr(value, "ListFields") else value
        for one in repeated if not isinstance(repeated, int | float | bytes) else ():
            if isinstance(one, str):
                yield field.name, one
            elif hasattr(one, "ListFields"):
                yield from fields(one, field.name)


def drawn(spec: str) -> Iterator[tuple[str, str, str]]:
    """Every text of a Plotly figure, which reads a little HTML and no Markdown."""
    ahead = [json.loads(spec)]
    while ahead:
        one = ahead.pop()
        if isinstance(one, str):
            yield "plotly_chart", "spec", one if "<b>zz" in one else ""
        elif isinstance(one, dict | list):
            ahead += one.values() if isinstance(one, dict) else one


def marked_up(body: str) -> Iterator[tuple[str, str, str]]:
    """HTML as a browser reads it: the text, and apart from that what its tags are and do."""
    reader = Tags()
    reader.feed(body)
    reader.close()
    yield "html", "text", "".join(reader.text)
    yield from (("html", "body", tag) for tag in reader.tags)


class Tags(HTMLParser):
    """Each tag with the text right behind it, and with attributes that do not only hold words."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self._tag = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = f"<{tag}>"
        self.tags += [
            f"{name}={value}" for name, value in attrs if not name.startswith("data-") and name not in HOLD_WORDS
        ]

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        self.tags.append(f"{self._tag}{data[:2]}")
        self._tag = ""


# What reads the text of an element otherwise than as Markdown, and attributes that do nothing.
READ = {("plotly_chart", "spec"): drawn, ("html", "body"): marked_up}
HOLD_WORDS = {"alt", "title", "aria-label", "value"}
