"""Setting a regression up and launching it: what will be solved, on what, and if it fits."""

import os
import socket

import psutil
import streamlit as st

from ensemble import regression
from ensemble.errors import ConfigError
from ensemble.jobs.placement import Placement
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.regression.worker import MAX_CPU_DEVICES
from ensemble.ui.devices import placement_control, probe
from ensemble.ui.devices.probe import DeviceInventory
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs.launch import LaunchPlan
from ensemble.ui.parallel import settings
from ensemble.ui.parallel.screen import REGRESSION_SCREEN
from ensemble.ui.shared import widget_state
from ensemble.ui.train.launch import round_duration
from ensemble.wording import formats

PLACE_KEY = "solve_where"
_MORE_FIELDS = ("linesearch", "stepsize", *settings.ADVANCED_FIELDS)
PEAK_MEMORY_FACTOR = 2.5  # what solving holds at most, of the samples' own size
QUICK_EXAMPLE = LbfgsConfig(samples=5_000, iterations=30)


def show_regression_controls() -> None:
    """Every setting as a widget; those that a first solve can leave alone stand under More."""
    settings.show_regression_dataset_control()
    if settings.get_regression_setting("dataset") == "synthetic":
        for name in settings.SYNTHETIC_FIELDS:
            settings.show_regression_setting(name)
    settings.show_regression_setting("iterations")
    here = probe.get_device_probe().inventory
    settings.show_device_count_control(_count_possible_devices(here) if here else 0)
    settings.show_pmap_control()
    placement_control.select_placement(PLACE_KEY, placement_control.SINGLE_TASK_HELP)
    more = st.expander("More", key="solve_more", on_change="rerun")
    if more.open:
        with more:
            for name in _MORE_FIELDS:
                settings.show_regression_setting(name)
    elif changed_regression_controls := settings.describe_changed_regression_controls():
        st.caption(f"Also: {changed_regression_controls}.")


def _count_possible_devices(here: DeviceInventory) -> int:
    """How many devices a regression can be given: a CPU can be split into several."""
    if here.platform != "cpu":
        return here.devices
    return int(os.environ.get("JAX_NUM_CPU_DEVICES") or MAX_CPU_DEVICES)


def count_default_devices(here: DeviceInventory) -> int:
    """How many devices "all" are: of a CPU, no more than it has cores."""
    return min(here.cores, _count_possible_devices(here)) if here.platform == "cpu" else here.devices


def _plan_regression_launch(config: LbfgsConfig) -> LaunchPlan[LbfgsConfig]:
    how = settings.PMAP_PHRASES[config.pmap]
    if place := widget_state.get_widget_value(PLACE_KEY, placement_control.THIS_MACHINE):
        label = (
            f"Solve {settings.format_problem_size(config)} {how} on "
            f"{placement_control.describe_placement_choice(place)}"
        )
        return LaunchPlan(config, label, note="One task on one node, with the devices that it has there.")
    here = probe.get_device_probe().inventory
    devices = config.devices or (count_default_devices(here) if here else 0)
    on = f"on {formats.format_count(devices, 'device')}" if devices else "on all devices"
    if config.pmap == "without":
        on = "on 1 device"
    label = f"Solve {settings.format_problem_size(config)} {how} {on}"
    if here and devices > _count_possible_devices(here):
        return LaunchPlan(
            None,
            label,
            f"This machine has {formats.format_count(_count_possible_devices(here), 'device')}: "
            "choose at most that, or all.",
        )
    if reason := _describe_memory_shortage(config):
        return LaunchPlan(None, label, reason)
    return LaunchPlan(config, label, note=describe_solve_time(config))


def describe_solve_time(config: LbfgsConfig) -> str:
    for past in REGRESSION_SCREEN.list_jobs():
        status = past.status
        alike = settings.compute_problem_size(past.config) == settings.compute_problem_size(config)
        here = status.host == socket.gethostname() and status.started and not past.is_placed
        same = (past.config.sweep, past.config.pmap) == (config.sweep, config.pmap)
        if alike and here and past.state == "finished" and same:
            share = config.iterations / past.config.iterations
            seconds = share * (status.updated - (status.started or 0.0))
            return f"About {formats.format_duration(round_duration(seconds))}, as one of this size took before."
    return ""


def _describe_memory_shortage(config: LbfgsConfig) -> str:
    """Why the samples do not fit into the memory that is free; "" where they do."""
    samples, features, _ = settings.compute_problem_size(config)
    needed = PEAK_MEMORY_FACTOR * 4 * samples * features
    free = psutil.virtual_memory().available
    if needed <= free:
        return ""
    return (
        f"Solving {settings.format_problem_size(config)} takes about {_format_gigabytes(needed)} of "
        f"memory, and {_format_gigabytes(free)} are free: take fewer samples or features."
    )


def _format_gigabytes(size: float) -> str:
    """Bytes as "3.1 GB"."""
    return f"{size / 1e9:,.1f} GB"


def _plan_selected_regression() -> LaunchPlan[LbfgsConfig]:
    try:
        return _plan_regression_launch(settings.collect_regression_config())
    except ConfigError as error:
        return LaunchPlan(None, "Solve with and without pmap", str(error))


def show_regression_launch_button(primary: bool = True) -> None:
    launching.show_launch_button(
        "solve_launch",
        _plan_selected_regression,
        still_asked=lambda: probe.get_device_probe().is_pending,
        press=launch_and_show_regression,
        below=_show_regression_wait_note,
        primary=primary,
    )


def _show_regression_wait_note(planned: LaunchPlan[LbfgsConfig]) -> None:
    if not widget_state.get_widget_value(PLACE_KEY, placement_control.THIS_MACHINE):
        launching.show_queue_note(planned)


def show_quick_regression_button() -> None:
    """The button of the first visit: an example that is solved in seconds."""
    iterations = formats.format_count(QUICK_EXAMPLE.iterations, "iteration")
    text = f"Solve a quick example: {settings.format_problem_size(QUICK_EXAMPLE)}, {iterations}"
    launching.show_planned_button(
        LaunchPlan(QUICK_EXAMPLE, text, _describe_memory_shortage(QUICK_EXAMPLE)),
        "solve_quick",
        launch_and_show_regression,
    )


def launch_and_show_regression(config: LbfgsConfig, placement: Placement | None = None) -> None:
    """Start `config` where that is chosen and show it."""

    def start_regression() -> regression.Regression:
        place = placement_control.build_placement(
            widget_state.get_widget_value(PLACE_KEY, placement_control.THIS_MACHINE)
        )
        return regression.launch_regression(config, place)

    launching.launch_job_once(
        REGRESSION_SCREEN,
        config,
        start_regression,
        lambda solve: job_picker.set_next_shown_job(REGRESSION_SCREEN, solve),
    )
