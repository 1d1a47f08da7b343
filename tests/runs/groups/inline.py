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
from ensemble.runs.groups.coordinator import Coordinator
from ensemble.runs.groups.part import Group
from ensemble.runs.groups.tasks import Task

CONFIG = EnsembleConfig(
    network="logistic", members=8, epochs=2, batch_size=256, learning_rate=0.05, devices=1
)
CLOCKS = ("seconds", "img_member_per_s")


class InlineTasks:
    """Tasks that are over when they have been started."""

    where = "this test"

    def __init__(self) -> None:
        self.started: list[int] = []

    def start(self, groups: Sequence[Group]) -> None:
        for group in groups:
            self.started.append(group.number)
            worker.work(group.id)

    def look(self) -> Mapping[int, Task]:
        return {number: Task("ended") for number in self.started}

    def end(self) -> None:
        pass

    def kill(self, group: Group) -> None:
        pass


def follow(run: Run, tasks: InlineTasks) -> Run:
    """Bring a queued run in groups to its end, as its worker does."""
    jobs_worker.do(
        run,
        lambda status, stop: Coordinator(run, status, stop, lambda status: None, tasks).follow(),
        lambda status: None,
    )
    return runs.find(run.id)


def trained(config: EnsembleConfig) -> Run:
    """A run with these settings at its end, in groups or not."""
    run = runs.create(config)
    return follow(run, InlineTasks()) if run.in_groups else runs.work(run.id)


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
