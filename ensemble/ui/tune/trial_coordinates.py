"""A sweep's trials on Compare's parallel coordinates, and the table of those that are brushed."""

import functools
import json
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from ensemble import sweeps
from ensemble.figures.comparison import colors
from ensemble.figures.comparison.columns import AxisColumn, build_parallel_axes
from ensemble.figures.comparison.trial_columns import list_trial_columns as columns_of
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.compare import axis_brushes
from ensemble.ui.compare.axis_brushes import Brush
from ensemble.ui.compare.parallel_coordinates import TITLE, create_run_coordinates
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import address, widget_state
from ensemble.ui.tune.screen import get_trial_page
from ensemble.wording import escaping, formats
from ensemble.wording.provenance import format_figure_caption

_COORDINATES_KEY = "tune_coordinates"


def show_trials_view(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """Both, of the trials that are complete; the table has the others too."""
    complete = [trial for trial in trials if trial.state == "complete"]
    columns = columns_of(sweep.config, complete)
    brushes = axis_brushes.parse_brushes(address.KEEP.read(), columns)
    kept = axis_brushes.compute_brush_mask(brushes, columns) or [True] * len(complete)
    if complete:
        st.caption(
            "A line a complete trial. Drag along an axis to brush, press it to clear; with the "
            "keyboard, Tab to an end of an axis and press the arrows."
        )
        _show_trial_coordinates(sweep, columns, complete, brushes)
    if brushes:
        text = escaping.escape_markdown(axis_brushes.describe_brushes(brushes, columns))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(
                f"**{sum(kept):,} of {formats.format_count(len(complete), 'trial')}**: brushed to {text}.",
                width="content",
            )
            st.button(
                "Show all",
                key="tune_show_all",
                icon=":material/filter_alt_off:",
                type="tertiary",
                on_click=_save_trial_brushes,
                args=({},),
            )
        left = [trial for trial, stays in zip(complete, kept, strict=True) if stays]
        _show_trials_table(sweep, left)
    else:
        _show_trials_table(sweep, trials)


def _show_trial_coordinates(
    sweep: Sweep, columns: Sequence[AxisColumn], complete: Sequence[Trial], brushes: Mapping[str, Brush]
) -> None:
    by = next(column for column in columns if column.name == sweep.config.objective_names[0])
    hues = colors.assign_column_colors(by)
    count = formats.format_count(len(complete), "trial")
    titles = ", ".join(column.label for column in columns)
    chart = {
        "axes": build_parallel_axes(columns),
        "runs": [
            {"id": trial.run_id, "name": f"trial {trial.number + 1}", "color": color}
            for trial, color in zip(complete, hues, strict=True)
        ],
        "caption": f"{TITLE} · {count}",
        "title": TITLE,
        "about": format_figure_caption(sweep, f"{TITLE} · {count}"),
        "alt": f"{TITLE}: {count} over {titles}. Tab reaches both ends of every axis; the arrow keys brush.",
        "file": "parallel-coordinates",
    }
    # As text: Streamlit looks for tables in anything else.
    create_run_coordinates()(
        data={"chart": json.dumps(chart), "keep": json.dumps(brushes)},
        key=_COORDINATES_KEY,
        on_brushed_change=functools.partial(_receive_trial_brushes, columns),
    )


def _receive_trial_brushes(columns: Sequence[AxisColumn]) -> None:
    """Callback: a brush has ended."""
    sent = widget_state.get_widget_value(_COORDINATES_KEY).get("brushed")
    if isinstance(sent, str):
        _save_trial_brushes(axis_brushes.parse_browser_brushes(sent, columns))


def _save_trial_brushes(brushes: dict[str, Brush]) -> None:
    address.KEEP.set_value(axis_brushes.format_brushes(brushes) or None)


def _show_trials_table(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """A row a trial; one that is chosen can be opened."""
    columns = columns_of(sweep.config, trials)
    frame = pd.DataFrame(
        {
            "trial": [listed_trial.number + 1 for listed_trial in trials],
            "state": [listed_trial.state for listed_trial in trials],
            **{column.name: list(column.values) for column in columns},
            **_build_extra_columns(sweep, trials),
            "run": [listed_trial.run_id for listed_trial in trials],
        }
    )
    styled_table = downloads.style_downloadable_table(frame)
    for column in columns:
        if column.is_number:
            styled_table = styled_table.format(column.format_value, subset=[column.name], na_rep="–")
    st.dataframe(
        styled_table,
        hide_index=True,
        key="tune_table",
        on_select="rerun",
        selection_mode="single-row",
        alt=f"{formats.format_count(len(trials), 'trial')} in a table",
        column_config={
            "trial": st.column_config.NumberColumn("Trial", pinned=True),
            "state": "State",
            **{column.name: column.label for column in columns},
            "why": "Why",
            "run": "Run",
            "front": "Pareto front",
        },
    )
    chosen = widget_state.get_widget_value("tune_table", {}).get("selection", {}).get("rows", [])
    if chosen and chosen[0] < len(trials) and (trial := trials[chosen[0]]).run_id:
        _show_trial_link(sweep, trial)
    else:
        st.caption("Choose a row to open its run.")


def _build_extra_columns(sweep: Sweep, trials: Sequence[Trial]) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {}
    if len(sweep.config.objective_names) > 1:
        front = sweeps.find_pareto_trials(sweep, list(trials)) if trials else []
        columns["front"] = [trial in front for trial in trials]
    if any(trial.message for trial in trials):
        columns["why"] = [trial.message for trial in trials]
    return columns


def _show_trial_link(sweep: Sweep, trial: Trial) -> None:
    st.page_link(
        get_trial_page(sweep),
        label=f"Open the run of trial {trial.number + 1}",
        icon=":material/show_chart:",
        query_params=address.RUN.build_query(trial.run_id),
        width="content",
    )
