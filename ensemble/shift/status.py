"""How a run's stress job stands: queued → starting → measuring → finished | stopped | failed.

Its files lie in the run's folder `stress`: status.json and, while it is asked to stop, `stop`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic import read_json

ACTIVE = ("queued", "starting", "measuring")


@dataclass(frozen=True)
class StressStatus(JobStatus):
    """What the job's status.json says.

    Attributes:
      progress: the share that is done, in [0, 1].
      seconds_left: about how long it will still take; None where that is not known yet.
      epoch: epochs that the measured members had done; None before their checkpoint is read.
      limit: only the first so many test images; None for all.
      steps: steps of all kinds, and sets of outside images, that are done and written.
      total: how many there are.
    """

    active_states: ClassVar[tuple[str, ...]] = ACTIVE

    progress: float = 0.0
    seconds_left: float | None = None
    epoch: int | None = None
    limit: int | None = None
    steps: int = 0
    total: int = 0


def stress_folder(run_folder: Path) -> Path:
    """Where the job of the run in `run_folder` has its files."""
    return run_folder / "stress"


def read_stress_status(run_folder: Path) -> StressStatus | None:
    """The status of the run's job; None where there was none, or it cannot be read."""
    try:
        return StressStatus.from_dict(read_json(stress_folder(run_folder) / "status.json"))
    except (OSError, ValueError, TypeError):
        return None


def is_measured(run_folder: Path) -> bool:
    """Whether a job is at work on the run, or waits to be."""
    status = read_stress_status(run_folder)
    return status is not None and status.alive
