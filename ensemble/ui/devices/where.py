"""Where a job is done: this machine, or a partition of a cluster. One control for every kind."""

import dataclasses
from typing import Any

import streamlit as st

from ensemble.cluster.scheduler import Partition, Scheduler
from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.cluster.settings import SlurmConfig
from ensemble.errors import ClusterError, ConfigError
from ensemble.jobs.placement import Placement
from ensemble.ui.devices import schedulers
from ensemble.ui.shared import widget
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping, formats

HERE = ""  # else the scheduler's name, a colon and the partition: none for the cluster's default
ONE_TASK = (
    "On a cluster it is one task on one node, and takes no turn of this machine. What it asks for "
    "stands in ensemble.toml, table [{table}]."
)
ASKED = {"time": "Minutes", "cpus": "CPUs", "gpus": "GPUs", "memory": "Memory (GB)"}


def control(key: str, help: str, before: Placement | None = None) -> str:
    """The choice, which `placement` takes; nothing is drawn where there is no cluster to choose.

    Args:
      key: of the widget.
      help: what it means for this kind of job; `{table}` in it is that of ensemble.toml.
      before: where a job was that is to be gone on with, which is chosen at first.
    """
    found = schedulers.look()
    if not (found.there or before or widget.value(key, HERE)):
        return HERE
    first = choice_of(before)
    held = widget.begin(key, first)
    names = [one.name for one in found.partitions if one.up]
    names = names or [usual_settings(found.scheduler).partition]
    there = [f"{found.scheduler.name}:{name}" for name in names]
    chosen: str = st.selectbox(
        "Where",
        list(dict.fromkeys([HERE, *there, first, held])),
        format_func=describe,
        key=key,
        persist_state="session",
        help=help.format(table=found.scheduler.name),
    )
    return chosen


def describe(choice: str) -> str:
    """A choice in words: "Slurm · long". The browser sends it back so: it never changes."""
    if choice == HERE:
        return "This machine"
    return f"{scheduler_of(choice).title} · {partition_of(choice) or 'default partition'}"


def scheduler_of(choice: str) -> Scheduler:
    """The scheduler of a choice that is not this machine."""
    return SCHEDULERS[choice.partition(":")[0]]


def partition_of(choice: str) -> str:
    """The partition's name; "" for the cluster's default."""
    return choice.partition(":")[2]


def choice_of(before: Placement | None) -> str:
    """The choice that stands for where a job was."""
    return HERE if before is None else f"{before.on}:{before.settings.get('partition', '')}"


def placement(choice: str, before: Placement | None = None, **asked: Any) -> Placement | None:
    """Where that is: as it was before, else with what ensemble.toml asks for.

    Args:
      choice: of `control`.
      before: where a job was that is to be gone on with.
      asked: what else is asked for, over what ensemble.toml does.

    Raises:
      ConfigError: ensemble.toml cannot be read, or what is asked for is out of its range.
    """
    if choice == choice_of(before):
        return before
    if choice == HERE:
        return None
    scheduler = scheduler_of(choice)
    config = dataclasses.replace(
        scheduler.settings.from_toml(), partition=partition_of(choice), nodes=1, **asked
    )
    return Placement(scheduler.name, config.as_dict())


def requests(choice: str) -> None:
    """Controls of what each task asks for; at first what ensemble.toml says."""
    scheduler = scheduler_of(choice)
    usual = usual_settings(scheduler)
    fields = {field.name: field for field in dataclasses.fields(scheduler.settings)}
    columns = st.columns(2, gap="small") * 2
    for (name, label), column in zip(ASKED.items(), columns, strict=True):
        with column:
            draw_field_control(
                fields[name],
                request_key(choice, name),
                label,
                start=getattr(usual, name),
                typed=True,
            )


def request_key(choice: str, name: str) -> str:
    """The key of the widget for what a task asks for."""
    return f"{scheduler_of(choice).name}_{name}"


def fitting_placement(choice: str) -> Placement | None:
    """As `placement`, with what `requests` asks for, if the cluster has it.

    Raises:
      ClusterError: the cluster does not answer.
      ConfigError: what is asked for is out of its range, or the cluster does not have it.
    """
    if choice == HERE:
        return None
    found = schedulers.look()
    if found.problem:
        raise ClusterError(found.problem)
    held = {name: widget.value(request_key(choice, name), None) for name in ASKED}
    asked = {name: value for name, value in held.items() if value is not None}
    place = placement(choice, **asked)
    assert place is not None
    check_fit(scheduler_of(choice), place.settings, found.partitions)
    return place


def check_fit(scheduler: Scheduler, asked: dict[str, Any], there: tuple[Partition, ...]) -> None:
    """ConfigError where the chosen partition is not there, or has not what a task asks for."""
    if not there:
        raise ClusterError(f"{scheduler.title} is still to say what it has: try again in a moment.")
    name = asked["partition"]
    partition = next((one for one in there if one.name == name), None)
    if partition is None:
        names = ", ".join(one.name for one in there)
        raise ConfigError(f"This cluster has no partition {name}: choose one of {names}.")
    if partition.minutes and asked["time"] > partition.minutes:
        raise ConfigError(
            f"The partition {partition.name} gives a task {partition.minutes:,} minutes at most: "
            "ask for no more; a task goes on in another."
        )
    if asked["gpus"] and not partition.gpus:
        raise ConfigError(f"The partition {partition.name} has no GPUs: ask for 0.")
    if asked["memory"] > partition.memory_gb > 0:
        raise ConfigError(
            f"No node of {partition.name} has more than {partition.memory_gb:,.0f} GB of memory: "
            "ask for less."
        )


def usual_settings(scheduler: Scheduler) -> SlurmConfig:
    """What ensemble.toml asks for; where that cannot be read what the program does."""
    try:
        return scheduler.settings.from_toml()
    except ConfigError:
        return scheduler.settings()


def show_what_is_free(choice: str) -> None:
    """What the chosen partition has: "3 of 10 nodes free, 40 of 160 CPUs, …"."""
    there = schedulers.look().partitions
    partition = next((one for one in there if one.name == partition_of(choice)), None)
    if partition is None:
        return
    gpus = f", {partition.free_gpus} of {partition.gpus} GPUs" if partition.gpus else ""
    limit = f"; {formats.duration(60 * partition.minutes)} at most" if partition.minutes else ""
    said = (
        f"{partition.free_nodes} of {formats.count(partition.nodes, 'node')} free, "
        f"{partition.free_cpus:,} of {partition.cpus:,} CPUs{gpus}{limit}"
    )
    st.caption(escaping.markdown(said))


def note(choice: str) -> str:
    """What becomes of a task at the end of its time."""
    usual = scheduler_of(choice).settings().time
    minutes = widget.value(request_key(choice, "time"), usual)
    return (
        f"After {formats.duration(60 * minutes)} it stops with a checkpoint and goes on in another."
    )
