"""Where a job beside training is done: this machine, or one task on a partition of a cluster."""

from dataclasses import replace

import streamlit as st

from ensemble.cluster.schedulers import SLURM
from ensemble.cluster.settings import SlurmConfig
from ensemble.jobs.placement import Placement
from ensemble.ui.devices import slurm
from ensemble.ui.shared import widget

HERE, ON_SLURM = "", "slurm:"  # and behind that the partition; none for the cluster's default


def control(key: str, before: Placement | None = None) -> str:
    """The choice, which `placement` takes; nothing is drawn where there is no cluster to choose.

    Args:
      key: of the widget.
      before: where a job was that is to be gone on with, which is chosen at first.
    """
    found = slurm.look()
    if not found.there and before is None:
        return HERE
    usual = choice_of(before)
    held = widget.begin(key, usual)
    names = [one.name for one in found.partitions if one.up] or [""]
    choices = [HERE, *(ON_SLURM + name for name in names), usual, held]
    chosen: str = st.selectbox(
        "Where", list(dict.fromkeys(choices)), format_func=titled, key=key,
        persist_state="session",
        help="On a cluster it is one task on one node, and takes no turn of this machine. What it "
        "asks for stands in ensemble.toml, table [slurm].",
    )  # fmt: skip
    return chosen


def choice_of(before: Placement | None) -> str:
    """The choice that stands for where a job was."""
    return HERE if before is None else f"{ON_SLURM}{before.settings.get('partition', '')}"


def placement(chosen: str, before: Placement | None = None) -> Placement | None:
    """Where that is: as it was before, else with what ensemble.toml asks for.

    Raises:
      ConfigError: ensemble.toml cannot be read.
    """
    if chosen == choice_of(before):
        return before
    if chosen == HERE:
        return None
    partition = chosen.removeprefix(ON_SLURM)
    config = replace(SlurmConfig.from_toml(), partition=partition, nodes=1)
    return Placement(SLURM.name, config.as_dict())


def titled(choice: str) -> str:
    """A choice in words: "Slurm · long". The browser sends it back so: it never changes."""
    if choice == HERE:
        return "This machine"
    return f"Slurm · {choice.removeprefix(ON_SLURM) or 'default partition'}"
