"""A picture with the sentence that says what to see in it, and its files to keep."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from ensemble.jobs.job import Job
from ensemble.ui.frame import figure_menu, plain_words
from ensemble.ui.predictions import downloads
from ensemble.wording import escaping
from ensemble.wording.provenance import format_figure_caption, format_program_version

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

# What its menu offers besides the table, by the word in the buttons' keys; see `frame.figure_menu`.
_SAVE_OPTIONS = {
    "png": ("Save as PNG", ":material/image:"),
    "svg": ("Save as SVG", ":material/shape_line:"),
    "pdf": ("Save as PDF", ":material/picture_as_pdf:"),
    "copy": ("Copy picture", ":material/content_copy:"),
    "caption": ("Copy caption", ":material/short_text:"),
}
OnSelect = Callable[[], None] | Literal["ignore", "rerun"]


def show_figure_panel(
    figure: "go.Figure",
    *,
    key: str,
    name: str,
    title: str,
    alt: str,
    table: "Callable[[], pd.DataFrame]",
    sees: str,
    help: str | None = None,
    job: Job | None = None,
    epoch: int | None = None,
    on_select: OnSelect = "ignore",
    selection_mode: Iterable[Literal["points", "box", "lasso"]] = ("points",),
) -> Any:
    """Draw a picture: what to see in it above, and beside that a menu of what can be kept.

    Args:
      figure: the picture; its title and legend are in it, for whoever saves it.
      key: the chart's key; the widgets' keys begin with it.
      name: what the files are called, without an ending: "digits-0412-epoch-3-risk".
      title: what the menu's help calls the picture: "Risk by coverage".
      job: the run that it is about, for its caption; None where it is about several, or none.
      epoch: the one that is shown, from 1; None where it is of the whole run.
      on_select: a callback, or "rerun", where points of it can be chosen.

    Returns:
      What of it is chosen (`.selection`), where it can be.
    """
    with st.container(horizontal=True, gap="small", key=f"{key}_sees"):
        st.markdown(plain_words.apply_plain_wording(sees), help=help, width="stretch")
        _show_figure_menu(key, name, title, table, format_figure_caption(job, title, epoch) if job else "")
    return st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        config=_build_figure_toolbar_config(name, on_select, selection_mode),
        on_select=on_select,
        selection_mode=tuple(selection_mode),
    )


def _build_figure_toolbar_config(name: str, on_select: OnSelect, selection_mode: Iterable[str]) -> dict[str, Any]:
    """What the toolbar offers: how to choose points, if one can.

    Its button for the picture is there too, but hidden by the page's style: the menu presses it.
    """
    chooses = (
        []
        if on_select == "ignore"
        else [{"box": "select2d", "lasso": "lasso2d"}[mode] for mode in selection_mode if mode != "points"]
    )
    return {
        "displaylogo": False,
        "displayModeBar": True,
        "modeBarButtons": [[*chooses, "toImage"]],
        "toImageButtonOptions": {"format": "png", "scale": 3, "filename": escaping.sanitize_file_name(name)},
    }


def _show_figure_menu(key: str, name: str, title: str, table: "Callable[[], pd.DataFrame]", caption: str = "") -> None:
    """The picture as a file or to be pasted, at a size for paper or slides; its figures as a table.

    Args:
      caption: what stands below it; "" for its title and the program's version.
    """
    menu = st.popover("⋯", type="tertiary", key=f"{key}_menu", help=f"Save or copy “{title}”")
    with menu, st.container(gap=None):
        st.html(figure_menu.render_menu_options(key, title, caption or f"{title} · {format_program_version()}"))
        with st.container(horizontal=True, gap=None, key=f"{key}_saves"):
            for word, (label, icon) in _SAVE_OPTIONS.items():
                # Pressed in the browser: Streamlit hears of it only where no script runs.
                st.button(label, icon=icon, key=f"figure_{word}_{key}", type="tertiary")
            st.download_button(
                "Figures as CSV",
                lambda: downloads.encode_table_csv(table()),
                f"{escaping.sanitize_file_name(name)}.csv",
                "text/csv",
                icon=":material/table:",
                key=f"{key}_csv",
                on_click="ignore",
                type="tertiary",
            )
