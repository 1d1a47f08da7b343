"""The colours of every chart, once.

The page's own colours (ground, text, accent, in light and in dark) stand in
`.streamlit/config.toml`. What a chart draws in the text colour it takes from the theme
where it can (`ensemble.ui.curves`), else from `ink()`.
"""

import streamlit as st

# Paul Tol's "bright" scheme: told apart with any colour vision, on white and on black.
# https://personal.sron.nl/~pault/
MEMBER_HUES = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB")
MUTED = "#7B8794"
RIGHT, WRONG = "#0077BB", "#EE7733"

ENSEMBLE_WIDTH, MEMBER_WIDTH = 3.0, 1.0


def member_color(member: int, members: int) -> str:
    """The hue of member `member` (from 0) of `members`: fixed, the same on every screen.

    From eight members on there are more than eyes tell apart, and all share one hue.
    """
    return MEMBER_HUES[member] if members <= len(MEMBER_HUES) else MUTED


def member_opacity(members: int) -> float:
    """How strongly a member's line is drawn: many members are a haze, not a tangle."""
    return 0.95 if members <= len(MEMBER_HUES) else 0.35


def mode() -> str:
    """The page's look in this browser: "light" or "dark"."""
    return "dark" if st.context.theme.type == "dark" else "light"


def ink() -> str:
    """The text colour, in which the ensemble is drawn."""
    return str(st.get_option(f"theme.{mode()}.textColor"))


def ground() -> str:
    """The colour of the page behind a chart."""
    return str(st.get_option(f"theme.{mode()}.backgroundColor"))
