"""Buttons that destroy something: a look of their own, which no other button has."""

from typing import Any

import streamlit as st


def show_destructive_button(label: str, *, key: str, **more: Any) -> bool:
    """The first press, which only asks: outlined.

    Args:
      more: for `st.button`.
    """
    with st.container(key=f"danger_{key}", width="content"):
        return st.button(label, icon=":material/delete:", key=key, **more)


def show_confirmation_button(label: str, *, key: str, **more: Any) -> bool:
    """The second press, which does it: filled. Arguments as of `show_destructive_button`."""
    with st.container(key=f"danger_sure_{key}", width="content"):
        return st.button(label, icon=":material/delete_forever:", key=key, **more)
