"""A report taken apart: its elements, its scripts, and the figures that are packed in it."""

import base64
import gzip
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "img", "br", "link", "input"}


@dataclass
class Element:
    """One element of a page, with the text that stands in it and in those within it."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    parents: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """A page as a browser takes it apart."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, dict(attrs), parents=[one.tag for one in self.open])
        self.elements.append(found)
        if tag not in VOID:
            self.open.append(found)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        for one in self.open:
            one.text += data

    def all(self, *tags: str) -> list[Element]:
        return [one for one in self.elements if one.tag in tags]

    def by_class(self, name: str) -> list[Element]:
        return [one for one in self.elements if name in (one.attributes.get("class") or "").split()]

    def packed(self, name: str) -> str:
        """What is packed in the element of this id."""
        found = next(one for one in self.all("script") if one.attributes.get("id") == name)
        return gzip.decompress(base64.b64decode(found.text, validate=True)).decode()

    @property
    def figures(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.packed("figures"))
        return found

    @property
    def said(self) -> str:
        """All that is to be read on it, its blanks as one."""
        body = next(one for one in self.all("main"))
        return " ".join(body.text.split())
