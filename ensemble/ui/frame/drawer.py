"""A phone's drawer, in which the menu and the settings stand: closed when it has been used."""

import functools
import json
from pathlib import Path

import streamlit as st

from ensemble.ui.shared.tab import tab


def close_drawer_after_use(page: str) -> None:
    """Close the drawer of a narrow window when another page is drawn, or a job was launched.

    Moving a slider in it changes neither, so that all can be set in one go.

    Args:
      page: the word of the page that is being drawn, in the address.
    """
    place = page, tab.launched_at
    with st.container(key="drawer_closer"):
        # The script is the program's own, and its argument a word and a time of its own.
        st.html(
            f"<script>{load_drawer_script()}\ndrawer({json.dumps(json.dumps(place))})</script>",
            unsafe_allow_javascript=True,
        )


@functools.cache
def load_drawer_script() -> str:
    """What closes it, in the browser."""
    return (Path(__file__).parent / "js" / "drawer.js").read_text("utf-8")
