"""How a sweep stands: queued → starting → searching → finished | stopped | failed."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble.jobs.kinds import SWEEP, JobKind
from ensemble.jobs.status import StoredStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count


@dataclass(frozen=True)
class SweepStatus(StoredStatus):
    """What a sweep's status.json says.

    Attributes:
      done: trials that have ended.
      trials: of how many.
    """

    kind: ClassVar[JobKind] = SWEEP

    done: Count = 0
    trials: Count = 0


def read_sweep_status(folder: Path) -> SweepStatus:
    """The status of the sweep in `folder`; OSError or ValueError where it cannot be read."""
    return SweepStatus.from_dict(read_json(folder / "status.json"))
