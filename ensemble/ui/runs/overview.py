"""The list of runs on its screen: filters, the table, and those that are ticked."""

import zlib
from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.errors import RunError
from ensemble.jobs.leftovers import remove_leftovers
from ensemble.runs.annotations.baseline import read_baselines
from ensemble.ui.frame import disk_quota
from ensemble.ui.runs import (
    calibration_error,
    checkpoint_removal,
    columns,
    compare_links,
    filters,
    run_action_panel,
    run_actions,
    selection,
    summary,
)
from ensemble.ui.runs import table as runs_table
from ensemble.ui.shared import loaders, widget_state
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats
from ensemble.wording.runs.networks import format_memory

REFRESH_INTERVAL_S, _UNREAD_INTERVAL_S = 2.0, 0.4
ROW_HEIGHT_PX, MAX_ROWS = 35, 10


def show_runs_overview() -> None:
    """All runs; looks again by itself while one is active, or is still to be read."""
    live = _get_runs_refresh_interval(loaders.list_cached_runs(None))
    st.fragment(_refresh_runs_overview, run_every=live)(live)


def _get_runs_refresh_interval(every: Sequence[runs.Run]) -> float | None:
    """After how many seconds the list is drawn again; None where it stays as it is."""
    if tab.unread_error_count:
        return _UNREAD_INTERVAL_S
    return REFRESH_INTERVAL_S if any(run.active for run in every) else None


def _refresh_runs_overview(was_live: float | None) -> None:
    """The body of `show_runs_overview`, drawn again after `was_live` seconds."""
    with guard_page():
        every = loaders.list_cached_runs(None)
        if not every or _get_runs_refresh_interval(every) != was_live:
            st.rerun()
        disk_quota.show_quota_warning()
        run_actions.show_run_action_result()
        st.markdown(f"### {summary.describe_run_counts(every)}")
        if best := summary.describe_best_runs(every):
            st.caption(f"Highest test accuracy: {best}.")
        listed_runs = filters.filter_listed_runs(every, selection.get_selected_run_ids())
        if names := _show_runs_table(listed_runs):
            _show_runs_table_footer(listed_runs, every, names)
        _show_selected_runs(every, [run.id for run in listed_runs])
        show_unreadable_runs()
        _show_leftovers()
        if _get_runs_refresh_interval(every) != was_live:
            st.rerun()  # More is to be read, or all is.


def show_unreadable_runs() -> None:
    """Runs that cannot be read: said, so that nobody looks for them in vain."""
    if not (unreadable_runs := loaders.list_unreadable_runs()):
        return
    are = "is" if len(unreadable_runs) == 1 else "are"
    text = f"{formats.format_count(len(unreadable_runs), 'run')} cannot be read and {are} not listed."
    st.warning(text, icon=":material/folder_off:")
    with st.expander("Which, and why"):
        for why in unreadable_runs.values():
            st.text(why)


def _show_leftovers() -> None:
    """What killed imports and deletes left: said, with a button that removes it."""
    if not (leftovers := loaders.list_old_leftovers()):
        return
    size = format_memory(sum(leftover.size for leftover in leftovers))
    st.warning(
        f"{size} are left of imports, launches or deletes that were cut off. They are no runs.",
        icon=":material/cleaning_services:",
    )
    if not rights.describe_missing_right(Action.DELETE):
        st.button("Remove them", key="runs_leftovers", on_click=_remove_shown_leftovers, args=(size,))


def _remove_shown_leftovers(size: str) -> None:
    """Remove what `_show_leftovers` tells of."""
    run_actions.attempt_run_action(remove_leftovers, f"{size} freed.")


def _show_selected_runs(every: Sequence[runs.Run], listed: Sequence[str]) -> None:
    wanted = selection.get_selected_run_ids()
    if not wanted:
        st.caption(
            "Tick a run to open it, several to compare."
            if rights.describe_missing_right(Action.CHANGE)
            else "Tick a run to open or change it, several to compare."
        )
        return
    runs_by_id = {run.id: run for run in every}
    chosen_runs = [runs_by_id[run_id] for run_id in wanted if run_id in runs_by_id]
    if len(wanted) == 1:
        return _show_run_from_address(wanted[0], every)
    if gone := len(wanted) - len(chosen_runs):
        are = "is" if gone == 1 else "are"
        st.warning(
            f"Of the runs in the address {gone:,} {are} not here: deleted, or they never existed.",
            icon=":material/link_off:",
        )
    if len(chosen_runs) == 1:
        run_action_panel.show_run_action_panel(chosen_runs[0], every)
    elif chosen_runs:
        selection.show_selection_panel(chosen_runs, listed, every)


def _show_run_from_address(wanted: str, every: Sequence[runs.Run]) -> None:
    chosen = next((run for run in every if run.id == wanted), None)
    if chosen:
        return run_action_panel.show_run_action_panel(chosen, every)
    try:
        run_action_panel.show_run_action_panel(runs.find_run(wanted), every)  # made within the last moment
    except RunError as error:
        st.warning(escaping.escape_markdown(error), icon=":material/link_off:")


def _show_runs_table(listed_runs: Sequence[runs.Run]) -> list[str]:
    """The table, of which what is ticked goes into the address; its columns, none without runs."""
    tab.unread_error_count = 0
    if not listed_runs:
        st.info("No run matches: remove a filter.", icon=":material/search_off:")
        return []
    ids = tuple(run.id for run in listed_runs)
    baselines = set(read_baselines().values())
    first = ["baseline"] if baselines.intersection(ids) else []
    if any(run.target for run in listed_runs):
        first += ["task", "rmse", "crps"]
    names = columns.list_shown_columns(first, named=any(run.name != run.id for run in listed_runs))
    ece_by_run: dict[str, float] = {}
    if "ece" in names:
        ece_by_run, tab.unread_error_count = calibration_error.load_ece_of_runs(listed_runs)
    frame = runs_table.tabulate_runs(listed_runs, names, baselines=baselines, ece=ece_by_run)
    # Rows are ticked by place: another list of runs is another table, with the same runs ticked.
    key = f"runs_table_{zlib.crc32(' '.join((*ids, *names)).encode()):08x}"
    wanted = set(selection.get_selected_run_ids())
    rows = [at for at, run_id in enumerate(ids) if run_id in wanted]
    held = widget_state.get_widget_value(key, None)
    if held is None or sorted(held["selection"]["rows"]) != rows:
        # Only then: what is ticked while this is drawn would be taken back by what is sent.
        widget_state.set_widget_value(key, {"selection": {"rows": rows, "columns": [], "cells": []}})
    st.dataframe(
        runs_table.style_runs_table(frame, [run.entry.test_size if run.entry else 1 for run in listed_runs]),
        hide_index=True,
        key=key,
        on_select=lambda: selection.update_table_selection(key, ids),
        selection_mode="multi-row",
        height=ROW_HEIGHT_PX * (min(len(listed_runs), MAX_ROWS) + 1) + 3,
        column_config=columns.build_column_config(names),
        placeholder="–",
        alt=f"{formats.format_count(len(listed_runs), 'run')}, newest first, with state, accuracy and gain",
    )
    return names


def _show_runs_table_footer(listed_runs: Sequence[runs.Run], every: Sequence[runs.Run], names: list[str]) -> None:
    """Under the table: its columns, its file, and the way to all with the tag that is looked for."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        columns.show_column_picker(names)
        selection.show_runs_csv_button(listed_runs, "runs_csv", "shown")
        checkpoint_removal.show_checkpoint_removal_button()
        for tag in widget_state.get_widget_value("runs_tags", [])[: compare_links.MAX_TAG_LINKS]:
            compare_links.show_tag_compare_link(tag, every)
        if tab.unread_error_count:
            read = f"{len(listed_runs) - tab.unread_error_count:,} of {formats.format_count(len(listed_runs), 'run')}"
            st.caption(f"ECE: {read} read so far", width="content")
