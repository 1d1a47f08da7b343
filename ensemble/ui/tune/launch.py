"""Setting a sweep up and launching it: what is searched, by whom, for what, about how long."""

import functools
from dataclasses import replace
from typing import Any

import streamlit as st

from ensemble import datasets, sweeps
from ensemble.config import CLASSIFICATION, REGRESSION, AnyTrainingConfig, EnsembleConfig, RegressionConfig
from ensemble.datasets.partition.batch_size import check_batch_setting
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.errors import ConfigError, EnsembleError
from ensemble.jobs.placement import Placement
from ensemble.settings import list_setting_fields
from ensemble.sweeps import OBJECTIVES, Sweep, SweepConfig
from ensemble.sweeps.settings import DEFAULT_VALIDATION, list_objectives
from ensemble.sweeps.store import check_table_fits
from ensemble.tables.prepared_table import PreparedTable
from ensemble.ui.devices import placement_control, probe
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs.launch import LaunchPlan
from ensemble.ui.numbers.training import table_upload
from ensemble.ui.numbers.training.table_upload import SelectedTable
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.ui.train.launch import ESTIMATE_SOURCES, round_duration
from ensemble.ui.tune import space, sweep_duration
from ensemble.ui.tune.screen import SWEEP_SCREEN
from ensemble.wording import escaping, formats

PLACE_KEY = "tune_where"
_CLUSTER_HELP = (
    "On a cluster each worker is a task on one node, and they do not queue on this machine. What "
    "each asks for stands in ensemble.toml, table [{table}]."
)
_NO_BREAK = "\N{NO-BREAK SPACE}"
_SWEEP_FIELDS = {field.name: field for field in list_setting_fields(SweepConfig)}
_SAMPLER_LABELS = {"tpe": "TPE: learns from the trials before", "random": "Random", "grid": "Grid: every combination"}
_PRUNER_LABELS = {
    "none": "None: every trial to its end",
    "median": "Median: ends what is below it",
    "hyperband": "Hyperband: few epochs first",
}
_OBJECTIVE_LABELS = {
    "nll": "NLL of the ensemble",
    "accuracy": "Accuracy of the ensemble",
    "ece": "ECE of the ensemble",
    "rmse": "RMSE of the ensemble",
    "crps": "CRPS of the ensemble",
    "seconds": "Seconds of training",
}
_QUICK_SWEEP = SweepConfig(
    trials=8, sampler="random", base=EnsembleConfig(network="logistic", epochs=5, validation=DEFAULT_VALIDATION)
)
_REPEAT_COUNTS = (1, 3, 5)
_VALIDATION_SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
_TASK_LABELS = {CLASSIFICATION: "Images", REGRESSION: "A table"}
# A table goes with sweeps of regressions alone.
_SweepRequest = tuple[SweepConfig, PreparedTable | None]


def _format_sweep_key(name: str) -> str:
    return f"tune_{name}"


def _format_objectives_key() -> str:
    return _format_sweep_key("table_objectives" if space.get_searched_task() == REGRESSION else "objectives")


def show_sweep_controls() -> SelectedTable | None:
    """Show the search space and the number of trials; return the table to learn from, if any."""
    widget_state.initialize_widget(space.TASK_KEY, CLASSIFICATION)
    task = widget_state.draw_widget(
        st.segmented_control,
        "Learn from",
        list(_TASK_LABELS),
        key=space.TASK_KEY,
        required=True,
        persist_state="session",
        format_func=_TASK_LABELS.__getitem__,
        help="Images of a dataset, whose classes are learned, or a column of numbers in a table.",
    )
    table = table_upload.select_table() if task == REGRESSION else None
    on_grid = _get_sweep_setting("sampler") == "grid"
    space.show_search_space(on_grid)
    _show_repeats_control()
    if not on_grid:
        _show_sweep_setting("trials", "Trials")
    placement_control.select_placement(PLACE_KEY, _CLUSTER_HELP)
    more = st.expander("More", key="tune_more", on_change="rerun")
    if more.open:
        with more:
            _show_other_sweep_controls()
    elif changed := _describe_changed_sweep_controls():
        st.caption(f"Also: {changed}.")
    _show_shared_settings()
    return table


def _show_repeats_control() -> None:
    key = _format_sweep_key("repeats")
    held = widget_state.initialize_widget(key, _SWEEP_FIELDS["repeats"].default)
    label = "Seeds per trial"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tune_seeds_row"):
        st.caption(label, help=_SWEEP_FIELDS["repeats"].metadata["help"], width="content")
        widget_state.draw_widget(
            st.segmented_control,
            label,
            sorted({*_REPEAT_COUNTS, held}),
            key=key,
            required=True,
            persist_state="session",
            label_visibility="collapsed",
        )


def _show_other_sweep_controls() -> None:
    _show_sweep_setting("sampler", "Sampler", format_func=_SAMPLER_LABELS.__getitem__)
    widget_state.initialize_widget(_format_objectives_key(), ["nll"])
    widget_state.draw_widget(
        st.multiselect,
        "Chosen by",
        list_objectives(space.get_searched_task()),
        format_func=_OBJECTIVE_LABELS.__getitem__,
        key=_format_objectives_key(),
        persist_state="session",
        select_all=False,
        help="On the validation images or rows, at a trial's best epoch. Of several the trials that no "
        "other beats in all are shown: the Pareto front.",
    )
    draw_field_control(
        settings.RUN_FIELDS["validation"],
        _format_sweep_key("validation"),
        "Validation share",
        start=DEFAULT_VALIDATION,
        steps=_VALIDATION_SHARES,
        format_func=lambda share: formats.format_percent(share, places=0),
        help="Of the images or rows that are not tested on, held out of every trial to choose settings by.",
    )
    _show_sweep_setting("pruner", "Pruner", format_func=_PRUNER_LABELS.__getitem__)
    _show_sweep_setting("workers", "Workers")
    _show_sweep_setting("sampler_seed", "Seed of the sampler")


def _describe_changed_sweep_controls() -> str:
    """What under More is not as usual: "sampler grid, chosen by ECE"."""
    parts = [
        f"{name.replace('_', ' ')} {_get_sweep_setting(name)}"
        for name in ("sampler", "pruner", "workers", "sampler_seed")
        if _get_sweep_setting(name) != _SWEEP_FIELDS[name].default
    ]
    chosen = widget_state.get_widget_value(_format_objectives_key(), ["nll"])
    if chosen != ["nll"]:
        labels = ", ".join(_OBJECTIVE_LABELS[name] for name in chosen)
        parts.append(f"chosen by {labels or 'nothing'}")
    if (share := _get_sweep_setting("validation")) != DEFAULT_VALIDATION:
        parts.append(f"validation share {formats.format_percent(share, places=0)}")
    return ", ".join(parts)


def _show_sweep_setting(name: str, label: str, **more: Any) -> None:
    """The widget of a setting of the sweep: a choice, or a number that is typed."""
    draw_field_control(_SWEEP_FIELDS[name], _format_sweep_key(name), label, typed=True, **more)


def _show_shared_settings() -> None:
    """The way to where all other settings are set, which its "?" names."""
    of_table = space.get_searched_task() == REGRESSION
    text = "" if of_table else f"{datasets.find_dataset_info(settings.get_run_setting('dataset')).title} · "
    try:
        text += space.describe_shared_settings(_collect_base(), {*space.list_searched_settings(), "validation"})
    except ConfigError as error:
        text = str(error)
    st.page_link(
        "pages/numbers.py" if of_table else "pages/train.py",
        label=f"All else as on {'Numbers' if of_table else 'Train'}",
        icon=":material/tune:",
        help=escaping.escape_markdown(text),
    )


def _collect_base() -> AnyTrainingConfig:
    """The settings that all trials share; ConfigError if two do not fit together."""
    if space.get_searched_task() == REGRESSION:
        return RegressionConfig.from_dict(settings.collect_settings(settings.TABLE_FORM))
    return settings.collect_run_config()


def _get_sweep_setting(name: str) -> Any:
    default = DEFAULT_VALIDATION if name == "validation" else _SWEEP_FIELDS[name].default
    return widget_state.get_widget_value(_format_sweep_key(name), default)


def _collect_sweep_config() -> SweepConfig:
    """The sweep that the controls say.

    Raises:
      ConfigError: they do not fit together, or something is missing.
    """
    if not space.list_searched_settings():
        raise ConfigError("Nothing is searched: tick at least one setting.")
    if name := space.find_empty_setting():
        raise ConfigError(f"No value of {name} is given: give two or more to try.")
    if not (goals := widget_state.get_widget_value(_format_objectives_key(), ["nll"])):
        raise ConfigError("Nothing is chosen by: choose an objective such as NLL.")
    words = {
        name: _get_sweep_setting(name) for name in ("trials", "sampler", "pruner", "workers", "repeats", "sampler_seed")
    }
    share = widget_state.get_widget_value(_format_sweep_key("validation"), DEFAULT_VALIDATION)
    searched = space.collect_search_space(words["sampler"] == "grid")
    ordered = ",".join(goal for goal in OBJECTIVES if goal in goals)
    base = replace(_collect_base(), validation=share)
    shared = {**base.as_dict(), "task": base.task}
    return SweepConfig.from_dict({**words, "space": searched, "objectives": ordered, "base": shared})


def _plan_sweep_launch(chosen: SelectedTable | None) -> LaunchPlan[_SweepRequest]:
    try:
        wanted = _collect_sweep_config()
        label = f"Launch {formats.format_count(wanted.trial_count, 'trial')}"
        if wanted.repeats > 1:
            label += f" × {wanted.repeats} seeds"
    except ConfigError as error:
        return LaunchPlan(None, "Launch", str(error))
    try:
        table, note = _prepare_examples(wanted, chosen)
    except EnsembleError as error:
        return LaunchPlan(None, label, str(error))
    request = wanted, table
    if place := widget_state.get_widget_value(PLACE_KEY, placement_control.THIS_MACHINE):
        workers = formats.format_count(wanted.workers, "task")
        label = f"{label} in {workers} on {placement_control.describe_placement_choice(place)}"
        return LaunchPlan(request, label, note=note)
    if (here := probe.get_device_probe().inventory) is None:
        return LaunchPlan(request, label, note=note)
    if (about := sweep_duration.estimate_sweep_duration(wanted, here)) is None:
        return LaunchPlan(request, label, note=note)
    time_ = formats.format_duration(round_duration(about.seconds)).replace(" ", _NO_BREAK)
    most = "at most " if wanted.pruner != "none" else "about "
    return LaunchPlan(request, f"{label}, {most}{time_}", note=f"{note} Time {ESTIMATE_SOURCES[about.source]}.")


def _prepare_examples(wanted: SweepConfig, chosen: SelectedTable | None) -> tuple[PreparedTable | None, str]:
    """Return the table that trials learn from, None for images, and a note on the validation examples.

    Raises:
      ConfigError: there is nothing to learn from, or too little of it.
      DataError: the columns of the table do not allow it.
    """
    if isinstance(wanted.base, EnsembleConfig):
        info = datasets.find_dataset_info(wanted.base.dataset)
        if not info.prepared:
            raise ConfigError(f"{info.title} is not here yet: fetch it on Train.")
        check_batch_setting(wanted.base, wanted.largest_batch_size)
        aside = count_holdout_images(info.train_size, wanted.base.validation)
        return None, _describe_selection_examples(wanted, aside, info.noun, "images")
    if chosen is None:
        raise ConfigError(table_upload.explain_missing_table())
    table = table_upload.prepare_selected_table(wanted.base, chosen)
    check_table_fits(wanted, table)
    selection_rows = _describe_selection_examples(wanted, len(table.split.validation), "row", "rows")
    return table, " ".join([selection_rows, *table.notes])


def _describe_selection_examples(config: SweepConfig, aside: int, noun: str, tested: str) -> str:
    if config.objective_names == ("seconds",):
        return "Chosen by the seconds that training takes."
    return f"Chosen on {formats.format_count(aside, f'validation {noun}')}, never on test {tested}."


def show_sweep_launch_button(chosen: SelectedTable | None, primary: bool = True) -> None:
    launching.show_launch_button(
        "tune_launch",
        functools.partial(_plan_sweep_launch, chosen),
        still_asked=lambda: probe.get_device_probe().is_pending,
        press=_launch_and_show_sweep,
        below=_show_sweep_wait_note,
        primary=primary,
    )


def _show_sweep_wait_note(planned: LaunchPlan[_SweepRequest]) -> None:
    if not widget_state.get_widget_value(PLACE_KEY, placement_control.THIS_MACHINE):
        launching.show_queue_note(planned)


def show_quick_sweep_button() -> None:
    """The button of the first visit: an example that is searched within a minute or so."""
    text = f"Try {formats.format_count(_QUICK_SWEEP.trials, 'learning rate')} on digits, logistic regression"
    launching.show_planned_button(LaunchPlan((_QUICK_SWEEP, None), text), "tune_quick", _launch_and_show_sweep)


def _launch_and_show_sweep(request: _SweepRequest, placement: Placement | None = None) -> None:
    wanted, table = request

    def start_sweep() -> Sweep:
        place = placement or placement_control.build_placement(
            widget_state.get_widget_value(PLACE_KEY, placement_control.THIS_MACHINE)
        )
        return sweeps.launch_sweep(wanted, place, table)

    learned = table and (table.source, table.encoding.target, len(table.targets))
    launching.launch_job_once(
        SWEEP_SCREEN, (wanted, learned), start_sweep, lambda sweep: job_picker.set_next_shown_job(SWEEP_SCREEN, sweep)
    )
