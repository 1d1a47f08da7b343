"""The colours of every chart, once.

The page's own colours (ground, text, accent, in light and in dark) stand in
`.streamlit/config.toml`. What a chart draws in the text colour it takes from the theme
where it can (`ensemble.ui.train.curves`), else from `ink()`.
"""

import streamlit as st


def mode() -> str:
    """The page's look in this browser: "light" or "dark"."""
    return "dark" if st.context.theme.type == "dark" else "light"


def ink() -> str:
    """The text colour, in which the ensemble is drawn."""
    return str(st.get_option(f"theme.{mode()}.textColor"))


def ground() -> str:
    """The colour of the page behind a chart."""
    return str(st.get_option(f"theme.{mode()}.backgroundColor"))


def primary() -> str:
    """The page's accent, of controls and of what is neither right nor wrong."""
    return str(st.get_option(f"theme.{mode()}.primaryColor"))


def scale() -> list[tuple[float, str]]:
    """From little to much, for a heat map: the page's ground to its accent."""
    return [(0.0, str(st.get_option(f"theme.{mode()}.secondaryBackgroundColor"))), (1.0, primary())]
