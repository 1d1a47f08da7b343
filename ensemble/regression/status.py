"""How a regression stands: queued → starting → solving → finished | stopped | failed."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ensemble.jobs.kinds import REGRESSION, JobKind
from ensemble.jobs.status import StoredStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count


@dataclass(frozen=True)
class RegressionStatus(StoredStatus):
    """What a regression's status.json says.

    Attributes:
      iteration: iterations done, of all its solves.
      iterations: of how many.
      cores: processor cores of the machine.
      platform: "cpu", "gpu" or "tpu".
      devices: how many of them the solve with `pmap` has; 0 where there is none.
    """

    kind: ClassVar[JobKind] = REGRESSION

    iteration: Count = 0
    iterations: Count = 0
    cores: Count = 0
    platform: str = ""
    devices: Count = 0


def read_regression_status(folder: Path) -> RegressionStatus:
    """The status of the regression in `folder`; OSError or ValueError where it cannot be read."""
    return RegressionStatus.from_dict(read_json(folder / "status.json"))
