"""Runs in groups whose tasks this process does itself, one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs import worker as jobs_worker
from ensemble.runs import Run
from ensemble.runs.groups import worker
from ensemble.runs.groups.coordinator import GroupCoordinator
from ensemble.runs.groups.group import Group
from ensemble.runs.groups.tasks import TaskStatus

CONFIG = EnsembleConfig(network="logistic", members=8, epochs=2, batch_size=256, learning_rate=0.05, devices=1)
CLOCKS = ("seconds", "img_member_per_s")


class InlineTasks:
    """Tasks that are over when they have been started."""

    place_title, memory, refusal = "this test", 0, ""

    def __init__(self) -> None:
        self.started: list[int] = []

    def start_tasks(self, groups: Sequence[Group]) -> None:
        for group in groups:
            self.started.append(group.number)
            worker.execute_group(group.id)

    def poll_tasks(self) -> Mapping[int, TaskStatus]:
        return {number: TaskStatus("ended") for number in self.started}

    def find_ended_groups(self) -> Sequence[int]:
        return ()

    def cancel_waiting(self) -> None:
        pass

    def kill_task(self, group: Group) -> None:
        pass


def follow(run: Run, tasks: InlineTasks) -> Run:
    """Bring a queued run in groups to its end, as its worker does."""
    jobs_worker.execute_job(
        run,
        lambda status, stop: GroupCoordinator(run, status, stop, lambda status: None, tasks).follow_groups(),
        lambda status: None,
    )
    return runs.find_run(run.id)


def trained(config: EnsembleConfig) -> Run:
    """A run with these settings at its end, in groups or not."""
    run = runs.create_run(config)
    return follow(run, InlineTasks()) if run.in_groups else runs.execute_run(run.id)


def in_groups(count: int, **changes: Any) -> EnsembleConfig:
    """The settings of these tests, in so many groups."""
    return replace(CONFIG, groups=count, **changes)


def arrays(folder: Path, what: str) -> dict[str, bytes]:
    """Every array of a run's predictions or parameters, to the bit, by file and name."""
    found: dict[str, bytes] = {}
    for path in sorted((folder / what).glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            found |= {f"{path.name} {name}": file[name].tobytes() for name in file.files}
    return found


def timeless(run: Run) -> list[dict[str, Any]]:
    """A run's history, without how long it took."""
    lines = runs.read_history(run.id)
    return [{key: value for key, value in line.items() if key not in CLOCKS} for line in lines]
