"""The app's own name and mark, above the sidebar and beside the menu; and its stylesheet."""

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
STYLE_ID = "page_style"


def show_logo() -> None:
    """The mark with the name where there is room for it, else alone."""
    ink = (DARK if st.context.theme.type == "dark" else LIGHT).ink
    # A picture knows nothing of the page's colours: it is given that of the text.
    st.logo(WORDMARK.read_text().replace("currentColor", ink), size="large", icon_image=ICON)


@functools.cache
def load_stylesheet() -> str:
    """The page's style, with the mark in it: a page asks for no file of its own.

    Nested, for Streamlit's own rules of the same weight come after it.
    """
    icon = base64.b64encode(ICON.read_bytes()).decode()
    style = _STYLESHEET.read_text("utf-8").replace("icon.svg", f"data:image/svg+xml;base64,{icon}")
    return f"html {{ {style} }}"
