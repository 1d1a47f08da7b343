"""Words in a tab's address, and controls that are bound to them: a link shows the same.

The address is the truth: a control is set from it before it is made, and its callback writes
to it. A word that makes no sense counts as not being there.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st


def whole(text: str | None) -> int | None:
    """A number from 0 to 99,999,999 as people write it in an address; None for all else."""
    ok = text is not None and text.isascii() and text.isdigit() and len(text) <= 8
    return int(text) if ok and text is not None else None


def number(name: str, default: int, low: int, high: int) -> int:
    """The number of this name in the address, brought within bounds; else `default`."""
    found = whole(st.query_params.get(name))
    return default if found is None else min(max(found, low), high)


def word(name: str, options: Iterable[str], default: str) -> str:
    """The one of `options` that the address names; else `default`."""
    found = st.query_params.get(name)
    return found if found is not None and found in list(options) else default


def put(name: str, value: int | str | None, default: int | str | None = None) -> None:
    """Write a word into the address; None or the default leaves it."""
    if value is None or value == default:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != str(value):
        st.query_params[name] = str(value)


def keep_only(names: Iterable[str]) -> None:
    """Take every other word out of the address."""
    for name in set(st.query_params) - set(names):
        del st.query_params[name]


def bound(key: str, value: Any, make: Callable[[str], Any]) -> None:
    """Makes a widget that shows `value`, whatever it showed before: the address is the truth.

    The browser sends a choice back by its words. Where the words depend on the data, so must
    the key: else a choice among the former options comes back as one that there is not.
    """
    if st.session_state.get(key, ...) != value:
        st.session_state[key] = value
    make(key)


def choose(name: str, label: str, options: Mapping[str, str], default: str, **more: Any) -> str:
    """A segmented control whose choice stands in the address; returns the choice.

    Args:
      name: its word in the address.
      label: what stands over it.
      options: what can be chosen: the words in the address, and those on the screen.
      default: the choice where the address names none; it is not written there.
      more: for `st.segmented_control`.
    """
    value = word(name, options, default)
    more.setdefault("on_change", follow)
    bound(f"address_{name}_{len(options)}", value, lambda key: st.segmented_control(
        label, list(options), key=key, required=True, format_func=options.__getitem__,
        args=(name, key, default), **more,
    ))  # fmt: skip
    return value


def follow(name: str, key: str, default: str) -> None:
    """Callback: the address follows the control."""
    put(name, st.session_state[key], default)
