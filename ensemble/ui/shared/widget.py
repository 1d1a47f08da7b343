"""The values of widgets, by their keys: read in a callback, set before the widget is made."""

from typing import Any

import streamlit as st


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
