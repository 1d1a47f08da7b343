"""How an experiment with labels stands: queued → starting → learning → finished and so on."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble.jobs.kinds import LEARNING, JobKind
from ensemble.jobs.status import StoredStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count


@dataclass(frozen=True)
class LearningStatus(StoredStatus):
    """What an experiment's status.json says.

    Attributes:
      done: ensembles that are trained.
      trainings: of how many.
    """

    kind: ClassVar[JobKind] = LEARNING

    done: Count = 0
    trainings: Count = 0


def read_learning_status(folder: Path) -> LearningStatus:
    """The status of the experiment in `folder`; OSError or ValueError where it cannot be read."""
    return LearningStatus.from_dict(read_json(folder / "status.json"))
