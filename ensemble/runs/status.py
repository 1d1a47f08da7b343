"""How a run stands: its states and its status.json.

queued → starting → training → finished | stopped | diverged | failed
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from ensemble.jobs.kinds import TRAINING, Kind
from ensemble.jobs.status import JobStatus
from ensemble.storage.atomic import read_json
from ensemble.storage.records.fields import Count, Figure, Seconds, Share, Speed, Time

STATES = TRAINING.states
ACTIVE = TRAINING.active
RESUMABLE = TRAINING.resumable


@dataclass(frozen=True)
class Status(JobStatus):
    """What a run's status.json says: accuracies in [0, 1], losses in nats, times in seconds.

    Attributes:
      seconds: of training and testing in all stretches, without compiling.
      compile_seconds: of compiling in all stretches; None where an earlier version trained it.
      img_member_per_s: images times members a second; while it trains over the last ten seconds
        or so, once it has ended over `seconds`.
    """

    kind: ClassVar[Kind] = TRAINING

    created: Time = 0.0
    started: Time | None = None
    epoch: Count = 0
    epochs: Count = 0
    step: Count = 0
    steps: Count = 0
    seconds: Seconds = 0.0
    compile_seconds: Seconds | None = None
    img_member_per_s: Speed | None = None
    ensemble_test_accuracy: Share | None = None
    ensemble_test_nll: Figure | None = None
    member_test_accuracy: list[Share | None] = field(default_factory=list)
    best_ensemble_test_accuracy: Share | None = None
    best_epoch: Count | None = None


def read_status(folder: Path) -> Status:
    """The status of the run in `folder`; OSError or ValueError where it cannot be read."""
    return Status.from_dict(read_json(folder / "status.json"))
