"""What a figure's ⋯ menu does in the browser: save or copy the picture, without a rerun."""

import functools
from pathlib import Path

import streamlit as st


def listen() -> None:
    """Let the menus of every figure on the page work; once a page is enough."""
    with st.container(key="figure_menus"):
        # The script is the program's own, and holds nothing that a person has written.
        st.html(f"<script>{script()}\nfigureMenus()</script>", unsafe_allow_javascript=True)


@functools.cache
def script() -> str:
    """What listens, in the browser."""
    return (Path(__file__).parent / "js" / "figures.js").read_text("utf-8")
