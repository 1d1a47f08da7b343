"""Where a job is done: this machine, or a partition of a cluster. One control for every kind."""

import contextlib
import dataclasses
from typing import Any

import streamlit as st

from ensemble.cluster.scheduler import Partition, Scheduler
from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.cluster.settings import SlurmConfig
from ensemble.errors import ClusterError, ConfigError
from ensemble.jobs.placement import Placement
from ensemble.ui.devices import schedulers
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping, formats

THIS_MACHINE = ""  # else the scheduler's name, a colon and the partition: none for the cluster's default
SINGLE_TASK_HELP = (
    "On a cluster it is one task on one node, and does not queue on this machine. What it asks for "
    "stands in ensemble.toml, table [{table}]."
)
_REQUEST_LABELS = {"time": "Minutes", "cpus": "CPUs", "gpus": "GPUs", "memory": "Memory (GB)"}


def select_placement(key: str, help: str, before: Placement | None = None) -> str:
    """The choice, which `build_placement` takes; nothing is drawn where there is no cluster.

    Args:
      help: what it means for this kind of job; `{table}` in it is that of ensemble.toml.
    """
    scheduler_snapshot = schedulers.read_scheduler_snapshot()
    if not (scheduler_snapshot.is_present or before or widget_state.get_widget_value(key, THIS_MACHINE)):
        return THIS_MACHINE
    first = _format_placement_choice(before)
    held = widget_state.initialize_widget(key, first)
    names = [partition.name for partition in scheduler_snapshot.partitions if partition.up]
    names = names or [_load_scheduler_settings(scheduler_snapshot.scheduler).partition]
    there = [f"{scheduler_snapshot.scheduler.name}:{name}" for name in names]
    chosen: str = widget_state.draw_widget(
        st.selectbox,
        "Where",
        list(dict.fromkeys([THIS_MACHINE, *there, first, held])),
        format_func=describe_placement_choice,
        key=key,
        persist_state="session",
        help=help.format(table=scheduler_snapshot.scheduler.name),
    )
    return chosen


def describe_placement_choice(choice: str) -> str:
    """A choice in words: "Slurm · long". The browser sends it back so: it never changes."""
    if choice == THIS_MACHINE:
        return "This machine"
    return f"{parse_choice_scheduler(choice).title} · {_parse_choice_partition(choice) or 'default partition'}"


def parse_choice_scheduler(choice: str) -> Scheduler:
    return SCHEDULERS[choice.partition(":")[0]]


def _parse_choice_partition(choice: str) -> str:
    """The partition's name; "" for the cluster's default."""
    return choice.partition(":")[2]


def _format_placement_choice(before: Placement | None) -> str:
    return THIS_MACHINE if before is None else f"{before.on}:{before.settings.get('partition', '')}"


def build_placement(choice: str, before: Placement | None = None, **requests: Any) -> Placement | None:
    """Where that is: as it was before, else with what ensemble.toml asks for.

    Args:
      choice: of `select_placement`.
      requests: what else is asked for, over what ensemble.toml does.

    Raises:
      ConfigError: ensemble.toml cannot be read, or what is asked for is out of its range.
    """
    if choice == _format_placement_choice(before):
        return before
    if choice == THIS_MACHINE:
        return None
    scheduler = parse_choice_scheduler(choice)
    config = dataclasses.replace(scheduler.settings.from_toml(), partition=_parse_choice_partition(choice), **requests)
    return Placement(scheduler.name, config.as_dict())


def show_task_requests(choice: str, prefix: str = "", before: Placement | None = None) -> None:
    """Controls of what each task asks for; at first what ensemble.toml says.

    Args:
      choice: of `select_placement`.
    """
    scheduler = parse_choice_scheduler(choice)
    usual = _load_first_settings(choice, before)
    fields = {field.name: field for field in dataclasses.fields(scheduler.settings)}
    columns = st.columns(2, gap="small") * 2
    for (name, label), column in zip(_REQUEST_LABELS.items(), columns, strict=True):
        with column:
            draw_field_control(
                fields[name], _build_request_key(choice, name, prefix), label, start=getattr(usual, name), typed=True
            )


def _build_request_key(choice: str, name: str, prefix: str = "") -> str:
    return f"{prefix}{parse_choice_scheduler(choice).name}_{name}"


def _load_first_settings(choice: str, before: Placement | None) -> SlurmConfig:
    """What a job asked for that goes on with the scheduler it had; else what ensemble.toml says."""
    scheduler = parse_choice_scheduler(choice)
    if before and before.on == scheduler.name:
        with contextlib.suppress(ConfigError):
            return scheduler.settings.from_dict(before.settings)
    return _load_scheduler_settings(scheduler)


def build_fitting_placement(choice: str, prefix: str = "", before: Placement | None = None) -> Placement | None:
    """Where that is, with what `show_task_requests` asks for, if the cluster has it.

    Args:
      choice: of `select_placement`.
      before: where a job was that is to be gone on with: what else it asked for there is kept.

    Raises:
      ClusterError: the cluster does not answer.
      ConfigError: what is asked for is out of its range, or the cluster does not have it.
    """
    if choice == THIS_MACHINE:
        return None
    scheduler_snapshot = schedulers.read_scheduler_snapshot()
    if scheduler_snapshot.problem:
        raise ClusterError(scheduler_snapshot.problem)
    held = {
        name: widget_state.get_widget_value(_build_request_key(choice, name, prefix), None) for name in _REQUEST_LABELS
    }
    requests = {name: value for name, value in held.items() if value is not None}
    if before and before.on == parse_choice_scheduler(choice).name:
        config = dataclasses.replace(
            _load_first_settings(choice, before), partition=_parse_choice_partition(choice), **requests
        )
        place = Placement(before.on, config.as_dict())
    else:
        found = build_placement(choice, **requests)
        assert found is not None
        place = found
    _check_partition_fit(parse_choice_scheduler(choice), place.settings, scheduler_snapshot.partitions)
    return place


def _check_partition_fit(scheduler: Scheduler, requests: dict[str, Any], there: tuple[Partition, ...]) -> None:
    """ConfigError where the chosen partition is not there, or has not what a task asks for."""
    if not there:
        raise ClusterError(f"{scheduler.title} has not reported its nodes yet: try again in a moment.")
    name = requests["partition"]
    partition = next((candidate for candidate in there if candidate.name == name), None)
    if partition is None:
        names = ", ".join(candidate.name for candidate in there)
        raise ConfigError(f"This cluster has no partition {name}: choose one of {names}.")
    if partition.minutes and requests["time"] > partition.minutes:
        raise ConfigError(
            f"The partition {partition.name} gives a task {partition.minutes:,} minutes at most: "
            "ask for no more; a task goes on in another."
        )
    if requests["gpus"] and not partition.gpus:
        raise ConfigError(f"The partition {partition.name} has no GPUs: ask for 0.")
    if requests["memory"] > partition.memory_gb > 0:
        raise ConfigError(
            f"No node of {partition.name} has more than {partition.memory_gb:,.0f} GB of memory: ask for less."
        )


def _load_scheduler_settings(scheduler: Scheduler) -> SlurmConfig:
    """What ensemble.toml asks for; where that cannot be read what the program does."""
    try:
        return scheduler.settings.from_toml()
    except ConfigError:
        return scheduler.settings()


def show_free_resources(choice: str) -> None:
    """What the chosen partition has: "3 of 10 nodes free, 40 of 160 CPUs, …"."""
    there = schedulers.read_scheduler_snapshot().partitions
    partition = next((candidate for candidate in there if candidate.name == _parse_choice_partition(choice)), None)
    if partition is None:
        return
    gpus = f", {partition.free_gpus} of {partition.gpus} GPUs" if partition.gpus else ""
    limit = f"; {formats.format_duration(60 * partition.minutes)} at most" if partition.minutes else ""
    sentence = (
        f"{partition.free_nodes} of {formats.format_count(partition.nodes, 'node')} free, "
        f"{partition.free_cpus:,} of {partition.cpus:,} CPUs{gpus}{limit}"
    )
    st.caption(escaping.escape_markdown(sentence))


def describe_time_limit(choice: str) -> str:
    usual = parse_choice_scheduler(choice).settings().time
    minutes = widget_state.get_widget_value(_build_request_key(choice, "time"), usual)
    return f"After {formats.format_duration(60 * minutes)} it stops with a checkpoint and goes on in another."
