"""Where the next run is trained: this machine, or a partition of a cluster, and what is asked."""

import dataclasses
from typing import Any

import streamlit as st

from ensemble.cluster.scheduler import Partition
from ensemble.cluster.schedulers import SLURM
from ensemble.cluster.settings import SlurmConfig
from ensemble.errors import ClusterError, ConfigError
from ensemble.jobs.placement import Placement
from ensemble.ui.devices import slurm
from ensemble.ui.shared import settings, widget
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping, formats

KEY = "where"
HERE, ON_SLURM = "", "slurm:"  # and behind that the partition; none for the cluster's default
ASKED = {"time": "Minutes", "cpus": "CPUs", "gpus": "GPUs", "memory": "Memory (GB)"}
FIELDS = {field.name: field for field in dataclasses.fields(SlurmConfig)}


def control() -> None:
    """The choice, and what is asked of a cluster; nothing where there is none to choose."""
    found = slurm.look()
    if not found.there and not on_cluster():
        return
    held = widget.begin(KEY, HERE)
    usual = defaults()
    names = [one.name for one in found.partitions if one.up]
    every = [HERE, *(ON_SLURM + name for name in names or [usual.partition])]
    st.selectbox(
        "Where", list(dict.fromkeys([*every, held])), format_func=titled, key=KEY,
        persist_state="session",
        help="On a cluster each group is a task; they are followed from here, and take no turn of "
        "this machine.",
    )  # fmt: skip
    if on_cluster():
        if said := has(partition_of(found)):
            st.caption(escaping.markdown(said))
        settings.control("groups")
        asked(usual)


def asked(usual: SlurmConfig) -> None:
    """What each task asks for; at first what ensemble.toml says."""
    columns = st.columns(2, gap="small") * 2
    for (name, label), column in zip(ASKED.items(), columns, strict=True):
        with column:
            draw_field_control(
                FIELDS[name], key(name), label, start=getattr(usual, name), typed=True
            )


def key(name: str) -> str:
    """The key of the widget for what a task asks for."""
    return f"slurm_{name}"


def on_cluster() -> bool:
    """Whether a cluster is chosen."""
    return bool(widget.value(KEY, HERE))


def chosen() -> Placement | None:
    """Where the next run is to be trained; None for this machine.

    Raises:
      ClusterError: the cluster does not answer.
      ConfigError: what is asked for is out of its range, or the cluster does not have it.
    """
    if not on_cluster():
        return None
    found = slurm.look()
    if found.problem:
        raise ClusterError(found.problem)
    config = wanted()
    fits(config, found.partitions)
    return Placement(SLURM.name, config.as_dict())


def wanted() -> SlurmConfig:
    """What the controls ask of Slurm; ConfigError where it is out of its range."""
    given: dict[str, Any] = {
        name: widget.value(key(name)) for name in ASKED if widget.value(key(name), None) is not None
    }
    partition = widget.value(KEY).removeprefix(ON_SLURM)
    return dataclasses.replace(SlurmConfig.from_toml(), nodes=1, partition=partition, **given)


def fits(config: SlurmConfig, there: tuple[Partition, ...]) -> None:
    """ConfigError where the chosen partition is not there, or has not what a task asks for."""
    if not there:
        raise ClusterError("Slurm is still to say what it has: try again in a moment.")
    partition = next((one for one in there if one.name == config.partition), None)
    if partition is None:
        names = ", ".join(one.name for one in there)
        raise ConfigError(
            f"This cluster has no partition {config.partition}: choose one of {names}."
        )
    if partition.minutes and config.time > partition.minutes:
        raise ConfigError(
            f"The partition {partition.name} gives a task {partition.minutes:,} minutes at most: "
            "ask for no more; a task goes on in another."
        )
    if config.gpus and not partition.gpus:
        raise ConfigError(f"The partition {partition.name} has no GPUs: ask for 0.")
    if config.memory > partition.memory_gb > 0:
        raise ConfigError(
            f"No node of {partition.name} has more than {partition.memory_gb:,.0f} GB of memory: "
            "ask for less."
        )


def defaults() -> SlurmConfig:
    """What ensemble.toml asks for; where that cannot be read what the program does."""
    try:
        return SlurmConfig.from_toml()
    except ConfigError:
        return SlurmConfig()


def titled(choice: str) -> str:
    """A choice in words: "Slurm · long". The browser sends it back so: it never changes."""
    if choice == HERE:
        return "This machine"
    return f"Slurm · {choice.removeprefix(ON_SLURM) or 'default partition'}"


def partition_of(found: slurm.Answer) -> Partition | None:
    """The partition that is chosen, where it is known."""
    name = widget.value(KEY).removeprefix(ON_SLURM)
    return next((one for one in found.partitions if one.name == name), None)


def has(partition: Partition | None) -> str:
    """What it has, and how much of that is free: "3 of 10 nodes free, 40 of 160 CPUs, …"."""
    if partition is None:
        return ""
    gpus = f", {partition.free_gpus} of {partition.gpus} GPUs" if partition.gpus else ""
    limit = f"; {formats.duration(60 * partition.minutes)} at most" if partition.minutes else ""
    return (
        f"{partition.free_nodes} of {formats.count(partition.nodes, 'node')} free, "
        f"{partition.free_cpus:,} of {partition.cpus:,} CPUs{gpus}{limit}"
    )


def note() -> str:
    """What becomes of a task at the end of its time."""
    minutes = widget.value(key("time"), FIELDS["time"].default)
    return (
        f"After {formats.duration(60 * minutes)} it stops with a checkpoint and goes on in another."
    )
