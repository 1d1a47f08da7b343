"""Table: a column a group or a run, and what each is better by than the baseline."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.comparison.baseline import NO_BASELINE, choose_baseline
from ensemble.comparison.compared_settings import collect_run_settings, find_differing_settings
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.ui.compare import comparison_cache, controls
from ensemble.ui.compare.controls import ControlPlaces
from ensemble.ui.render import render_view
from ensemble.ui.shared import address, seed_launch, widget_state
from ensemble.views.side_by_side import side_by_side_view
from ensemble.wording.run_names import format_creation_time, format_unique_run_name

_SETTING_ROWS = {"differ": "Those that differ", "all": "All"}
_COLUMN_SUBJECTS = {"groups": "Groups", "runs": "Runs"}


def show_comparison_table(groups: Sequence[RunGroup], every: Sequence[runs.Run], places: ControlPlaces) -> None:
    with places.more:
        each = address.select_address_option(address.COLUMNS, "A column for each of the", _COLUMN_SUBJECTS, "groups")
        if each == "runs":
            groups = _group_runs_singly(every)
        differ = address.select_address_option(address.ROWS, "Settings", _SETTING_ROWS, "differ") == "differ"
    with places.first:
        _show_baseline_control(groups)
    table = comparison_cache.compute_comparison_table(groups)
    render_view(side_by_side_view(table, only_differing=differ))
    if any(not verdict.is_about_settings for verdict in table.verdicts.values()):
        seed_launch.show_seed_launch([group.runs[0] for group in groups], "compare_table_seeds")


def _group_runs_singly(every: Sequence[runs.Run]) -> list[RunGroup]:
    names = find_differing_settings(collect_run_settings(run) for run in every)
    groups = []
    for group in group_runs(every, names or ("seed",)):
        for run in group.runs:
            alone = group.title if len(group.runs) == 1 else f"{group.title} · {format_creation_time(run.id)}"
            title = alone if run.name == run.id else format_unique_run_name(run)
            groups.append(RunGroup(title, run.id, (run,), group.values))
    return groups


def _show_baseline_control(groups: Sequence[RunGroup]) -> None:
    """The group that the others are compared with; by the rule of `choose_baseline` until somebody chooses."""
    wanted, base, usual = address.BASELINE.read(), comparison_cache.find_baseline(groups), choose_baseline(groups)
    value, default = (one.group.runs[0].id if one else NO_BASELINE for one in (base, usual))
    options = {**{group.runs[0].id: group.title for group in groups}, NO_BASELINE: "No baseline"}
    key = f"compare_baseline_{controls.hash_options([*options, *options.values()])}"
    address.show_address_widget(
        key,
        value,
        lambda key: widget_state.draw_widget(
            st.selectbox,
            "Baseline",
            list(options),
            format_func=options.__getitem__,
            key=key,
            width=320,
            on_change=controls.update_option_address,
            args=(address.BASELINE, key, default),
            help="The run that the others are compared with, on the same test images.",
        ),
    )
    if wanted not in (None, NO_BASELINE) and (base is None or base.reason != "chosen"):
        st.caption("The baseline in the address is none of these runs.", width="content")
