"""Who may touch what Streamlit keeps for a tab: one module each, and nobody its internals."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SOURCES = [*(REPO / "ensemble").rglob("*.py"), *(REPO / "pages").glob("*.py"), REPO / "app.py"]
SHARED = "ensemble/ui/shared"
ALLOWED = {
    "session_state": {f"{SHARED}/tab.py", f"{SHARED}/widget_state.py"},
    # Those of a page, and of a request to `ensemble serve`.
    "query_params": {f"{SHARED}/address.py", "ensemble/serving/application.py"},
}
# What there is no other way to, and why.
NEEDED = {
    "ensemble/ui/sign_in/messages.py": {  # has an open tab leave what it shows, and ask no more
        "streamlit.proto.ForwardMsg_pb2.ForwardMsg",
        "streamlit.proto.BackMsg_pb2.BackMsg",
    },
    "ensemble/ui/shared/stale_reruns.py": {  # sees which page a tab asks for, and stands on
        "streamlit.proto.ForwardMsg_pb2.ForwardMsg",
        "streamlit.proto.BackMsg_pb2.BackMsg",
    },
    "ensemble/ui/sign_in/uploads.py": {"streamlit.runtime"},  # counts what it holds in memory
    # gives a browser what members have learnt, as it gives pictures
    "ensemble/ui/classify/input/live_members.py": {"streamlit.runtime"},
}
# What Streamlit's reference does not list; its names may change with any version.
INTERNAL = {"commands", "elements", "proto", "runtime", "testing", "util", "web"}

WIDGETS = {
    *("checkbox", "multiselect", "number_input", "pills", "radio", "segmented_control"),
    *("select_slider", "selectbox", "slider", "text_area", "text_input", "toggle"),
}


# One source in ten has a word that is looked for here; the others need not be parsed.
LOOKED_FOR = re.compile(r"\b(st|streamlit)\b|" + "|".join(ALLOWED))


@cache
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """All that the source says, read once for all who look through it."""
    return tuple(ast.walk(ast.parse(source))) if LOOKED_FOR.search(source) else ()


def touched(source: str) -> set[str]:
    """Which of a tab's two stores the source reads or writes; a link's words are neither."""
    found = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module == "streamlit":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # getattr(st, "session_state")
    return found & set(ALLOWED)


def is_of_st(node: ast.expr) -> bool:
    """Whether it begins with the name that Streamlit is imported by."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return False
    return node.id == "st"


def internals(source: str) -> set[str]:
    """The parts of Streamlit that the source imports or reaches for and that are its own."""
    names = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and is_of_st(node):
            names.add(f"streamlit.{ast.unparse(node).removeprefix('st.')}")
    own = {name for name in names if name.startswith("streamlit.")}
    return {
        name for name in own if name.split(".")[1] in INTERNAL or any(part.startswith("_") for part in name.split("."))
    }


def widgets_called(source: str) -> set[str]:
    """The widgets with a value that the source draws by itself."""
    return {
        node.func.attr
        for node in nodes_of(source)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and is_of_st(node.func)
        and node.func.attr in WIDGETS
    }


def test_every_widget_with_a_value_is_drawn_in_one_way() -> None:
    """By `draw_widget`, which tells a browser that missed it what the widget holds."""
    found = {path.relative_to(REPO).as_posix(): widgets_called(path.read_text("utf-8")) for path in SOURCES}
    assert not {path: names for path, names in found.items() if names}
    assert widgets_called("st.toggle('On', key='on')") == {"toggle"}
    assert not widgets_called("draw_widget(st.toggle, 'On', key='on')")


@pytest.mark.parametrize("store", ALLOWED)
def test_a_store_is_touched_in_its_own_place_alone(store: str) -> None:
    found = {path.relative_to(REPO).as_posix() for path in SOURCES if store in touched(path.read_text("utf-8"))}
    assert found == ALLOWED[store]


def test_streamlits_internals_are_left_alone() -> None:
    found = {path.relative_to(REPO).as_posix(): internals(path.read_text("utf-8")) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == NEEDED


@pytest.mark.parametrize(
    ("source", "store"),
    [
        ("st.session_state['a'] = 1", {"session_state"}),
        ("from streamlit import session_state as kept", {"session_state"}),
        ("getattr(st, 'session_state')", {"session_state"}),
        ("st.query_params.pop('run')", {"query_params"}),
        ("st.page_link('x', query_params={'run': run.id})", set()),
        ("session_stated = 1  # session_state", set()),
    ],
)
def test_sees_who_touches_a_store(source: str, store: set[str]) -> None:
    assert touched(source) == store


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            "from streamlit.runtime.scriptrunner import get_script_run_ctx",
            "streamlit.runtime.scriptrunner.get_script_run_ctx",
        ),
        ("import streamlit.elements.widgets.button", "streamlit.elements.widgets.button"),
        ("from streamlit import runtime", "streamlit.runtime"),
        ("st.runtime.get_instance()", "streamlit.runtime.get_instance"),
        ("from streamlit.delta_generator import _enqueue", "streamlit.delta_generator._enqueue"),
    ],
)
def test_sees_an_internal(source: str, found: str) -> None:
    assert found in internals(source)


def test_the_public_names_pass() -> None:
    public = "import streamlit as st\nfrom streamlit.typing import UploadedFile\nst.components.v2"
    assert internals(public) == set()
