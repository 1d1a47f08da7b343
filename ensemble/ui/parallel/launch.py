"""Setting a regression up and launching it: what will be solved, on what, and if it fits."""

import os
import socket

import psutil
import streamlit as st

from ensemble import regression
from ensemble.errors import ConfigError
from ensemble.jobs.placement import Placement
from ensemble.regression.settings import LbfgsConfig
from ensemble.regression.worker import MOST_CPU_DEVICES
from ensemble.ui.devices import probe, where
from ensemble.ui.devices.probe import Machine
from ensemble.ui.jobs import launch as launching
from ensemble.ui.jobs import picker
from ensemble.ui.jobs.launch import Plan
from ensemble.ui.parallel import settings
from ensemble.ui.parallel.screen import SCREEN
from ensemble.ui.shared import widget
from ensemble.ui.train.launch import rounded
from ensemble.wording import formats

WHERE = "solve_where"
TIMES_THE_SAMPLES = 2.5  # what solving holds at most, of the samples' own size
QUICK = LbfgsConfig(samples=5_000, iterations=30)


def controls() -> None:
    """Every setting as a widget; those that a first solve can leave alone stand under More."""
    settings.dataset_control()
    if settings.value("dataset") == "synthetic":
        for name in settings.DRAWN:
            settings.control(name)
    for name in ("iterations", "linesearch", "stepsize"):
        settings.control(name)
    here = probe.probe().answer
    settings.devices_control(most_devices(here) if here else 0)
    settings.pmap_control()
    where.control(WHERE, where.ONE_TASK)
    more = st.expander("More", key="solve_more", on_change="rerun")
    if more.open:
        with more:
            for name in settings.MORE:
                settings.control(name)
    elif said := settings.unusual_now():
        st.caption(f"Also: {said}.")


def most_devices(here: Machine) -> int:
    """How many devices a regression can be given: a CPU can be split into several."""
    if here.platform != "cpu":
        return here.devices
    return int(os.environ.get("JAX_NUM_CPU_DEVICES") or MOST_CPU_DEVICES)


def all_devices(here: Machine) -> int:
    """How many devices "all" are: of a CPU, no more than it has cores."""
    return min(here.cores, most_devices(here)) if here.platform == "cpu" else here.devices


def plan(config: LbfgsConfig) -> Plan[LbfgsConfig]:
    """What the button will do with these settings."""
    how = settings.HOW[config.pmap]
    if place := widget.value(WHERE, where.HERE):
        label = f"Solve {settings.shape(config)} {how} on {where.describe(place)}"
        return Plan(config, label, note="One task on one node, with the devices that it has there.")
    here = probe.probe().answer
    devices = config.devices or (all_devices(here) if here else 0)
    on = f"on {formats.count(devices, 'device')}" if devices else "on all devices"
    if config.pmap == "without":
        on = "on 1 device"
    label = f"Solve {settings.shape(config)} {how} {on}"
    if here and devices > most_devices(here):
        return Plan(
            None,
            label,
            f"This machine has {formats.count(most_devices(here), 'device')}: "
            "choose at most that, or all.",
        )
    if reason := too_large(config):
        return Plan(None, label, reason)
    return Plan(config, label, note=about(config))


def about(config: LbfgsConfig) -> str:
    """About how long it will take, where one of the same size has been solved on this machine."""
    for past in SCREEN.list_jobs():
        status = past.status
        alike = settings.size(past.config) == settings.size(config)
        here = status.host == socket.gethostname() and status.started and not past.placed
        same = (past.config.sweep, past.config.pmap) == (config.sweep, config.pmap)
        if alike and here and past.state == "finished" and same:
            share = config.iterations / past.config.iterations
            seconds = share * (status.updated - (status.started or 0.0))
            return f"About {formats.duration(rounded(seconds))}, as one of this size took before."
    return ""


def too_large(config: LbfgsConfig) -> str:
    """Why the samples do not fit into the memory that is free; "" where they do."""
    samples, features, _ = settings.size(config)
    needed = TIMES_THE_SAMPLES * 4 * samples * features
    free = psutil.virtual_memory().available
    if needed <= free:
        return ""
    return (
        f"Solving {settings.shape(config)} takes about {gigabytes(needed)} of memory, and "
        f"{gigabytes(free)} are free: take fewer samples or features."
    )


def gigabytes(size: float) -> str:
    """Bytes as "3.1 GB"."""
    return f"{size / 1e9:,.1f} GB"


def plan_chosen() -> Plan[LbfgsConfig]:
    """What the button will do with the settings as they stand."""
    try:
        return plan(settings.chosen())
    except ConfigError as error:
        return Plan(None, "Solve with and without pmap", str(error))


def launch_button() -> None:
    """The button that starts what the settings say, with the reason where it cannot."""
    launching.launch_button(
        "solve_launch", plan_chosen, lambda: probe.probe().waiting, launch, below
    )


def below(planned: Plan[LbfgsConfig]) -> None:
    """What it waits for, where it is solved on this machine."""
    if not widget.value(WHERE, where.HERE):
        launching.starts_after(planned)


def quick_button() -> None:
    """The button of the first visit: an example that is solved in seconds."""
    iterations = formats.count(QUICK.iterations, "iteration")
    said = f"Solve a quick example: {settings.shape(QUICK)}, {iterations}"
    launching.button(Plan(QUICK, said, too_large(QUICK)), "solve_quick", launch)


def launch(config: LbfgsConfig, placement: Placement | None = None) -> None:
    """Start `config` where that is chosen and show it."""

    def begin() -> regression.Solve:
        place = where.placement(widget.value(WHERE, where.HERE))
        return regression.launch_solve(config, place)

    launching.launch(SCREEN, config, begin, lambda solve: picker.show_next(SCREEN, solve))
