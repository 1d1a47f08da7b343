"""Everything that a page shows, as lines of text."""

import json
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

from tests.snapshots.rendering import hash_text, render_table, render_value

# What people read or press. The other fields are of the layout, or differ between versions of Streamlit.
SHOWN = {
    *("label", "body", "value", "default", "options", "help", "icon", "placeholder", "caption", "captions", "page"),
    *("codeText", "queryString", "color", "disabled", "min", "max", "step", "content", "delta", "text", "open"),
    *("acceptNewOptions", "type", "clickMode", "maxUploadSizeMb", "multipleFiles", "setValue", "expanded", "name"),
}
LONGEST_TEXT = 10_000  # characters; of longer ones (glossary, scripts) the hash is compared


def render_page(at: AppTest) -> Iterator[str]:
    yield from render_block(at.main, "")
    yield from render_block(at.sidebar, "")


def render_block(block: Block, indent: str) -> Iterator[str]:
    """Yield the elements of a block and, indented, of the blocks within."""
    for child in block.children.values():
        if isinstance(child, Block):
            fields = find_shown(child.proto) if child.proto is not None else {}
            if fields:
                yield f"{indent}{child.type}: {format_fields(fields)}"
            yield from render_block(child, indent + "  " * bool(fields))
        elif child.type not in ("html", "iframe", "skeleton", "space"):
            yield f"{indent}{child.type}: {format_fields(find_shown(child.proto))}"
            yield from (f"{indent}{line}" for line in render_data(child))


def render_data(element: Element) -> Iterator[str]:
    """Yield the rows, the marks or the data of an element that is drawn from data."""
    match element.type:
        case "arrow_data_frame" | "arrow_table":
            yield from render_table(element.value)
        case "bidi_component" if sent := element.proto.json:
            yield f"  {render_value(drop_addresses(json.loads(sent)))}"
        case "plotly_chart":  # Its numbers are those of the view's figure.
            figure = json.loads(element.proto.spec)
            yield f"  {[(trace['type'], trace.get('name')) for trace in figure['data']][:20]}"


def drop_addresses(value: Any) -> Any:
    """Leave out pictures and addresses of files, which have the numbers of the session in them."""
    if isinstance(value, dict):
        return {
            name: drop_addresses(inner)
            for name, inner in value.items()
            if name not in ("uid", "template", "legendgroup")
        }
    if isinstance(value, list):
        return [drop_addresses(inner) for inner in value]
    return "…" if isinstance(value, str) and value.startswith(("data:", "/media/")) else value


def find_shown(message: Any) -> dict[str, Any]:
    """The fields that are shown, of an element or of what it holds: a message of Protocol Buffers."""
    found: dict[str, Any] = {}
    for field, value in message.ListFields():
        if hasattr(value, "ListFields"):
            found |= find_shown(value)
        elif field.json_name in SHOWN and isinstance(value, str | float | int):
            found[field.json_name] = value
        elif field.json_name in SHOWN:
            found[field.json_name] = [find_shown(one) if hasattr(one, "ListFields") else one for one in value]
    return found


def format_fields(fields: dict[str, Any]) -> str:
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in fields.items()}
    return " ".join(f"{name}={hash_text(text) if len(text) > LONGEST_TEXT else text}" for name, text in texts.items())
