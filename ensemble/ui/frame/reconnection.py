"""A tab whose server began anew: its page is drawn again, so that its buttons are known there."""

import datetime
import secrets

import streamlit as st

from ensemble.ui.shared.tab import tab

# Streamlit draws a page again when it has found its server again only where something on it is
# drawn again by itself: this is, once a day. A browser's timer may run for 24 days at most.
_REFRESH_INTERVAL = datetime.timedelta(days=1)


def redraw_after_reconnection() -> None:
    """Have the page drawn again when the tab has found its server again; once a page is enough."""
    st.fragment(_draw_nothing, run_every=_REFRESH_INTERVAL)()


def mark_page_end() -> None:
    """Says in the page's last element which session drew it to its end: a server's own.

    `js/connection.js` looks there: a server that began anew knows of no button before that.
    """
    tab.session_mark = tab.session_mark or secrets.token_hex(8)
    with st.container(key="page_end"):
        st.html(f'<i class="drawn-by-{tab.session_mark}"></i>')


def _draw_nothing() -> None:
    """What is drawn again once a day."""
