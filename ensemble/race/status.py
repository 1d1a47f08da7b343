"""How the race on this machine stands: queued → starting → racing → finished | stopped | failed.

There is one at a time. Its files lie in the data folder, in `machine/job`: status.json, its log
and, while it is asked to stop, `stop`. What races have found lies beside it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ensemble.jobs.status import Job, JobStatus
from ensemble.storage.atomic import read_json
from ensemble.storage.folders import data_folder

ACTIVE = ("queued", "starting", "racing")


@dataclass(frozen=True)
class RaceStatus(JobStatus):
    """What the race's status.json says.

    Attributes:
      settings: of the race, as `RaceConfig.as_dict` has them.
      progress: the share that is done, in [0, 1].
      seconds_left: about how long it will still take; None where that is not known.
    """

    active_states: ClassVar[tuple[str, ...]] = ACTIVE

    settings: dict[str, Any] = field(default_factory=dict)
    progress: float = 0.0
    seconds_left: float | None = None


@dataclass(frozen=True)
class RaceJob(Job):
    """The race that was asked for last, as it stood when it was read.

    Attributes:
      status: what its worker last wrote.
      id: what stands in lists where runs have their ids.
      name: what it is called among the runs that wait.
    """

    dead: ClassVar[str] = (
        "The process ended without a word: it was killed, or the machine restarted. What earlier "
        "races found is kept; start it again."
    )

    status: RaceStatus
    id: str = "race"
    name: str = "the measuring of this machine"


def machine_folder() -> Path:
    """Where everything that was measured of this machine lies."""
    return data_folder() / "machine"


def race_folder() -> Path:
    """Where the race that was asked for last has its files."""
    return machine_folder() / "job"


def read_race_job() -> RaceJob | None:
    """The race that was asked for last; None where there was none, or it cannot be read."""
    try:
        return RaceJob(RaceStatus.from_dict(read_json(race_folder() / "status.json")))
    except (OSError, ValueError, TypeError):
        return None
