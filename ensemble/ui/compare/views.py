"""The views of Compare: each is a module, imported when it is chosen."""

import streamlit as st

from ensemble import runs
from ensemble.comparison.compared_settings import (
    SETTING_NAMES,
    collect_run_settings,
    find_differing_settings,
    humanize_setting_name,
)
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.ui.compare import controls, curves, run_filter, selected_runs
from ensemble.ui.compare.controls import ControlPlaces
from ensemble.ui.compare.run_filter import RunFilter
from ensemble.ui.shared import address, loaders
from ensemble.ui.shared.guard import guard_page

VIEWS = {"curves": "Curves", "table": "Table", "settings": "Settings", "members": "Map"}
_UNGROUPED_VIEWS = ("members",)  # of single runs: their controls are not those of groups
DEFAULT_VIEW = "curves"
POLL_INTERVAL_S = 5.0


def show_comparison_view(selection: selected_runs.SelectedRuns) -> None:
    """The view that the address names; looks again by itself while a run is active."""
    if address.VIEW.read() == "plan":  # an address before 1.1
        query = address.RUN.build_query(address.RUN.read() or selection.runs[0].id)
        st.switch_page("pages/inspect.py", query_params=query | address.VIEW.build_query("members"))
    active = any(run.active for run in selection.runs)
    st.fragment(_refresh_comparison_view, run_every=POLL_INTERVAL_S if active else None)(active)


def _refresh_comparison_view(was_active: bool) -> None:
    """The body of `show_comparison_view`."""
    with guard_page():
        selection = selected_runs.read_selected_runs()
        if not selection.runs or any(run.active for run in selection.runs) != was_active:
            loaders.forget_runs()
            st.rerun()
        selected_runs.remember_selected_runs()
        view = address.VIEW.read_option(VIEWS, DEFAULT_VIEW)
        address.show_unknown_option(address.VIEW, VIEWS, VIEWS[view])
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls"):
            address.select_address_option(address.VIEW, "View", VIEWS, DEFAULT_VIEW)
            first = st.container(horizontal=True, vertical_alignment="bottom", width="content")
            grouped = view not in _UNGROUPED_VIEWS
            more = st.popover("More", key="compare_more") if grouped else first
        if grouped:
            with more:
                _show_grouping_control(selection.runs)
                run_filter.show_top_control()
        places = ControlPlaces(first, more)
        kept = run_filter.read_run_filter(selection.runs, wanted=view == "settings")
        # There even when it is empty: else what follows would be drawn anew, and lose the keyboard.
        with st.container(key="compare_left_out"):
            if grouped:
                run_filter.show_filter_summary(kept)
        with st.container(key="compare_view"):
            _draw_comparison_view(view, selection.runs, kept, places)


def _draw_comparison_view(view: str, every: tuple[runs.Run, ...], kept: RunFilter, places: ControlPlaces) -> None:
    left = kept.filter_runs(every)
    if not left and view in ("curves", "table"):
        st.info("No run is left: brush less, or show all.", icon=":material/filter_alt_off:")
        return
    if view == "curves":
        curves.show_comparison_curves(_group_compared_runs(left), places)
    elif view == "table":
        from ensemble.ui.compare import table

        table.show_comparison_table(_group_compared_runs(left), left, places)
    elif view == "settings":
        from ensemble.ui.compare import settings

        settings.show_settings_comparison(every, kept)
    else:
        from ensemble.ui.compare import members

        members.show_compared_members(every)


def _show_grouping_control(every: tuple[runs.Run, ...]) -> None:
    apart = find_differing_settings(collect_run_settings(run) for run in every)
    names = [name for name in address.BY.read() if name in SETTING_NAMES]
    options = {name: humanize_setting_name(name).capitalize() for name in SETTING_NAMES if name in (*apart, *names)}
    if options:
        controls.select_several_options(
            address.BY,
            "One curve for runs alike in",
            options,
            (),
            width=240,
            placeholder="Everything but the seed",
            help="Runs with the same values in these settings form a group, whatever else differs: "
            "one curve with its band, one column. With none, runs that differ in the seed alone do.",
        )


def _group_compared_runs(every: list[runs.Run]) -> list[RunGroup]:
    names = [name for name in address.BY.read() if name in SETTING_NAMES]
    return group_runs(every, names or None)
