"""How a run that predicts numbers stands: its states and its status.json, its lines of history.

queued → starting → training → finished | stopped | diverged | failed, or imported.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ensemble.jobs.kinds import NUMERIC, JobKind
from ensemble.jobs.status import StoredStatus
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import Count, MetricValue, Seconds, Speed
from ensemble.storage.records.json_lines import Line, convert_to_json

if TYPE_CHECKING:
    from ensemble.analysis.numeric.normal_mixture import Doubles
    from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble


@dataclass(frozen=True)
class NumericStatus(StoredStatus):
    """What the status.json of a run that predicts numbers says.

    Errors are in the unit of the targets, the NLL in nats, times in seconds. The best epoch is the
    first of those with the lowest NLL of the ensemble, or RMSE where members tell no spread: on
    validation examples where `best_on` is "validation", else on the test examples.

    Attributes:
      seconds: of training and testing, also before it was resumed, without compiling.
      compile_seconds: of compiling, also before it was resumed.
      example_member_per_s: examples times members a second.
      set_aside: of each member (from 0) that stopped because its loss is not a number, the
        first step (from 1) at which it was none.
    """

    kind: ClassVar[JobKind] = NUMERIC

    epoch: Count = 0
    epochs: Count = 0
    step: Count = 0
    steps: Count = 0
    seconds: Seconds = 0.0
    compile_seconds: Seconds | None = None
    example_member_per_s: Speed | None = None
    ensemble_test_rmse: MetricValue | None = None
    ensemble_test_nll: MetricValue | None = None
    ensemble_test_crps: MetricValue | None = None
    member_test_rmse: list[MetricValue | None] = field(default_factory=list)
    best_epoch: Count | None = None
    best_on: str = "test"
    best_score: MetricValue | None = None
    set_aside: dict[int, Count] = field(default_factory=dict)


def read_numeric_status(folder: Path) -> NumericStatus:
    """The status of the run in `folder`; OSError or ValueError where it cannot be read."""
    return NumericStatus.from_dict(read_json(folder / "status.json"))


def build_numeric_epoch_line(
    predicted: "NumericEnsemble", targets: "Doubles", epoch: int, *, step: int | None = None, **more: Any
) -> Line:
    """An epoch's line of the history, as far as its predictions of the test examples tell.

    Args:
      predicted: by the members that remain, M of them, of N examples.
      targets: (N,).
      epoch: counted from 1.
      step: the steps done by then; the epoch's number where that is not known.
      more: what training adds, as `train_loss` (M,) or `ensemble_validation_nll`.
    """
    # Here, for they take SciPy, and lists of runs do without.
    from ensemble.analysis.numeric.numeric_ensemble import split_members
    from ensemble.analysis.numeric.numeric_quality import measure_numeric_quality

    whole = measure_numeric_quality(predicted, targets)
    each = [measure_numeric_quality(member, targets) for member in split_members(predicted)]
    return convert_to_json(
        {
            "kind": "numeric_epoch",
            "epoch": epoch,
            "step": epoch if step is None else step,
            "progress": float(epoch),
            "test_rmse": [member.rmse for member in each],
            "test_nll": [member.nll for member in each],
            "test_crps": [member.crps for member in each],
            "ensemble_test_rmse": whole.rmse,
            "ensemble_test_nll": whole.nll,
            "ensemble_test_crps": whole.crps,
            **more,
        }
    )


def build_numeric_status_fields(status: NumericStatus, line: Line) -> dict[str, Any]:
    """What the status keeps of an epoch's line, and of the best epoch so far.

    Args:
      status: as the epoch before left it.
      line: of `build_numeric_epoch_line`.
    """
    fields = {
        "ensemble_test_rmse": line["ensemble_test_rmse"],
        "ensemble_test_nll": line["ensemble_test_nll"],
        "ensemble_test_crps": line["ensemble_test_crps"],
        "member_test_rmse": line["test_rmse"],
    }
    where = f"ensemble_{status.best_on}"
    score = line.get(f"{where}_nll", line.get(f"{where}_rmse"))
    if score is None:
        score = line.get(f"{where}_rmse")
    if score is not None and (status.best_score is None or score < status.best_score):
        fields |= {"best_epoch": line["epoch"], "best_score": score}
    return fields
