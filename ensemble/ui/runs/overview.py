"""The list of runs on its screen: filters, the table, and the one that is chosen."""

import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.errors import RunError
from ensemble.ui.predictions import downloads
from ensemble.ui.runs import actions
from ensemble.ui.runs import table as runs_table
from ensemble.ui.shared import address, loaders, run_panel, widget
from ensemble.ui.shared.guard import guarded
from ensemble.wording import escaping, formats
from ensemble.wording.verdicts import chosen

SECONDS_BETWEEN = 2.0
MANY = 6
ROW, MOST_ROWS = 35, 10


def show() -> None:
    """All runs; looks again by itself while one is active."""
    active = any(run.active for run in loaders.all_runs())
    st.fragment(body, run_every=SECONDS_BETWEEN if active else None)(active)


def body(was_active: bool) -> None:
    """The body of `show`."""
    with guarded():
        every = loaders.all_runs()
        if not every or any(run.active for run in every) != was_active:
            st.rerun()
        actions.tell()
        st.markdown(f"#### {runs_table.answer(every)}")
        if best := runs_table.best(every):
            st.caption(f"Best ensembles so far: {best}.")
        shown = filtered(every)
        table(shown)
        of_address(every)
        if shown:
            download(shown)
        broken()


def broken() -> None:
    """Runs that cannot be read: said, so that nobody looks for them in vain."""
    if not (found := loaders.unreadable_runs()):
        return
    are = "is" if len(found) == 1 else "are"
    said = f"{formats.count(len(found), 'run')} cannot be read and {are} not listed."
    st.warning(said, icon=":material/folder_off:")
    with st.expander("Which, and why"):
        for why in found.values():
            st.text(why)


def of_address(every: Sequence[runs.Run]) -> None:
    """The run that the address names, and what can be done with it."""
    wanted = address.RUN.read()
    chosen = next((run for run in every if run.id == wanted), None)
    if chosen:
        actions.panel(chosen)
    elif wanted:
        try:
            actions.panel(runs.find(wanted))  # made within the last moment
        except RunError as error:
            st.warning(escaping.markdown(error), icon=":material/link_off:")
    else:
        st.caption("Choose a row to open, rename, resume or delete a run.")


def filtered(every: Sequence[runs.Run]) -> list[runs.Run]:
    """The runs that the filters leave; with a few runs there are no filters."""
    if len(every) <= MANY:
        return list(every)
    titles = {run.config.dataset: run.data.title for run in every if run.trained}
    if any(not run.trained for run in every):
        titles["imported"] = "Imported"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Find", key="runs_text", width=220, icon=":material/search:",
            placeholder="Name, setting, note", persist_state="session",
        )  # fmt: skip
        states = st.multiselect(
            "State", [one for one in runs.STATES if any(run.state == one for run in every)],
            key="runs_states", width=170, placeholder="Every state", persist_state="session",
        )  # fmt: skip
        datasets = st.multiselect(
            "Data", list(titles),
            format_func=titles.__getitem__, key="runs_datasets", width=170,
            placeholder="All data", persist_state="session",
        )  # fmt: skip
    return runs_table.matching(every, text, states, datasets)


def table(shown: Sequence[runs.Run]) -> None:
    """The table; a row that is chosen goes into the address."""
    if not shown:
        st.info("No run is like that: take a filter away.", icon=":material/search_off:")
        return
    frame = runs_table.table(shown)
    ids = tuple(run.id for run in shown)
    # Rows are chosen by place: another list of runs is another table, with the same run chosen.
    key = f"runs_table_{zlib.crc32(' '.join(ids).encode()):08x}"
    wanted = address.RUN.read()
    rows = [ids.index(wanted)] if wanted in ids else []
    widget.put(key, {"selection": {"rows": rows, "columns": [], "cells": []}})
    st.dataframe(
        runs_table.styled(frame), hide_index=True, key=key,
        on_select=lambda: choose(key, ids), selection_mode="single-row",
        height=ROW * (min(len(shown), MOST_ROWS) + 1) + 3, column_config=columns(),
        placeholder="–",
        alt=f"{formats.count(len(shown), 'run')}, newest first, with state, accuracy and gain",
    )  # fmt: skip


def choose(key: str, ids: Sequence[str]) -> None:
    """Callback: the address follows the row, so that a link and a refresh show the same."""
    rows = widget.value(key).selection.rows
    if not rows:
        run_panel.forget()
    elif rows[0] < len(ids):
        with suppress(RunError):  # deleted meanwhile: the next drawing shows it gone
            run_panel.remember(runs.find(ids[rows[0]]))


def columns() -> dict[str, Any]:
    """How the columns read."""
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    ensemble = "Share of the test images that the averaged probabilities get right"
    return {
        # As wide as a window of 400 pixels shows up to the accuracy, with nothing cut off.
        "name": text("Name", pinned=True, width=184),
        "state": text("State", width=78),
        "best": number("Best", help=f"{ensemble}, at its best epoch: that of the lowest "
                       f"validation NLL where the run has one, else {chosen.ON_TEST}", width=68),
        "gain": number("Gain", help="How many more test images the ensemble gets right than its "
                       "mean member, at the last epoch", width=58),
        "done": text("Done", help="How much of it, or how many epochs; of one that waits, how "
                     "many jobs come before it; of one in groups how many of them work", width=150),
        "last": number("Last", help=f"{ensemble}, at its last epoch", width=75),
        "mean": number("Mean member", help="The mean of the members' own accuracies at the last "
                       "epoch", width=110),
        "time": text("Time", help="Spent on training", width=90),
        "data": text("Data", width=110),
        "settings": text("Settings", width=300),
        "made": st.column_config.DatetimeColumn("Made", format="D MMM YYYY, HH:mm", width=140),
        "note": text("Note", width=200),
        "id": None,
        "size": None,
    }  # fmt: skip


def download(shown: Sequence[runs.Run]) -> None:
    """The runs that are shown, as a file with every setting."""
    st.download_button(
        f"Download {formats.count(len(shown), 'run')} (CSV)",
        lambda: downloads.csv(runs_table.export(shown)), "runs.csv", "text/csv",
        icon=":material/download:", type="tertiary", on_click="ignore", key="runs_csv",
        help="Every setting and figure of the runs that are shown.",
    )  # fmt: skip
