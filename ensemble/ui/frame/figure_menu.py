"""What a figure's ⋯ menu does in the browser: save or copy the picture, without a rerun."""

import functools
import html
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

from ensemble.figures.palette import MEMBER_HUES, RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.wording import escaping
from ensemble.wording.provenance import format_program_version

_FIGURE_FONT_PX = 12  # pixels of a figure's usual text, as Plotly counts them
# In the order in which one needs what the others hold.
SCRIPTS = ("dom.js", "recolor.js", "paths.js", "pdf.js", "png.js", "sized.js", "figures.js")


@dataclass(frozen=True)
class _FigureSize:
    """A size to save a figure at.

    Attributes:
      title: what people choose.
      mm: how wide it is, in millimetres; None is as wide as it stands on the page.
      pt: points of its usual text at that width.
      ratio: its height by its width; None is as high as the figure asks for.
    """

    title: str
    mm: int | None = None
    pt: int | None = None
    ratio: float | None = None


SIZES = {
    "screen": _FigureSize("As on screen"),
    "column": _FigureSize("Journal column (85 mm, 8 pt)", 85, 8),
    "page": _FigureSize("Journal page (178 mm, 8 pt)", 178, 8),
    "slide": _FigureSize("Slide (16:9, 254 mm, 18 pt)", 254, 18, 9 / 16),
    "poster": _FigureSize("Poster (400 mm, 36 pt)", 400, 36),
}
_BACKGROUNDS = {
    "white": "White (screen: as here)",
    "clear": "Transparent, for white paper",
    "clear-dark": "Transparent, for dark slides",
}


def install_figure_menus(light: Palette, dark: Palette) -> None:
    """Let the menus of every figure on the page work; once a page is enough."""
    options = json.dumps(
        {
            "light": asdict(light),
            "dark": asdict(dark),
            "hues": [RIGHT_COLOR, WRONG_COLOR, *MEMBER_HUES],
            "sizes": {word: asdict(size) for word, size in SIZES.items()},
            "font": _FIGURE_FONT_PX,
            "program": format_program_version(),
        }
    )
    with st.container(key="figure_menus"):
        # The script is the program's own, and holds nothing that a person has written but colours.
        st.html(f"<script>{_build_menu_script(options)}</script>", unsafe_allow_javascript=True)


@functools.lru_cache(maxsize=4)
def _build_menu_script(options: str) -> str:
    """What listens, in the browser, told what is known here; it does nothing a second time."""
    folder = Path(__file__).parent / "js"
    every = "\n".join((folder / name).read_text("utf-8") for name in SCRIPTS)
    safe = options.replace("<", "\\u003c")
    return (
        "if (!window.ensembleFigureMenus) {\nwindow.ensembleFigureMenus = true;\n(() => {\n"
        f"{every}\nfigureMenus({safe})\n}})()\n}}"
    )


def render_menu_options(key: str, title: str, caption: str) -> str:
    """The controls of a menu that a browser keeps to itself, as HTML: size, ground, caption."""
    text, called, figure_key = (
        html.escape(escaping.remove_invisible_characters(part)) for part in (caption, title, key)
    )
    return (
        f'<div class="figure-options" data-figure="{figure_key}" data-title="{called}">'
        f"{_render_menu_select('size', 'Size', {word: size.title for word, size in SIZES.items()})}"
        f"{_render_menu_select('ground', 'Background', _BACKGROUNDS)}"
        '<label class="figure-under"><input type="checkbox" name="under"> Caption below the figure'
        f'</label><p class="figure-caption">{text}</p></div>'
    )


def _render_menu_select(name: str, label: str, words: dict[str, str]) -> str:
    listed = "".join(f'<option value="{word}">{title}</option>' for word, title in words.items())
    return f'<label>{label}<select name="{name}">{listed}</select></label>'
