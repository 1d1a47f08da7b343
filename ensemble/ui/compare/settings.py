"""Settings: parallel coordinates to brush, and any figure against any setting."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.figures.comparison import colors, scatter
from ensemble.figures.comparison.columns import Column
from ensemble.ui.compare import controls, coordinates, selection
from ensemble.ui.compare.selection import Selection
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import address, figure_panel, theme
from ensemble.wording.formats import count
from ensemble.wording.run_names import called, told_apart

MOST_AXES = 8  # of settings, where nobody has chosen
MEASURED = ("accuracy", "nll")
LOGS = {"x": "log x", "y": "log y"}


def show(every: Sequence[runs.Run], kept: Selection) -> None:
    """Both pictures, and the runs that are left."""
    columns = {column.name: column for column in kept.columns}
    labels = {name: column.label for name, column in columns.items()}
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls_settings"
    ):
        with st.popover("Choose axes", icon=":material/view_column:", key="compare_choose_axes"):
            axes = controls.several(address.AXES, "Axes", labels, usual_axes(kept.columns))
        colored = controls.one(address.COLOR, "Colour by", labels, usual_color(columns), width=240)
    color = columns[colored]
    st.caption(
        "Drag along an axis to brush, press it to clear; with the keyboard, Tab to an end of an "
        "axis and press the arrows. What is brushed holds for every view."
    )
    coordinates.show(
        every,
        [columns[name] for name in axes],
        colors.of_values(color),
        kept.brushes,
        selection.keep,
    )
    against(every, kept, columns, color)
    table(every, kept, [columns[name] for name in axes])


def usual_axes(columns: Sequence[Column]) -> tuple[str, ...]:
    """The settings that differ, and what came of them; the seed only where no other does."""
    differ = [one.name for one in columns if one.varies and not one.is_figure]
    # What differs by member is a text, and stands in the setting that it names: no axis for it.
    settings = [name for name in differ if name not in ("seed", "vary")] or differ
    known = [one.name for one in columns]
    measured = [name for name in MEASURED if name in known]
    return (*settings[:MOST_AXES], *measured) or tuple(known[:1])


def usual_x(columns: Sequence[Column]) -> str:
    """The first setting that differs and is a number, else the first that differs."""
    names = usual_axes(columns)
    numbers = [one.name for one in columns if one.name in names and one.is_number]
    return (numbers or list(names))[0]


def usual_color(columns: dict[str, Column]) -> str:
    """What colours the lines where nobody has chosen: what is to become better."""
    return next((name for name in ("nll", "accuracy") if name in columns), next(iter(columns)))


def against(
    every: Sequence[runs.Run], kept: Selection, columns: dict[str, Column], color: Column
) -> None:
    """Any figure against any setting."""
    labels = {name: column.label for name, column in columns.items()}
    first = usual_x(kept.columns)
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls_scatter"
    ):
        x = columns[controls.one(address.X, "Across", labels, first, width=240)]
        y = columns[controls.one(address.Y, "Up", labels, usual_color(columns), width=240)]
        suits = tuple(axis for axis, one in (("x", x), ("y", y)) if one.log and one.may_log)
        log = controls.pills(address.LOGS, "Axes", LOGS, suits, "none")
    names = [told_apart(run) for run in every]
    title = f"{y.label} by {x.spoken} · {count(len(every), 'run')}"
    figure_panel.show(
        scatter.figure(x, y, color, names, kept.kept, title, theme.palette(), log),
        key="compare_scatter",
        name=f"{y.name}-by-{x.name}",
        title=title,
        alt=alt(x, y, kept),
        table=lambda: scatter.table(kept.columns, [run.id for run in every], names, kept.kept),
        sees=f"A point a run: its {y.spoken} by its {x.spoken}, coloured by its "
        f"{color.spoken}.{left_out(kept)}",
    )


def left_out(kept: Selection) -> str:
    """What the small points are."""
    return "" if kept.whole else " Small and grey: not brushed."


def alt(x: Column, y: Column, kept: Selection) -> str:
    """The picture in words: where the least and the most of it stand."""
    pairs = [
        (a, b)
        for a, b, stays in zip(x.values, y.values, kept.kept, strict=True)
        if stays and a is not None and isinstance(b, int | float)
    ]
    if not pairs:
        return f"{y.label} by {x.label}: no run has both"
    low, high = min(pairs, key=lambda pair: pair[1]), max(pairs, key=lambda pair: pair[1])
    return (
        f"{y.label} by {x.label} of {count(len(pairs), 'run')}: least {y.say(low[1])} at "
        f"{x.say(low[0])}, most {y.say(high[1])} at {x.say(high[0])}"
    )


def table(every: Sequence[runs.Run], kept: Selection, columns: Sequence[Column]) -> None:
    """The runs that are left, a row each."""
    left = [place for place, stays in enumerate(kept.kept) if stays]
    frame = (
        scatter.table(columns, [run.id for run in every], [called(run) for run in every], kept.kept)
        .iloc[left]
        .drop(columns="brushed")
    )
    shown = downloads.on_screen(frame)
    for column in columns:
        if column.is_number:
            shown = shown.format(column.say, subset=[column.name], na_rep="–")
    config = {column.name: column.label for column in columns}
    st.dataframe(
        shown,
        hide_index=True,
        key="compare_left",
        placeholder="–",
        column_config={
            **config,
            "run": None,
            "name": st.column_config.TextColumn("Run", pinned=True),
        },
        alt=f"{count(len(left), 'run')} with their settings and figures",
    )
