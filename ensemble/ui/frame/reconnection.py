"""A tab whose server began anew: its page is drawn again, so that its buttons are known there."""

import datetime

import streamlit as st

# Streamlit draws a page again when it has found its server again only where something on it is
# drawn again by itself: this is, once a day. A browser's timer may run for 24 days at most.
REFRESH_INTERVAL = datetime.timedelta(days=1)


def redraw_after_reconnection() -> None:
    """Have the page drawn again when the tab has found its server again; once a page is enough."""
    st.fragment(draw_nothing, run_every=REFRESH_INTERVAL)()


def draw_nothing() -> None:
    """What is drawn again once a day."""
