"""How a run stands: its states and its status.json.

queued → starting → training → finished | stopped | diverged | failed
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from ensemble.config import CLASSIFICATION, TrainingConfig
from ensemble.jobs.kinds import TRAINING, JobKind
from ensemble.jobs.status import StoredStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count, MetricValue, Seconds, Share, Speed
from ensemble.storage.records.json_lines import Line

STATES = TRAINING.states
ACTIVE = TRAINING.active_states
RESUMABLE = TRAINING.resumable


@dataclass(frozen=True)
class Status(StoredStatus):
    """What a run's status.json says: accuracies in [0, 1], losses in nats, times in seconds.

    The best epoch is the first of those with the lowest validation NLL of the ensemble where
    `best_on` is "validation", else the first with the highest test accuracy; what is said to be
    best of the test images is their figure at that epoch. A regression has errors in the unit of its
    targets instead of accuracies, and `best_score`, which is its best epoch's NLL (RMSE where members
    predict no spread) on the validation rows, else on the test rows.

    Attributes:
      seconds: of training and testing in all stretches, without compiling.
      compile_seconds: of compiling in all stretches; None if an earlier version trained it.
      img_member_per_s: images, or rows, times members a second; while it trains over the last ten seconds
        or so, once it has ended over `seconds`.
      set_aside: of each member (from 0) that stopped because its loss is not a number, the
        first step (from 1) at which it was none; of a test or validation loss the step before.
    """

    kind: ClassVar[JobKind] = TRAINING

    epoch: Count = 0
    epochs: Count = 0
    step: Count = 0
    steps: Count = 0
    seconds: Seconds = 0.0
    compile_seconds: Seconds | None = None
    img_member_per_s: Speed | None = None
    ensemble_test_accuracy: Share | None = None
    ensemble_test_nll: MetricValue | None = None
    member_test_accuracy: list[Share | None] = field(default_factory=list)
    best_ensemble_test_accuracy: Share | None = None
    best_ensemble_test_nll: MetricValue | None = None
    best_member_test_accuracy: list[Share | None] = field(default_factory=list)
    best_epoch: Count | None = None
    best_on: str = "test"  # as in runs of versions that knew nothing else
    best_ensemble_validation_nll: MetricValue | None = None
    set_aside: dict[int, Count] = field(default_factory=dict)
    ensemble_test_rmse: MetricValue | None = None
    ensemble_test_crps: MetricValue | None = None
    member_test_rmse: list[MetricValue | None] = field(default_factory=list)
    best_score: MetricValue | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The status in a status.json; a regression of version 1.0 has another name for its speed."""
        if isinstance(values, dict) and "example_member_per_s" in values:
            values = {**values, "img_member_per_s": values["example_member_per_s"]}
        return super().from_dict(values)


_CLASSIFICATION_FIELDS = {
    "ensemble_test_accuracy",
    "member_test_accuracy",
    "best_ensemble_test_accuracy",
    "best_ensemble_test_nll",
    "best_member_test_accuracy",
    "best_ensemble_validation_nll",
}
_REGRESSION_FIELDS = {"ensemble_test_rmse", "ensemble_test_crps", "member_test_rmse", "best_score"}


def serialize_status(status: Status, task: str) -> dict[str, Any]:
    """The fields of a status that a run of this task has, ready for JSON."""
    without = _REGRESSION_FIELDS if task == CLASSIFICATION else _CLASSIFICATION_FIELDS
    return {name: value for name, value in asdict(status).items() if name not in without}


def list_remaining_members(status: Status, members: int, epoch: int | None = None) -> tuple[int, ...]:
    """The members, from 0, that had not diverged by the end of this epoch; by now for None."""
    steps = status.steps // max(1, status.epochs)
    return list_remaining_at_step(status, members, status.steps if epoch is None else epoch * steps)


def list_remaining_at_step(status: Status, members: int, step: int) -> tuple[int, ...]:
    """The members, from 0, that had not diverged by the end of this step."""
    return tuple(number for number in range(members) if status.set_aside.get(number, step + 1) > step)


def describe_diverged_members(status: Status, members: int, over: bool = True) -> str:
    """A sentence on the members that diverged; "" if none did.

    Args:
      status: the run's.
      members: M.
      over: whether the run has ended; otherwise the others continue.
    """
    if not status.set_aside:
        return ""
    if len(status.set_aside) == members:
        return ""  # All of them: then the run itself diverged.
    *first, last = (f"member {m + 1} at step {at:,}" for m, at in sorted(status.set_aside.items()))
    who = f"{', '.join(first)} and {last}" if first else last
    left = members - len(status.set_aside)
    others = f"the other {left}" if left > 1 else "the other one"
    verb = "continued" if over else "continue" if left > 1 else "continues"
    return f"Diverged (the loss is no longer a number): {who}; {others} {verb}."


def build_blank_best_fields(config: TrainingConfig) -> dict[str, Any]:
    return {
        "best_on": "validation" if config.validation else "test",
        "best_epoch": None,
        "best_ensemble_test_accuracy": None,
        "best_ensemble_test_nll": None,
        "best_member_test_accuracy": [],
        "best_ensemble_validation_nll": None,
        "best_score": None,
    }


def build_epoch_status_fields(status: Status, line: Line) -> dict[str, Any]:
    """What the status keeps of an epoch's line, and of the best epoch so far.

    Args:
      status: as the epoch before left it.
      line: of the history.
    """
    if "ensemble_test_rmse" in line:
        return _build_regression_status_fields(status, line)
    accuracy, nll = line["ensemble_test_accuracy"], line.get("ensemble_validation_nll")
    fields = {
        "ensemble_test_accuracy": accuracy,
        "ensemble_test_nll": line.get("ensemble_test_nll"),
        "member_test_accuracy": line["test_accuracy"],
    }
    if status.best_on == "validation":
        best = status.best_ensemble_validation_nll
        better = nll is not None and (best is None or nll < best)
    else:
        better = accuracy > (status.best_ensemble_test_accuracy or -1.0)
    if better:
        fields["best_epoch"] = line["epoch"]
        fields["best_ensemble_test_accuracy"] = accuracy
        fields["best_ensemble_test_nll"] = line.get("ensemble_test_nll")
        fields["best_member_test_accuracy"] = line["test_accuracy"]
        fields["best_ensemble_validation_nll"] = nll
    return fields


def _build_regression_status_fields(status: Status, line: Line) -> dict[str, Any]:
    fields = {
        "ensemble_test_rmse": line["ensemble_test_rmse"],
        "ensemble_test_nll": line["ensemble_test_nll"],
        "ensemble_test_crps": line["ensemble_test_crps"],
        "member_test_rmse": line["test_rmse"],
    }
    score = line.get(f"ensemble_{status.best_on}_nll")
    if score is None:
        score = line.get(f"ensemble_{status.best_on}_rmse")
    if score is not None and (status.best_score is None or score < status.best_score):
        fields |= {"best_epoch": line["epoch"], "best_score": score}
    return fields


def is_training_over(status: Status, config: TrainingConfig, epoch: int) -> bool:
    """Whether training ends after this epoch: the last, or patience has run out (Prechelt 1998).

    It follows from what the history says of the epochs so far and nothing else, so that a run
    that was interrupted ends where it would have ended.
    """
    return epoch >= config.epochs or _early_stopping_triggered(status, config, epoch)


def _early_stopping_triggered(status: Status, config: TrainingConfig, epoch: int) -> bool:
    best = status.best_epoch
    return bool(config.patience) and best is not None and epoch - best >= config.patience


def describe_early_stop(status: Status, config: TrainingConfig, epoch: int) -> str:
    """A sentence where the run ended before its last epoch; else ""."""
    if epoch >= config.epochs or not _early_stopping_triggered(status, config, epoch):
        return ""
    waited = f"{config.patience} epoch" + "s" * (config.patience != 1)
    return (
        f"Stopped early after epoch {epoch} of {config.epochs}: the validation NLL has not fallen "
        f"for {waited}. The best was epoch {status.best_epoch}."
    )


def read_run_status(folder: Path) -> Status:
    """The status of the run in `folder`; OSError or ValueError where it cannot be read."""
    return Status.from_dict(read_json(folder / "status.json"))
