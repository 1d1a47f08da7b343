"""Who takes a job's task, and says how it stands: the schedulers that there are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ensemble import cluster
from ensemble.cluster import SlurmConfig, Task
from ensemble.errors import ClusterError
from ensemble.jobs.placement import SLURM, Placement
from ensemble.jobs.remote.inside import FOLDER


class Cluster(Protocol):
    """Takes one task. What that does is read from the task's files, not asked of it."""

    where: str
    """What people call it: "Slurm"."""

    def submit(self, words: Sequence[str], name: str, environment: Mapping[str, str]) -> str:
        """Hand in `python -m ensemble` with these words; returns the task's id.

        Raises:
          ClusterError: it does not answer, or refuses.
        """

    def look(self) -> Mapping[str, Task]:
        """How the tasks that it knows stand, by their ids; ClusterError where it does not say."""

    def cancel(self, task: str) -> None:
        """End a task: at once where it waits, else it is told to stop. ClusterError as above."""

    def log(self, task: str) -> Path:
        """Where the task writes what it prints."""


class Slurm:
    """Slurm, through `ensemble.cluster`.

    Args:
      config: what a task asks for.
      folder: for logs and submitit's own files, on a disk that the nodes share.
    """

    where = "Slurm"

    def __init__(self, config: SlurmConfig, folder: Path) -> None:
        self._config, self._folder = config, folder

    def submit(self, words: Sequence[str], name: str, environment: Mapping[str, str]) -> str:
        """As `Cluster` has it; ConfigError where the settings do not fit this cluster."""
        [task] = cluster.submit([words], self._folder, self._config, name, environment, nodes=1)
        return task

    def look(self) -> Mapping[str, Task]:
        """This user's tasks, as of some seconds ago."""
        return cluster.queue()

    def cancel(self, task: str) -> None:
        """End a task."""
        cluster.cancel([task])

    def log(self, task: str) -> Path:
        """Its file beside submitit's own."""
        return self._folder / f"{task}_0_log.out"


def cluster_for(placement: Placement, job_folder: Path) -> Cluster:
    """Who takes the task of the job in a folder.

    Raises:
      ClusterError: it is for a place that takes no such task.
      ConfigError: what is asked for is out of its range.
    """
    if placement.on == SLURM:
        return Slurm(SlurmConfig.from_dict(placement.settings), job_folder / FOLDER / SLURM)
    raise ClusterError(f"It is for {placement.on}, which takes no such task: say --on {SLURM}.")
