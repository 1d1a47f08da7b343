"""What a page says in Markdown holds no word from outside that has not been escaped."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SOURCES = [*(REPO / "ensemble" / "ui").rglob("*.py"), *(REPO / "pages").glob("*.py")]
# Streamlit's elements, and how many of their first arguments are Markdown.
ELEMENTS = {
    "badge": 1,
    "button": 1,
    "caption": 1,
    "dialog": 1,
    "download_button": 1,
    "error": 1,
    "expander": 1,
    "header": 1,
    "image": 2,
    "info": 1,
    "markdown": 1,
    "metric": 3,
    "number_input": 1,
    "page_link": 2,
    "pills": 1,
    "popover": 1,
    "progress": 2,
    "select_slider": 1,
    "segmented_control": 1,
    "selectbox": 1,
    "spinner": 1,
    "subheader": 1,
    "success": 1,
    "tabs": 1,
    "text_area": 1,
    "text_input": 1,
    "title": 1,
    "toast": 1,
    "toggle": 1,
    "warning": 1,
    "write": 1,
}
KEYWORDS = {"label", "body", "help", "text", "delta", "caption"}
# Its options are Markdown too, unlike those of a box to choose from.
OPTIONS = {"pills", "radio", "segmented_control", "select_slider"}
# What an object says of itself and somebody outside may have written.
WRITTEN = {
    "class_names",
    "id",
    "message",
    "name",
    "names",
    "no_difference_reason",
    "note",
    "problem",
    "reason",
    "refusal",
    "rejection_reason",
    "why",
}
ERRORS = {"error", "problem"}
ESCAPE = "escaping.escape_markdown"
# What a run is called may be what somebody has called it.
NAMES = {"format_run_name", "format_unique_run_name"}


def unescaped(source: str) -> list[str]:
    """The words from outside that go into Markdown as they are: line and expression."""
    return [
        f"{found.lineno}: {ast.unparse(found)}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func) != ESCAPE
        for said in markdown_of(node, node.func.attr)
        for found in words(said)
    ]


def markdown_of(call: ast.Call, element: str) -> Iterator[ast.expr]:
    """The arguments of an element that the browser takes for Markdown."""
    if element not in ELEMENTS:
        return
    yield from call.args[: ELEMENTS[element]]
    for keyword in call.keywords:
        if keyword.arg in KEYWORDS or (keyword.arg == "format_func" and element in OPTIONS):
            yield keyword.value


def words(node: ast.AST) -> Iterator[ast.expr]:
    """Words from outside in an expression, but for what is escaped there."""
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called == ESCAPE:
            return
        if called in NAMES:
            yield node
            return
        # What a function makes of an object is its own affair; here only words are followed.
        inside = node.args if called in ("str", "repr") or called.endswith(".join") else []
        for one in inside:
            yield from words(one)
        return
    if isinstance(node, ast.Attribute | ast.Name) and (
        node.attr in WRITTEN if isinstance(node, ast.Attribute) else node.id in ERRORS
    ):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from words(child)


def test_words_from_outside_are_escaped_before_they_are_markdown() -> None:
    found = {path.relative_to(REPO).as_posix(): unescaped(path.read_text("utf-8")) for path in SOURCES}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("st.error(str(error), icon='x')", ["1: error"]),
        ("st.caption(f'{run.name} is done')", ["1: run.name"]),
        ("st.caption(f'{format_run_name(run)} is done')", ["1: format_run_name(run)"]),
        ("st.info(run.message or 'Stopped.')", ["1: run.message"]),
        ("place.button(f'Show {newest[0].name}', key=run.id)", ["1: newest[0].name"]),
        ("st.markdown(f'It is {names.names[3]}.')", ["1: names.names"]),
        ("st.pills('What', range(3), format_func=shown.names.__getitem__)", ["1: shown.names"]),
        ("st.selectbox('Run', ids, format_func=names.names.__getitem__)", []),
        ("st.error(escaping.escape_markdown(error), icon='x')", []),
        ("st.caption(f'{escaping.escape_markdown(run.name)} is done')", []),
        ("st.text(str(error))", []),
        ("st.caption(said(run.message))", []),
    ],
)
def test_sees_what_is_not_escaped(source: str, found: list[str]) -> None:
    assert unescaped(source) == found
