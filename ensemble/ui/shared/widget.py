"""The values of widgets, by their keys: read in a callback, set before the widget is made."""

from typing import Any

import streamlit as st
from streamlit.runtime.state import get_session_state


def value(key: str, *default: Any) -> Any:
    """What the widget of that key holds.

    Args:
      key: the widget's key.
      default: at most one: what it holds where there is no such widget.

    Raises:
      KeyError: there is no such widget, and no default.
    """
    return st.session_state.get(key, default[0]) if default else st.session_state[key]


def put(key: str, value: Any) -> None:
    """Set the value of a widget that is still to be made in this run of the script."""
    st.session_state[key] = value


def begin(key: str, value: Any) -> Any:
    """Set what a widget holds at first; returns what it holds now."""
    return st.session_state.setdefault(key, value)


def follow(key: str, value: Any) -> None:
    """As `put`, but left alone where it holds that already."""
    if st.session_state.get(key, ...) != value:
        st.session_state[key] = value


def held(key: str) -> Any:
    """What a widget is given as its default: what it holds; None where that was put just now.

    A browser is told once of a value that was put. Where it does not draw the widget then, as in
    a popover that is closed, and the page is drawn again, it is told of the default alone: none
    of its buttons would be pressed, and the first press would take all others back.
    """
    return None if get_session_state().is_new_state_value(key) else value(key, None)
