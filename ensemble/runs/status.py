"""How a run stands: its states and its status.json.

queued → starting → training → finished | stopped | diverged | failed
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from ensemble.jobs.kinds import TRAINING, Kind
from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic import read_json

STATES = ("queued", "starting", "training", "finished", "stopped", "diverged", "failed")
ACTIVE = TRAINING.active
RESUMABLE = TRAINING.resumable


@dataclass(frozen=True)
class Status(JobStatus):
    """What a run's status.json says: accuracies in [0, 1], losses in nats, times in seconds."""

    kind: ClassVar[Kind] = TRAINING

    created: float = 0.0
    started: float | None = None
    epoch: int = 0
    epochs: int = 0
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    img_member_per_s: float | None = None
    ensemble_test_accuracy: float | None = None
    ensemble_test_nll: float | None = None
    member_test_accuracy: list[float] = field(default_factory=list)
    best_ensemble_test_accuracy: float | None = None
    best_epoch: int | None = None


def read_status(folder: Path) -> Status:
    """The status of the run in `folder`; OSError or ValueError where it cannot be read."""
    return Status.from_dict(read_json(folder / "status.json"))
