"""Setting a run that predicts numbers up and launching it: what will be learnt, and from what."""

import functools

import numpy as np
import streamlit as st

from ensemble import architectures
from ensemble.config import RegressionConfig
from ensemble.errors import EnsembleError
from ensemble.jobs.placement import Placement
from ensemble.runs.numeric.numeric_launch import launch_numeric_run, prepare_numeric_table
from ensemble.runs.store import Run
from ensemble.tables.prepared_table import PreparedTable
from ensemble.tables.raw_table import NUMBER, RawColumn, RawTable
from ensemble.ui.devices import placement_control as places
from ensemble.ui.frame import disk_quota
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs.launch import LaunchPlan
from ensemble.ui.numbers.training import table_upload
from ensemble.ui.numbers.training.table_upload import SelectedTable
from ensemble.ui.shared import settings
from ensemble.ui.shared.settings import TABLE_FORM
from ensemble.ui.train import launch, number_fields, placement_control, presets
from ensemble.wording import formats

QUICK_EXAMPLE = RegressionConfig(epochs=30)
_NumericPlan = tuple[RegressionConfig, PreparedTable]


def show_first_numeric_settings() -> None:
    settings.begin_settings_visit(TABLE_FORM)
    with st.container(gap="xsmall", key="first_settings"):
        if architectures.list_allowed_networks():
            settings.select_run_setting("network", TABLE_FORM)
        number_fields.show_number_fields(TABLE_FORM)


def show_more_numeric_settings(run: Run | None) -> None:
    settings.show_setting_groups(TABLE_FORM, _show_other_setting)
    placement_control.show_placement_control(TABLE_FORM)
    if run:
        presets.show_settings_difference(run)


def _show_other_setting(name: str) -> None:
    if name != "groups" or not placement_control.get_selected_place(TABLE_FORM):
        settings.select_run_setting(name, TABLE_FORM)


def _plan_numeric_launch(chosen: SelectedTable | None) -> LaunchPlan[_NumericPlan]:
    label = "Train on a table"
    placement = None
    try:
        config = RegressionConfig.from_dict(settings.collect_settings(TABLE_FORM))
        if chosen is None:
            return LaunchPlan(None, label, table_upload.explain_missing_table())
        table = table_upload.prepare_selected_table(config, chosen)
        if choice := placement_control.get_selected_place(TABLE_FORM):
            placement = places.build_fitting_placement(choice)
    except EnsembleError as error:
        return LaunchPlan(None, label, str(error))
    rows = formats.format_count(len(table.split.train), "row")
    label = f"Train {formats.format_count(config.members, 'member')} on {rows}{launch.describe_seed_count()}"
    if choice:
        label = f"{label}, {places.describe_placement_choice(choice)}"
    return LaunchPlan((config, table), label, note=" ".join(table.notes), placement=placement)


def show_numeric_launch_button(chosen: SelectedTable | None, primary: bool = True) -> None:
    launching.show_launch_button(
        "numbers_launch",
        functools.partial(_plan_numeric_launch, chosen),
        still_asked=lambda: False,
        press=_launch_and_show_numbers,
        below=_show_launch_notes,
        primary=primary,
    )


def _show_launch_notes(planned: LaunchPlan[_NumericPlan]) -> None:
    launching.show_queue_note(planned)
    disk_quota.show_quota_warning()


def show_quick_numbers_button() -> None:
    """The button of the first visit: a table that is here already."""
    launching.show_planned_button(
        LaunchPlan((QUICK_EXAMPLE, _load_example_table()), "Try it on a table of 442 patients"),
        "numbers_quick",
        _launch_and_show_numbers,
    )


@st.cache_resource(max_entries=1, show_spinner=False)
def _load_example_table() -> PreparedTable:
    """The diabetes table of Efron and others (2004), as scikit-learn has it."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    columns = [
        RawColumn(str(name), NUMBER, np.asarray(values, np.float64))
        for name, values in zip(data.feature_names, data.data.T, strict=True)
    ]
    columns.append(RawColumn("progression", NUMBER, np.asarray(data.target, np.float64)))
    table = RawTable("diabetes", len(data.target), tuple(columns))
    return prepare_numeric_table(QUICK_EXAMPLE, table, "progression")


def _launch_and_show_numbers(plan: _NumericPlan, placement: Placement | None = None) -> None:
    config, table = plan
    launch.launch_and_show_seeds(
        config,
        (placement, table.source, table.encoding.target, len(table.targets)),
        launch=lambda config: launch_numeric_run(config, table, placement),
    )
