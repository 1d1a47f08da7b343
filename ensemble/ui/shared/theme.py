"""The look of the page in this browser, for the figures on it.

The page's own colours (ground, text, accent, in light and in dark) stand in
`.streamlit/config.toml`, where whoever runs the app may set others; `ensemble.figures.palette`
has the same for figures that are drawn without a page.
"""

import streamlit as st

from ensemble.figures.palette import DARK, LIGHT, Palette

# A palette's colours by the names of Streamlit's options.
_COLOR_OPTIONS = {
    "ink": "textColor",
    "ground": "backgroundColor",
    "panel": "secondaryBackgroundColor",
    "primary": "primaryColor",
    "border": "borderColor",
}


def get_page_palette() -> Palette:
    return build_page_palette(DARK if st.context.theme.type == "dark" else LIGHT)


def build_page_palette(usual: Palette) -> Palette:
    colors = {
        name: str(st.get_option(f"theme.{usual.mode}.{option}") or getattr(usual, name))
        for name, option in _COLOR_OPTIONS.items()
    }
    return Palette(usual.mode, **colors)
