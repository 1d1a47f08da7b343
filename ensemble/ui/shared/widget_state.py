"""The values of widgets, by their keys: read in a callback, set before the widget is made."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

# The keys of widgets whose values were put since a page was last drawn to its end.
_PENDING_KEYS = "widgets_put"


def get_widget_value(key: str, *default: Any) -> Any:
    """What the widget of that key holds.

    Args:
      default: at most one: what it holds where there is no such widget.

    Raises:
      KeyError: there is no such widget, and no default.
    """
    return st.session_state.get(key, default[0]) if default else st.session_state[key]


def set_widget_value(key: str, value: Any) -> None:
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


def clear_pending_values() -> None:
    """The page has been drawn to its end: what was put is no longer new."""
    st.session_state.pop(_PENDING_KEYS, None)


def draw_widget(widget: Callable[..., Any], *arguments: Any, key: str, **options: Any) -> Any:
    """Draw a widget of Streamlit's whose default is what it holds: `draw_widget(st.toggle, …)`.

    A browser is told once of a value that was put. Where it does not draw the widget then, as in
    a popover that is closed, or where a rerun begins before it has, it is told of the default
    alone: the least number, no button pressed; and the first press would send that back.

    Args:
      *arguments: for it, its label first.
      **options: for it; a default that is among them stays.
    """
    parameters = inspect.signature(widget).parameters
    name = next(word for word in ("value", "default", "index") if word in parameters)
    given = dict(zip(parameters, arguments, strict=False)) | options
    if name not in given and key in st.session_state and not is_pending(key):
        held = get_widget_value(key)
        if can_hold(held, given):
            options[name] = _find_option_index(held, given) if name == "index" else held
    return widget(*arguments, key=key, **options)


def is_pending(key: str) -> bool:
    return key in st.session_state.get(_PENDING_KEYS, ())


def can_hold(held: Any, given: Mapping[str, Any]) -> bool:
    if held is None:
        return False
    given = {**given, "options": list(given["options"])} if "options" in given else given
    several = held if isinstance(held, (list, tuple)) else [held]
    if "options" in given:
        return given.get("accept_new_options", False) or all(one in given["options"] for one in several)
    low, high = given.get("min_value"), given.get("max_value")
    return all((low is None or one >= low) and (high is None or one <= high) for one in several)


def _find_option_index(held: Any, given: Mapping[str, Any]) -> int:
    """The place of what is chosen among the options; 0 where it was typed by hand."""
    options = list(given["options"])
    return options.index(held) if held in options else 0
