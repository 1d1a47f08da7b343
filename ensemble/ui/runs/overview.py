"""The list of runs on its screen: filters, the table, and those that are ticked."""

import zlib
from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.errors import RunError
from ensemble.runs.annotations.baseline import read_baselines
from ensemble.ui.frame import room
from ensemble.ui.runs import actions, columns, doing, ece, filters, summary, ticked, ways
from ensemble.ui.runs import table as runs_table
from ensemble.ui.shared import loaders, widget
from ensemble.ui.shared.guard import guarded
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats

SECONDS_BETWEEN, SECONDS_TO_READ_ON = 2.0, 0.4
ROW, MOST_ROWS = 35, 10


def show() -> None:
    """All runs; looks again by itself while one is active, or is still to be read."""
    live = seconds_between(loaders.all_runs())
    st.fragment(body, run_every=live)(live)


def seconds_between(every: Sequence[runs.Run]) -> float | None:
    """After how many seconds the list is drawn again; None where it stays as it is."""
    if tab.runs_unread:
        return SECONDS_TO_READ_ON
    return SECONDS_BETWEEN if any(run.active for run in every) else None


def body(was_live: float | None) -> None:
    """The body of `show`, drawn again after `was_live` seconds."""
    with guarded():
        every = loaders.all_runs()
        if not every or seconds_between(every) != was_live:
            st.rerun()
        room.tell()
        doing.tell()
        st.markdown(f"#### {summary.answer(every)}")
        if best := summary.best(every):
            st.caption(f"Best ensembles so far: {best}.")
        shown = filters.filtered(every, ticked.ids())
        if names := table(shown):
            below(shown, every, names)
        chosen(every, [run.id for run in shown])
        broken()
        if seconds_between(every) != was_live:
            st.rerun()  # More is to be read, or all is.


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


def chosen(every: Sequence[runs.Run], listed: Sequence[str]) -> None:
    """What can be done with the run that is ticked, or with those that are."""
    wanted = ticked.ids()
    if not wanted:
        st.caption(
            "Tick a row to open a run, or several to compare."
            if rights.why_not(Action.CHANGE)
            else "Tick a row to open, rename, tag, resume or delete a run; several to compare."
        )
        return
    known = {run.id: run for run in every}
    found = [known[one] for one in wanted if one in known]
    if len(wanted) == 1:
        return of_address(wanted[0], every)
    if gone := len(wanted) - len(found):
        are = "is" if gone == 1 else "are"
        st.warning(
            f"Of the runs in the address {gone:,} {are} not here: deleted, or never there.",
            icon=":material/link_off:",
        )
    if len(found) == 1:
        actions.panel(found[0], every)
    elif found:
        ticked.panel(found, listed, every)


def of_address(wanted: str, every: Sequence[runs.Run]) -> None:
    """The run that the address names, and what can be done with it."""
    chosen = next((run for run in every if run.id == wanted), None)
    if chosen:
        return actions.panel(chosen, every)
    try:
        actions.panel(runs.find(wanted), every)  # made within the last moment
    except RunError as error:
        st.warning(escaping.markdown(error), icon=":material/link_off:")


def table(shown: Sequence[runs.Run]) -> list[str]:
    """The table, of which what is ticked goes into the address; its columns, none without runs."""
    tab.runs_unread = 0
    if not shown:
        st.info("No run is like that: take a filter away.", icon=":material/search_off:")
        return []
    ids = tuple(run.id for run in shown)
    baselines = set(read_baselines().values())
    names = columns.chosen(["baseline"] if baselines.intersection(ids) else [])
    known: dict[str, float] = {}
    if "ece" in names:
        known, tab.runs_unread = ece.of_runs(shown)
    frame = runs_table.table(shown, names, baselines=baselines, ece=known)
    # Rows are ticked by place: another list of runs is another table, with the same runs ticked.
    key = f"runs_table_{zlib.crc32(' '.join((*ids, *names)).encode()):08x}"
    wanted = set(ticked.ids())
    rows = [at for at, one in enumerate(ids) if one in wanted]
    held = widget.value(key, None)
    if held is None or sorted(held["selection"]["rows"]) != rows:
        # Only then: what is ticked while this is drawn would be taken back by what is sent.
        widget.put(key, {"selection": {"rows": rows, "columns": [], "cells": []}})
    st.dataframe(
        runs_table.styled(frame, [run.data.test_size for run in shown]),
        hide_index=True,
        key=key,
        on_select=lambda: ticked.pressed(key, ids),
        selection_mode="multi-row",
        height=ROW * (min(len(shown), MOST_ROWS) + 1) + 3,
        column_config=columns.config(names),
        placeholder="–",
        alt=f"{formats.count(len(shown), 'run')}, newest first, with state, accuracy and gain",
    )
    return names


def below(shown: Sequence[runs.Run], every: Sequence[runs.Run], names: list[str]) -> None:
    """Under the table: its columns, its file, and the way to all with the tag that is looked for.

    Args:
      shown: the runs in the table.
      every: all runs.
      names: of the columns.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        columns.choice(names)
        ticked.csv(shown, "runs_csv", "shown")
        for tag in widget.value("runs_tags", [])[: ways.MOST_TAGS]:
            ways.of_tag(tag, every)
        if tab.runs_unread:
            read = f"{len(shown) - tab.runs_unread:,} of {formats.count(len(shown), 'run')}"
            st.caption(f"ECE: {read} read so far", width="content")
