"""Which mark of a picture is open, in this tab; another picture starts with its first."""

import streamlit as st

MARK = "classify_mark"


def index(ident: str, marks: int, default: int = 0) -> int:
    """The open mark of the picture of that ident, from 0."""
    of, kept = st.session_state.get(MARK, ("", 0))
    return int(kept) if of == ident and kept < marks else min(default, max(0, marks - 1))


def put(ident: str, index: int) -> None:
    """Callback: open another mark."""
    st.session_state[MARK] = ident, index


def follow(key: str, ident: str) -> None:
    """Callback of a component that says which mark was pressed."""
    pressed = st.session_state[key].get("opened")
    if isinstance(pressed, int | float) and 0 <= pressed < 1000:
        put(ident, int(pressed))
