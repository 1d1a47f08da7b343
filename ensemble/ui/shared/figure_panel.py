"""A picture with the sentence that says what to see in it, and its files to keep."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from ensemble.ui.predictions import downloads
from ensemble.ui.shared import widget
from ensemble.wording import escaping

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

FORMATS = ("PNG", "SVG")
FORMAT = "picture_format"
OnSelect = Callable[[], None] | Literal["ignore", "rerun"]


def show(
    figure: "go.Figure",
    *,
    key: str,
    name: str,
    title: str,
    alt: str,
    table: "Callable[[], pd.DataFrame]",
    sees: str,
    help: str | None = None,
    on_select: OnSelect = "ignore",
    selection_mode: Iterable[Literal["points", "box", "lasso"]] = ("points",),
) -> Any:
    """Draw a picture: what to see in it above, what can be kept of it below.

    Args:
      figure: the picture; its title and legend are in it, for whoever saves it.
      key: the chart's key; the widgets' keys begin with it.
      name: what the files are called, without an ending: "digits-0412-epoch-3-risk".
      title: what the buttons' help calls the picture: "Risk by coverage".
      alt: the picture in words.
      table: makes its figures as a table, when they are asked for.
      sees: one sentence that says what to see, in Markdown.
      help: what its terms mean, behind the sentence's question mark.
      on_select: a callback, or "rerun", where points of it can be chosen.
      selection_mode: how they can be.

    Returns:
      What of it is chosen (`.selection`), where it can be.
    """
    st.markdown(sees, help=help)
    kind = widget.value(f"{key}_format", None) or FORMATS[0]
    chosen = st.plotly_chart(
        figure, key=key, alt=alt, config=config(name, kind, on_select, selection_mode),
        on_select=on_select, selection_mode=tuple(selection_mode),
    )  # fmt: skip
    keep(key, name, title, table)
    return chosen


def config(
    name: str, kind: str, on_select: OnSelect, selection_mode: Iterable[str]
) -> dict[str, Any]:
    """What the toolbar offers: the picture as a file, and how to choose points if one can."""
    chooses = [] if on_select == "ignore" else [
        {"box": "select2d", "lasso": "lasso2d"}[mode] for mode in selection_mode if mode != "points"
    ]  # fmt: skip
    return {
        "displaylogo": False,
        "displayModeBar": True,
        "modeBarButtons": [[*chooses, "toImage"]],
        "toImageButtonOptions": {
            "format": kind.lower(),
            "scale": 3,
            "filename": escaping.file_name(name),
        },
    }


def keep(key: str, name: str, title: str, table: "Callable[[], pd.DataFrame]") -> None:
    """The picture's figures as a file, and the kind of file that its toolbar saves."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            "Figures (CSV)", lambda: downloads.csv(table()), f"{escaping.file_name(name)}.csv",
            "text/csv",
            icon=":material/table:", key=f"{key}_csv", on_click="ignore",
            help=f"{title}, as a table.",
        )  # fmt: skip
        st.caption(":material/photo_camera: saves", width="content")
        st.segmented_control(
            "Picture as", FORMATS, key=f"{key}_format", default=FORMATS[0], required=True,
            label_visibility="collapsed", width="content",
            help="What the camera in the picture's corner saves: PNG for slides, SVG for print.",
        )  # fmt: skip
