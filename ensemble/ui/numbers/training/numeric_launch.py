"""Setting a run that predicts numbers up and launching it: what will be learnt, and from what."""

import functools

import numpy as np
import streamlit as st

from ensemble.config import RegressionConfig
from ensemble.errors import EnsembleError
from ensemble.jobs.placement import Placement
from ensemble.runs.numeric.numeric_launch import launch_numeric_run, prepare_numeric_table
from ensemble.runs.store import Run
from ensemble.tables.prepared_table import PreparedTable
from ensemble.tables.raw_table import NUMBER, RawColumn, RawTable
from ensemble.ui.devices import placement_control
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs.launch import LaunchPlan
from ensemble.ui.numbers.training import numeric_settings as settings
from ensemble.ui.numbers.training import table_upload
from ensemble.ui.numbers.training.table_upload import SelectedTable
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.run_panel import NUMERIC_SCREEN
from ensemble.ui.shared.seed_launch import list_missing_seeds
from ensemble.ui.train.launch import get_seed_count, show_seed_count
from ensemble.wording import escaping, formats

_PLACE_KEY = "numbers_place"
_CLUSTER_HELP = "On a cluster each group of members is a task. What each asks for is in ensemble.toml, table [{table}]."
_NO_TABLE_REASON = "Upload a table first, and choose what to predict."
QUICK_EXAMPLE = RegressionConfig(epochs=30)
_NumericPlan = tuple[RegressionConfig, PreparedTable]


def show_numeric_controls() -> None:
    """Every setting as a widget; those that a first run can leave alone stand under More."""
    settings.show_network_setting()
    for name in settings.MAIN_FIELDS:
        settings.show_numeric_setting(name)
    more = st.expander("More", key="numbers_more", on_change="rerun")
    if more.open:
        with more:
            for name in settings.ADVANCED_FIELDS:
                settings.show_numeric_setting(name)
    elif changed := settings.describe_changed_numeric_controls():
        st.caption(f"Also: {escaping.escape_markdown(changed)}.")
    placement_control.select_placement(_PLACE_KEY, _CLUSTER_HELP)
    show_seed_count()


def _plan_numeric_launch(chosen: SelectedTable | None) -> LaunchPlan[_NumericPlan]:
    label = "Train on a table"
    try:
        config = settings.collect_numeric_config()
        if chosen is None:
            return LaunchPlan(None, label, _NO_TABLE_REASON)
        table = table_upload.prepare_selected_table(config, chosen)
    except EnsembleError as error:
        return LaunchPlan(None, label, str(error))
    rows = formats.format_count(len(table.split.train), "row")
    label = f"Train {formats.format_count(config.members, 'member')} on {rows}"
    if (seeds := get_seed_count()) > 1:
        label = f"{label} × {seeds} seeds"
    placement = None
    if choice := widget_state.get_widget_value(_PLACE_KEY, placement_control.THIS_MACHINE):
        label = f"{label}, {placement_control.describe_placement_choice(choice)}"
        placement = placement_control.build_placement(choice)
    return LaunchPlan((config, table), label, note=" ".join(table.notes), placement=placement)


def show_numeric_launch_button(chosen: SelectedTable | None, primary: bool = True) -> None:
    launching.show_launch_button(
        "numbers_launch",
        functools.partial(_plan_numeric_launch, chosen),
        still_asked=lambda: False,
        press=_launch_and_show_numbers,
        below=launching.show_queue_note,
        primary=primary,
    )


def show_reuse_button(run: Run) -> None:
    if run.settings:
        st.button(
            "Use these settings again",
            key="numbers_reuse",
            icon=":material/replay:",
            on_click=settings.fill_numeric_settings,
            args=(run.settings,),
            help="Copies these settings to the controls, ready to change and launch.",
        )


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
    seeds = get_seed_count()

    def launch_all() -> Run:
        first = launch_numeric_run(config, table, placement)
        for other in list_missing_seeds(config, {config.seed}, seeds - 1):
            launch_numeric_run(other, table, placement)
        return first

    launching.launch_job_once(
        NUMERIC_SCREEN,
        (config, placement, seeds, table.source, table.encoding.target, len(table.targets)),
        launch_all,
        _show_numbers_next,
    )


def _show_numbers_next(run: Run) -> None:
    job_picker.set_next_shown_job(NUMERIC_SCREEN, run)
