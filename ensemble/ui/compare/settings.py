"""Settings: parallel coordinates to brush, and any figure against any setting."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.figures.comparison import colors, scatter
from ensemble.figures.comparison.columns import AxisColumn
from ensemble.ui.compare import controls, parallel_coordinates, run_filter
from ensemble.ui.compare.run_filter import RunFilter
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import address, figure_panel, theme
from ensemble.wording.formats import format_count
from ensemble.wording.run_names import format_run_name, format_unique_run_name

_MAX_SETTING_AXES = 8  # of settings, where nobody has chosen
_DEFAULT_METRICS = ("accuracy", "nll")
LOG_AXES = {"x": "log x", "y": "log y"}


def show_settings_comparison(every: Sequence[runs.Run], kept: RunFilter) -> None:
    columns = {column.name: column for column in kept.columns}
    labels = {name: column.label for name, column in columns.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls_settings"):
        with st.popover("Choose axes", icon=":material/view_column:", key="compare_choose_axes"):
            axes = controls.select_several_options(address.AXES, "Axes", labels, _select_default_axes(kept.columns))
        colored = controls.select_one_option(
            address.COLOR, "Colour by", labels, _select_default_color(columns), width=240
        )
    color = columns[colored]
    st.caption(
        "Drag along an axis to brush, press it to clear; with the keyboard, Tab to an end of an "
        "axis and press the arrows. What is brushed holds for every view."
    )
    parallel_coordinates.show_run_coordinates(
        every,
        [columns[name] for name in axes],
        colors.assign_column_colors(color),
        kept.brushes,
        run_filter.update_brushes_address,
    )
    _show_settings_scatter(every, kept, columns, color)
    _show_filtered_runs(every, kept, [columns[name] for name in axes])


def _select_default_axes(columns: Sequence[AxisColumn]) -> tuple[str, ...]:
    """The settings that differ, and what came of them; the seed only where no other does."""
    differ = [column.name for column in columns if column.varies and not column.is_metric]
    # What differs by member is a text, and stands in the setting that it names: no axis for it.
    settings = [name for name in differ if name not in ("seed", "vary")] or differ
    names = [column.name for column in columns]
    measured = [name for name in _DEFAULT_METRICS if name in names]
    return (*settings[:_MAX_SETTING_AXES], *measured) or tuple(names[:1])


def _select_default_x(columns: Sequence[AxisColumn]) -> str:
    names = _select_default_axes(columns)
    numbers = [column.name for column in columns if column.name in names and column.is_number]
    return (numbers or list(names))[0]


def _select_default_color(columns: dict[str, AxisColumn]) -> str:
    """What colours the lines where nobody has chosen: what is to become better."""
    return next((name for name in ("nll", "accuracy") if name in columns), next(iter(columns)))


def _show_settings_scatter(
    every: Sequence[runs.Run], kept: RunFilter, columns: dict[str, AxisColumn], color: AxisColumn
) -> None:
    labels = {name: column.label for name, column in columns.items()}
    first = _select_default_x(kept.columns)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls_scatter"):
        x = columns[controls.select_one_option(address.X, "Across", labels, first, width=240)]
        y = columns[controls.select_one_option(address.Y, "Up", labels, _select_default_color(columns), width=240)]
        suits = tuple(axis for axis, column in (("x", x), ("y", y)) if column.log and column.can_use_log)
        log = controls.select_option_pills(address.LOGS, "Axes", LOG_AXES, suits, "none")
    names = [format_unique_run_name(run) for run in every]
    title = f"{y.label} by {x.label_in_sentence} · {format_count(len(every), 'run')}"
    figure_panel.show_figure_panel(
        scatter.plot_run_scatter(
            x, y, color=color, names=names, kept=kept.mask, title=title, palette=theme.get_page_palette(), log=log
        ),
        key="compare_scatter",
        name=f"{y.name}-by-{x.name}",
        title=title,
        alt=_describe_settings_chart(x, y, kept),
        table=lambda: scatter.tabulate_run_scatter(kept.columns, [run.id for run in every], names, kept.mask),
        sees=f"A point a run: its {y.label_in_sentence} by its {x.label_in_sentence}, coloured by "
        f"its {color.label_in_sentence}.{_describe_unbrushed_points(kept)}",
    )


def _describe_unbrushed_points(kept: RunFilter) -> str:
    return "" if kept.is_complete else " Small and grey: not brushed."


def _describe_settings_chart(x: AxisColumn, y: AxisColumn, kept: RunFilter) -> str:
    """The picture in words: where the least and the most of it stand."""
    pairs = [
        (a, b)
        for a, b, stays in zip(x.values, y.values, kept.mask, strict=True)
        if stays and a is not None and isinstance(b, int | float)
    ]
    if not pairs:
        return f"{y.label} by {x.label}: no run has both"
    low, high = min(pairs, key=lambda pair: pair[1]), max(pairs, key=lambda pair: pair[1])
    return (
        f"{y.label} by {x.label} of {format_count(len(pairs), 'run')}: least "
        f"{y.format_value(low[1])} at "
        f"{x.format_value(low[0])}, most {y.format_value(high[1])} at {x.format_value(high[0])}"
    )


def _show_filtered_runs(every: Sequence[runs.Run], kept: RunFilter, columns: Sequence[AxisColumn]) -> None:
    left = [place for place, stays in enumerate(kept.mask) if stays]
    frame = (
        scatter.tabulate_run_scatter(
            columns, [run.id for run in every], [format_run_name(run) for run in every], kept.mask
        )
        .iloc[left]
        .drop(columns="brushed")
    )
    styled_table = downloads.style_downloadable_table(frame)
    for column in columns:
        if column.is_number:
            styled_table = styled_table.format(column.format_value, subset=[column.name], na_rep="–")
    config = {column.name: column.label for column in columns}
    st.dataframe(
        styled_table,
        hide_index=True,
        key="compare_left",
        placeholder="–",
        column_config={**config, "run": None, "name": st.column_config.TextColumn("Run", pinned=True)},
        alt=f"{format_count(len(left), 'run')} with their settings and figures",
    )
