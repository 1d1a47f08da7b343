"""The values of widgets, by their keys: read in a callback, set before the widget is made."""

from typing import Any

import streamlit as st

# The keys of widgets whose values were put since a page was last drawn to its end.
_PENDING_KEYS = "widgets_put"


def get_widget_value(key: str, *default: Any) -> Any:
    """What the widget of that key holds.

    Args:
      key: the widget's key.
      default: at most one: what it holds where there is no such widget.

    Raises:
      KeyError: there is no such widget, and no default.
    """
    return st.session_state.get(key, default[0]) if default else st.session_state[key]


def set_widget_value(key: str, value: Any) -> None:
    """Set the value of a widget that is still to be made in this run of the script."""
    st.session_state[key] = value
    st.session_state.setdefault(_PENDING_KEYS, set()).add(key)


def initialize_widget(key: str, value: Any) -> Any:
    """Set what a widget holds at first; returns what it holds now."""
    if key not in st.session_state:
        set_widget_value(key, value)
    return st.session_state[key]


def sync_widget_value(key: str, value: Any) -> None:
    """As `set_widget_value`, but left alone where it holds that already."""
    if st.session_state.get(key, ...) != value:
        set_widget_value(key, value)


def get_widget_default(key: str) -> Any:
    """What a widget is given as its default: what it holds; None where that was put just now.

    A browser is told once of a value that was put. Where it does not draw the widget then, as in
    a popover that is closed, and the page is drawn again, it is told of the default alone: none
    of its buttons would be pressed, and the first press would take all others back.
    """
    return None if key in st.session_state.get(_PENDING_KEYS, ()) else get_widget_value(key, None)


def clear_pending_values() -> None:
    """The page has been drawn to its end: what was put is no longer new."""
    st.session_state.pop(_PENDING_KEYS, None)
