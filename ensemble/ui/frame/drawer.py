"""A phone's drawer, in which the menu and the settings stand: closed when it has been used."""

import functools
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble.ui.shared.tab import tab


def close_when_used(page: str) -> None:
    """Close the drawer of a narrow window when another page is drawn, or a run was launched.

    Moving a slider in it changes neither, so that all can be set in one go.

    Args:
      page: the word of the page that is being drawn, in the address.
    """
    launched = tab.launched[1], tab.solve_launched[1]
    component()(data={"place": f"{page} {launched}"}, key="drawer_closer", height=1)


@functools.cache
def component() -> Any:
    """The component, registered once."""
    script = Path(__file__).parent / "js" / "drawer.js"
    return st.components.v2.component("ensemble_drawer", html="<i></i>", js=script.read_text())
