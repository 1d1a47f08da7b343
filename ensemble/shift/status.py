"""How a run's stress job stands: queued → starting → measuring → finished | stopped | failed.

Its files lie in the run's folder `stress`: status.json and, while it is asked to stop, `stop`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from ensemble.jobs.job import Job
from ensemble.jobs.kinds import STRESS, JobKind
from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count, MetricValue, NumberRange


@dataclass(frozen=True)
class StressStatus(JobStatus):
    """What the job's status.json says.

    Attributes:
      progress: the share that is done, in [0, 1].
      epoch: epochs that the measured members had done; None before their checkpoint is read.
      limit: only the first so many test images; None for all.
      steps: steps of all kinds, and sets of OOD images, that are done and written.
      total: how many there are.
    """

    kind: ClassVar[JobKind] = STRESS

    progress: MetricValue = 0.0
    epoch: Count | None = None
    limit: Annotated[int, NumberRange(1, 2**53)] | None = None
    steps: Count = 0
    total: Count = 0

    @property
    def job_request(self) -> dict[str, Any]:
        """Of how many images."""
        return {"limit": self.limit}


@dataclass(frozen=True)
class StressJob(Job):
    """A run's stress job as it stood when it was read; `id` and `name` are the run's."""

    id: str
    name: str
    path: Path
    status: StressStatus
    kind: JobKind = STRESS


def stress_folder(run_folder: Path) -> Path:
    """Where the job of the run in `run_folder` has its files."""
    return run_folder / STRESS.subfolder


def read_stress_status(run_folder: Path) -> StressStatus | None:
    """The status of the run's job; None where there was none, or it cannot be read."""
    try:
        return StressStatus.from_dict(read_json(stress_folder(run_folder) / "status.json"))
    except (OSError, ValueError):
        return None
