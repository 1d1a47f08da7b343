"""The app's own name and mark, above the sidebar and beside the menu; and its own style."""

import base64
import functools
from pathlib import Path

import streamlit as st

from ensemble.figures.palette import DARK, LIGHT

_SHARED_FOLDER = Path(__file__).parents[1] / "shared"
# A file of our own: an icon by its name would be fetched from another machine.
ICON = _SHARED_FOLDER / "icon.svg"
WORDMARK = _SHARED_FOLDER / "name.svg"
_STYLESHEET = Path(__file__).parent / "js" / "frame.css"


def show_logo() -> None:
    """The mark with the name where there is room for it, else alone; and the page's style."""
    ink = (DARK if st.context.theme.type == "dark" else LIGHT).ink
    # A picture knows nothing of the page's colours: it is given that of the text.
    st.logo(WORDMARK.read_text().replace("currentColor", ink), size="large", icon_image=ICON)
    st.html(f"<style>{load_stylesheet()}</style>")


@functools.cache
def load_stylesheet() -> str:
    """The page's style, with the mark in it: a page asks for no file of its own."""
    icon = base64.b64encode(ICON.read_bytes()).decode()
    return _STYLESHEET.read_text("utf-8").replace("icon.svg", f"data:image/svg+xml;base64,{icon}")
