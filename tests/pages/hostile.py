"""Words that would do harm as Markdown or HTML, and all that a page hands to the browser."""

import json
import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

# Each begins like something of Streamlit's Markdown; `zz` is in nothing that the app says.
PARTS = (
    "![zz](http://zz.example/zz.png)", "[zz](http://zz.example)", "http://zz.example",
    "www.zz.example", "zz@zz.example", "**zz**", "`zz`", "$zz$", ":red[zz]", ":material/zz:",
    "<b>zz</b>", "~~zz~~",
)  # fmt: skip
WORDS = " ".join(PARTS)
# A name may have 80 characters, and of a run's id in a link 40 are said.
NAME = "![zz](http://zz.example) :red[zz] $zz$ <b>zz</b> :material/zz: www.zz.example"
LINK = "![zz](http://zz.example) :red[zz] $zz$"
# What a browser would take for markup; escaped, something stands before or within it.
RAW = re.compile(
    r"(?<!\\)[\[`$]zz|http://zz|www\.zz|zz@zz|(?<!\\)\*\*zz|:red\[|:material/zz|<b>zz|(?<!\\)~~zz"
)

# Where the browser shows text as it is, each tried in one: (element, field).
PLAIN = {
    ("selectbox", "options"), ("multiselect", "options"), ("text_input", "placeholder"),
    ("text_input", "default"), ("text_input", "value"), ("text_area", "default"),
    ("text_area", "value"), ("text_area", "placeholder"), ("text", "body"), ("code", "code_text"),
    ("arrow_data_frame", "alt"), ("plotly_chart", "alt"), ("image", "alt"),
    ("page_link", "query_string"), ("bidi_component", "json"), ("selectbox", "raw_value"),
    ("multiselect", "raw_values"), ("dataframe", "alt"), ("dataframe", "columns"),
}  # fmt: skip


def holes(at: AppTest) -> list[tuple[str, str, str]]:
    """Every hostile word that the browser would take for markup: element, field and text."""
    return [
        (kind, field, text)
        for kind, field, text in strings(at)
        if (kind, field) not in PLAIN and RAW.search(text)
    ]


def literal(at: AppTest) -> str:
    """All that is on the page as a browser shows it: without what escapes it."""
    return " ".join(text for _, _, text in strings(at)).replace("\\", "").replace("\u2060", "")


def strings(at: AppTest) -> Iterator[tuple[str, str, str]]:
    """Every text that the page hands to the browser, with its element and its field."""
    for node in nodes(at._tree):
        kind = str(node.type)
        if (proto := getattr(node, "proto", None)) is not None:
            for field, text in fields(proto):
                yield from (
                    drawn(text)
                    if (kind, field) == ("plotly_chart", "spec")
                    else [(kind, field, text)]
                )


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
