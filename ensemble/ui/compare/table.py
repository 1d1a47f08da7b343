"""Table: a column a group or a run, and what each is better by than the baseline."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.comparison import comparison_table as compared
from ensemble.comparison.compared_settings import collect_run_settings, find_differing_settings
from ensemble.comparison.run_groups import RunGroup, group_runs
from ensemble.figures.comparison.comparison_table import describe_seed_limit
from ensemble.runs.annotations.baseline import read_baselines
from ensemble.ui.compare import comparison_cache, controls
from ensemble.ui.compare.controls import ControlPlaces
from ensemble.ui.render import render_view
from ensemble.ui.shared import address, seed_launch, widget_state
from ensemble.views.side_by_side import side_by_side_view
from ensemble.wording.run_names import format_creation_time, format_unique_run_name

_SETTING_ROWS = {"differ": "Those that differ", "all": "All"}
_COLUMN_SUBJECTS = {"groups": "Groups", "runs": "Runs"}
_NO_BASELINE = "none"


def show_comparison_table(groups: Sequence[RunGroup], every: Sequence[runs.Run], places: ControlPlaces) -> None:
    with places.more:
        each = address.select_address_option(address.COLUMNS, "A column for each of the", _COLUMN_SUBJECTS, "groups")
        if each == "runs":
            groups = _group_runs_singly(every)
        differ = address.select_address_option(address.ROWS, "Settings", _SETTING_ROWS, "differ") == "differ"
    with places.first:
        baseline = _select_comparison_baseline(groups)
    runs_fingerprint = comparison_cache.compute_runs_fingerprint(every)
    keys = tuple(group.key for group in groups)
    shared_comparison = comparison_cache.compute_shared_comparison(
        "table", runs_fingerprint, (keys, baseline), lambda: compared.build_comparison_table(groups, baseline)
    )
    render_view(side_by_side_view(shared_comparison, only_differing=differ))
    if describe_seed_limit(shared_comparison):
        seed_launch.show_seed_launch([group.runs[0] for group in groups], "compare_table_seeds")


def _group_runs_singly(every: Sequence[runs.Run]) -> list[RunGroup]:
    names = find_differing_settings(collect_run_settings(run) for run in every)
    groups = []
    for group in group_runs(every, names or ("seed",)):
        for run in group.runs:
            alone = group.title if len(group.runs) == 1 else f"{group.title} · {format_creation_time(run.id)}"
            title = alone if run.name == run.id else format_unique_run_name(run)
            groups.append(RunGroup(title, run.id, (run,)))
    return groups


def _select_comparison_baseline(groups: Sequence[RunGroup]) -> str | None:
    """The id of a run of the group that the others are held against; None for none.

    As long as nobody chooses, the one that is pinned on Runs, else the first.
    """
    wanted = address.BASELINE.read()
    first = {group.runs[0].id: group for group in groups}
    own = next((name for name, group in first.items() if wanted in [run.id for run in group.runs]), None)
    pinned = set(read_baselines().values())
    default = next(
        (name for name, group in first.items() if pinned & {run.id for run in group.runs}), next(iter(first))
    )
    value = _NO_BASELINE if wanted == _NO_BASELINE else own or default
    options = {**{name: group.title for name, group in first.items()}, _NO_BASELINE: "No baseline"}
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
    if wanted not in (None, _NO_BASELINE) and own is None:
        st.caption("The baseline in the address is none of these runs.", width="content")
    return None if value == _NO_BASELINE else value
