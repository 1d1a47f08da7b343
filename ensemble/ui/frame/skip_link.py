"""A link for who has a keyboard alone: past the controls of a page, to what it is about."""

import functools
import json
from pathlib import Path

import streamlit as st


def show_skip_link(label: str, key: str) -> None:
    """Draw the link, which is seen only while it has the focus; to be drawn first on a page."""
    with st.container(key="skip_link"):
        st.html(
            f'<a href="#{key}">{label}</a><script>{_load_skip_script()}\nlinkTo({json.dumps(key)})</script>',
            unsafe_allow_javascript=True,
        )


@functools.cache
def _load_skip_script() -> str:
    return (Path(__file__).parent / "js" / "skip.js").read_text("utf-8")
