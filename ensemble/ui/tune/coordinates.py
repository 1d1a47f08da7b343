"""A sweep's trials on Compare's parallel coordinates, and the table of those that are brushed."""

import functools
import json
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from ensemble import sweeps
from ensemble.figures.comparison import colors
from ensemble.figures.comparison.columns import Column, axes
from ensemble.figures.comparison.trials import columns as columns_of
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.compare import brushed
from ensemble.ui.compare.brushed import Brush
from ensemble.ui.compare.coordinates import TITLE, component
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import address, widget
from ensemble.wording import escaping, formats
from ensemble.wording.provenance import figure_caption

KEY = "tune_coordinates"


def show(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """Both, of the trials that are complete; the table has the others too."""
    complete = [one for one in trials if one.state == "complete"]
    columns = columns_of(sweep.config, complete)
    brushes = brushed.read(address.KEEP.read(), columns)
    kept = brushed.remaining(brushes, columns) or [True] * len(complete)
    if complete:
        st.caption(
            "A line a complete trial. Drag along an axis to brush, press it to clear; with the "
            "keyboard, Tab to an end of an axis and press the arrows."
        )
        lines(sweep, columns, complete, brushes)
    if brushes:
        said = escaping.markdown(brushed.in_words(brushes, columns))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f"**{sum(kept):,} of {formats.count(len(complete), 'trial')}**: brushed to {said}.",
                width="content",
            )
            st.button(
                "Show all",
                key="tune_show_all",
                icon=":material/filter_alt_off:",
                type="tertiary",
                on_click=keep,
                args=({},),
            )
        left = [one for one, stays in zip(complete, kept, strict=True) if stays]
        table(sweep, left)
    else:
        table(sweep, trials)


def lines(
    sweep: Sweep,
    columns: Sequence[Column],
    complete: Sequence[Trial],
    brushes: Mapping[str, Brush],
) -> None:
    """The parallel coordinates, coloured by the first objective."""
    by = next(column for column in columns if column.name == sweep.config.goals[0])
    hues = colors.of_values(by)
    count = formats.count(len(complete), "trial")
    titles = ", ".join(column.label for column in columns)
    chart = {
        "axes": axes(columns),
        "runs": [
            {"id": one.run_id, "name": f"trial {one.number + 1}", "color": color}
            for one, color in zip(complete, hues, strict=True)
        ],
        "caption": f"{TITLE} · {count}",
        "title": TITLE,
        "about": figure_caption(sweep, f"{TITLE} · {count}"),
        "alt": f"{TITLE}: {count} over {titles}. Tab reaches both ends of every axis; "
        "the arrow keys brush.",
        "file": "parallel-coordinates",
    }
    # As text: Streamlit looks for tables in anything else.
    component()(
        data={"chart": json.dumps(chart), "keep": json.dumps(brushes)},
        key=KEY,
        on_brushed_change=functools.partial(heard, columns),
    )


def heard(columns: Sequence[Column]) -> None:
    """Callback: a brush has ended."""
    sent = widget.value(KEY).get("brushed")
    if isinstance(sent, str):
        keep(brushed.from_browser(sent, columns))


def keep(brushes: dict[str, Brush]) -> None:
    """What is brushed goes into the address."""
    address.KEEP.put(brushed.written(brushes) or None)


def table(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """A row a trial; one that is chosen can be opened."""
    columns = columns_of(sweep.config, trials)
    frame = pd.DataFrame(
        {
            "trial": [one.number + 1 for one in trials],
            "state": [one.state for one in trials],
            **{column.name: list(column.values) for column in columns},
            **extra(sweep, trials),
            "run": [one.run_id for one in trials],
        }
    )
    shown = downloads.on_screen(frame)
    for column in columns:
        if column.is_number:
            shown = shown.format(column.say, subset=[column.name], na_rep="–")
    st.dataframe(
        shown,
        hide_index=True,
        key="tune_table",
        on_select="rerun",
        selection_mode="single-row",
        alt=f"{formats.count(len(trials), 'trial')} in a table",
        column_config={
            "trial": st.column_config.NumberColumn("Trial", pinned=True),
            "state": "State",
            **{column.name: column.label for column in columns},
            "why": "Why",
            "run": "Run",
            "front": "Pareto front",
        },
    )
    chosen = widget.value("tune_table", {}).get("selection", {}).get("rows", [])
    if chosen and chosen[0] < len(trials) and (trial := trials[chosen[0]]).run_id:
        link(trial)
    else:
        st.caption("Choose a row to open its run.")


def extra(sweep: Sweep, trials: Sequence[Trial]) -> dict[str, list[object]]:
    """What a table says beside settings and values, where there is something to say."""
    found: dict[str, list[object]] = {}
    if len(sweep.config.goals) > 1:
        front = sweeps.pareto(sweep, list(trials)) if trials else []
        found["front"] = [one in front for one in trials]
    if any(one.message for one in trials):
        found["why"] = [one.message for one in trials]
    return found


def link(trial: Trial) -> None:
    """The way to a trial's run."""
    st.page_link(
        "pages/train.py",
        label=f"Open the run of trial {trial.number + 1}",
        icon=":material/show_chart:",
        query_params=address.RUN.link(trial.run_id),
        width="content",
    )
