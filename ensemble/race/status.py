"""How the race on this machine stands: queued → starting → racing → finished | stopped | failed.

There is one at a time. Its files lie in the data folder, in `machine/job`: status.json, its log
and, while it is asked to stop, `stop`. What races have found lies beside it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ensemble.jobs.folders import race_folder
from ensemble.jobs.job import Job
from ensemble.jobs.kinds import RACE, JobKind
from ensemble.jobs.queue import RACE_JOB_NAME
from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import MetricValue


@dataclass(frozen=True)
class RaceStatus(JobStatus):
    """What the race's status.json says.

    Attributes:
      settings: of the race, as `RaceConfig.as_dict` has them.
      progress: the share that is done, in [0, 1].
      race: the name of the file that has what it found; "" before.
    """

    kind: ClassVar[JobKind] = RACE

    settings: dict[str, Any] = field(default_factory=dict)
    progress: MetricValue = 0.0
    race: str = ""

    @property
    def job_request(self) -> dict[str, Any]:
        """Which race."""
        return {"settings": self.settings}


@dataclass(frozen=True)
class RaceJob(Job):
    """The race that was asked for last, as it stood when it was read.

    Attributes:
      status: what its worker last wrote.
      id: its id in lists of jobs, where runs have theirs.
      name: what it is called among the jobs that wait.
      path: the folder of its files.
    """

    status: RaceStatus
    id: str = "race"
    name: str = RACE_JOB_NAME
    path: Path = field(default_factory=race_folder)
    kind: JobKind = RACE


def read_race_job() -> RaceJob | None:
    """The race that was asked for last; None where there was none, or it cannot be read."""
    try:
        return RaceJob(RaceStatus.from_dict(read_json(race_folder() / "status.json")))
    except (OSError, ValueError):
        return None
