"""What a line of a history.jsonl holds, by its kind: what pages and commands read of it.

A line whose fields are something else is corrupt. Fields that are not named here stay as they
are; a kind of line that is not named here need only say where it stands.
"""

from typing import Annotated, Any, NotRequired, TypedDict

from ensemble.storage.records.field_checks import (
    Count,
    MetricValue,
    NumberRange,
    Seconds,
    Share,
    Speed,
    check_json_value,
)

Line = dict[str, Any]
# Of each member; null where one is not finite.
_MemberMetrics = list[MetricValue | None]
_MemberShares = list[Share | None]
# A quotient of two of them is drawn: none took no time at all.
_PositiveSeconds = Annotated[float, NumberRange(1e-9, 1e9)]
_DeviceCount = Annotated[int, NumberRange(1, 2**20)]


class _LinePosition(TypedDict):
    """Of any line."""

    kind: str
    step: Count
    epoch: NotRequired[Count]
    progress: NotRequired[MetricValue | None]


class _TrainingLine(_LinePosition):
    """Of steps, and of an epoch: figures of the training images."""

    train_loss: NotRequired[_MemberMetrics]
    train_accuracy: NotRequired[_MemberShares]
    ensemble_train_loss: NotRequired[MetricValue | None]
    ensemble_train_nll: NotRequired[MetricValue | None]
    ensemble_train_accuracy: NotRequired[Share | None]
    seconds: NotRequired[Seconds | None]
    img_member_per_s: NotRequired[Speed | None]
    set_aside: NotRequired[list[Count]]  # members, from 0, that count in no mean


class _ValidationLine(TypedDict):
    """Of an epoch of a run that holds out training images, to choose by."""

    validation_loss: NotRequired[_MemberMetrics]
    validation_accuracy: NotRequired[_MemberShares]
    ensemble_validation_loss: NotRequired[MetricValue | None]
    ensemble_validation_nll: NotRequired[MetricValue | None]
    ensemble_validation_accuracy: NotRequired[Share | None]


class _EvaluationLine(TypedDict):
    """Of an epoch of a classification, which closes with the whole test set."""

    epoch: Count
    train_loss: _MemberMetrics
    test_loss: _MemberMetrics
    test_accuracy: _MemberShares
    ensemble_test_loss: NotRequired[MetricValue | None]
    ensemble_test_nll: NotRequired[MetricValue | None]
    ensemble_test_accuracy: NotRequired[Share | None]
    disagreement: NotRequired[Share | None]
    member_disagreement: NotRequired[_MemberShares]


class _RegressionLine(TypedDict):
    """Of an epoch of a regression, in the unit of its targets."""

    epoch: Count
    train_loss: NotRequired[_MemberMetrics]
    train_rmse: NotRequired[_MemberMetrics]
    test_rmse: _MemberMetrics
    test_nll: _MemberMetrics
    test_crps: _MemberMetrics
    ensemble_test_rmse: MetricValue | None
    ensemble_test_nll: MetricValue | None
    ensemble_test_crps: MetricValue | None
    validation_rmse: NotRequired[_MemberMetrics]
    validation_nll: NotRequired[_MemberMetrics]
    ensemble_validation_rmse: NotRequired[MetricValue | None]
    ensemble_validation_nll: NotRequired[MetricValue | None]


class _CompileLine(TypedDict):
    """Of a regression's solve: its beginning."""

    solve: str
    devices: _DeviceCount
    pmap: bool
    seconds: Seconds


class _IterationLine(TypedDict):
    """Of a regression's solve: one step."""

    solve: str
    objective: MetricValue | None
    error: MetricValue | None
    step_size: MetricValue | None
    evaluations: MetricValue | None
    seconds: _PositiveSeconds


class _EndLine(TypedDict):
    """Of a regression's solve: all of its steps are done."""

    solve: str
    spread: NotRequired[MetricValue | None]


_LINE_KINDS: dict[str, tuple[Any, ...]] = {
    "steps": (_TrainingLine,),
    "epoch": (_TrainingLine, _ValidationLine, _EvaluationLine),
    "compile": (_LinePosition, _CompileLine),
    "iteration": (_LinePosition, _IterationLine),
    "end": (_LinePosition, _EndLine),
}
MEMBER_FIELDS = (
    "train_loss",
    "train_accuracy",
    "validation_loss",
    "validation_accuracy",
    "test_loss",
    "test_accuracy",
    "member_disagreement",
    "train_rmse",
    *(f"{split}_{name}" for split in ("validation", "test") for name in ("rmse", "nll", "crps")),
)


def is_valid_line(line: Any, members: int | None = None) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        return False
    try:
        is_regression = line["kind"] == "epoch" and "test_rmse" in line
        forms = (_TrainingLine, _RegressionLine) if is_regression else _LINE_KINDS.get(line["kind"], (_LinePosition,))
        for form in forms:
            check_json_value(form, line, "line")
    except ValueError:
        return False
    widths = {len(line[name]) for name in MEMBER_FIELDS if isinstance(line.get(name), list)}
    return len(widths) < 2 and (members is None or widths <= {members}) and 0 not in widths
