"""What a student loses against its teacher on the same test images, and what it saves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ensemble.analysis.members.ece_gain import EceGain, estimate_ece_difference
from ensemble.analysis.members.gain import PairedGain, compute_gain
from ensemble.analysis.members.non_inferiority import NonInferiority, judge_non_inferiority
from ensemble.analysis.members.sufficient_size import DEFAULT_MARGINS
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.ood import AurocDifference, compare_aurocs
from ensemble.analysis.quality.quality import measure_quality
from ensemble.comparison.image_identity import have_same_images
from ensemble.errors import EnsembleError, RunError
from ensemble.machine.network_cost import NetworkCost, compute_network_cost
from ensemble.runs.epoch_choice import is_chosen_on_validation, select_default_epoch
from ensemble.runs.history import list_prediction_epochs, read_run_predictions
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.runs.teacher import read_teacher_record
from ensemble.shift import StressResults, read_stress
from ensemble.shift.results import KNOWN_KEY, read_ood_scores


class _MeasuredRun(NamedTuple):
    """How many networks answered each image, and how well: a share in [0, 1], and nats."""

    members: int
    accuracy: float
    nll: float


class _MeasuredDifferences(NamedTuple):
    """What follows from both runs' predictions alone; see `TeacherComparison`."""

    student: _MeasuredRun
    teacher: _MeasuredRun
    gain: PairedGain
    ece: EceGain
    disputed: int


@dataclass(frozen=True)
class JudgedRun:
    """One of the two, as it is judged.

    Attributes:
      run: which.
      epoch: after which, from 1.
      on_validation: whether that epoch is the best on its own validation images.
      members: how many networks answer each image.
      accuracy: on the test images, in [0, 1].
      nll: nats.
      cost: of one member's network; None where it is a person's own.
    """

    run: Run
    epoch: int
    on_validation: bool
    members: int
    accuracy: float
    nll: float
    cost: NetworkCost | None

    @property
    def parameters(self) -> int | None:
        """Numbers in all its networks together."""
        return self.members * self.cost.parameters if self.cost else None

    @property
    def flops(self) -> int | None:
        """Operations of one image's forward pass through all of them."""
        return self.members * self.cost.flops if self.cost else None


@dataclass(frozen=True)
class OodComparison:
    """How well the entropy of each tells one set of out-of-distribution images.

    Attributes:
      title: of the set.
      images: how many are in it.
      student: AUROC, in [0, 1].
      teacher: the teacher's.
      difference: the one less the other, with its interval; None where the scores of each image
        are not kept any more.
    """

    title: str
    images: int
    student: float
    teacher: float
    difference: AurocDifference | None = None


@dataclass(frozen=True)
class TeacherComparison:
    """A student beside its teacher.

    Attributes:
      student: the one.
      teacher: the other.
      gain: what the student is better by; positive is better.
      ece: the student's calibration error (`ensemble`) against the teacher's (`members`).
      ood: of the sets that both were measured on; () where either was not.
      disputed: on how many test images the teacher's members do not all say the same class.
      same_validation: whether both held the same images out; None where the student held out none.
      labels_alone: whether the student learnt nothing from the teacher (α = 1).
    """

    student: JudgedRun
    teacher: JudgedRun
    gain: PairedGain
    ece: EceGain
    ood: tuple[OodComparison, ...]
    disputed: int
    same_validation: bool | None
    labels_alone: bool


def compare_with_teacher(student: Run, epoch: int, measure: Callable[..., _MeasuredDifferences]) -> TeacherComparison:
    """What a student is beside its teacher.

    Args:
      student: a run that names a teacher.
      epoch: of the student, that is judged.
      measure: calls `_measure_differences` on the student's predictions after that epoch.

    Raises:
      RunError: it has no teacher, or the teacher is gone, has no predictions, or was tested on
        other images.
    """
    teacher = _find_judged_teacher(student)
    teacher_epoch = _select_teacher_epoch(student, teacher)
    differences = measure(_measure_differences, teacher.id, teacher_epoch)
    return TeacherComparison(
        student=_judge_run(student, epoch, differences.student),
        teacher=_judge_run(teacher, teacher_epoch, differences.teacher),
        gain=differences.gain,
        ece=differences.ece,
        ood=tuple(_compare_ood(student, epoch, teacher, teacher_epoch)),
        disputed=differences.disputed,
        same_validation=_hold_out_alike(student, teacher),
        labels_alone=not require_training_config(student).has_soft_targets,
    )


def _measure_differences(predictions: EnsemblePredictions, teacher_id: str, teacher_epoch: int) -> _MeasuredDifferences:
    """What predictions of a student come to beside those of its teacher, on the same images.

    Raises:
      RunError: the teacher's predictions are damaged.
    """
    labels, groups = predictions.labels, predictions.groups
    try:
        other = evaluate_predictions(read_run_predictions(teacher_id, teacher_epoch), labels, groups)
    except ValueError as error:
        raise RunError(
            f"The predictions of the teacher “{teacher_id}” are damaged: the two cannot be compared."
        ) from error
    own_quality, other_quality = (measure_quality(each.averaged, labels, groups) for each in (predictions, other))
    return _MeasuredDifferences(
        _MeasuredRun(predictions.members, own_quality["accuracy"], own_quality["nll"]),
        _MeasuredRun(other.members, other_quality["accuracy"], other_quality["nll"]),
        compute_gain(predictions.averaged, other.averaged, labels, groups),
        estimate_ece_difference(predictions.confidence, predictions.right, [(other.confidence, other.right)], groups),
        int(np.count_nonzero(other.split)),
    )


def judge_losses(
    comparison: TeacherComparison, margins: Mapping[str, float] = DEFAULT_MARGINS
) -> tuple[NonInferiority, NonInferiority]:
    """What is shown of the losses of accuracy and of NLL, by default with the usual margins."""
    accuracy, nll = (judge_non_inferiority(comparison.gain, metric, margins[metric]) for metric in ("accuracy", "nll"))
    return accuracy, nll


def _find_judged_teacher(student: Run) -> Run:
    """The teacher of a run, where it can be held against it.

    Raises:
      RunError: as `compare_with_teacher`.
    """
    config = student.training_config
    if config is None or not config.teacher:
        raise RunError(f"The run “{student.id}” has no teacher: it learnt from labels alone.")
    try:
        teacher = find_run(config.teacher)
    except RunError as error:
        raise RunError(
            f"The teacher “{config.teacher}” is not here any more: what was lost against it cannot be told."
        ) from error
    if not list_prediction_epochs(teacher.id):
        raise RunError(f"The teacher “{teacher.id}” has no predictions to be held against.")
    if not have_same_images(student, teacher):
        raise RunError(
            f"The teacher “{teacher.id}” was tested on other images: what was lost against it cannot be told."
        )
    return teacher


def _select_teacher_epoch(student: Run, teacher: Run) -> int:
    """The epoch that taught, where its predictions are kept; else that the teacher is shown by."""
    record, kept = read_teacher_record(student), list_prediction_epochs(teacher.id)
    if record and record.run_id == teacher.id and record.epoch in kept:
        return record.epoch
    return select_default_epoch(teacher, kept)


def _judge_run(run: Run, epoch: int, measured: _MeasuredRun) -> JudgedRun:
    config = require_training_config(run)
    cost = compute_network_cost(str(config.network), run.data.image_shape, len(run.data.class_names), config.width)
    return JudgedRun(
        run=run,
        epoch=epoch,
        on_validation=is_chosen_on_validation(run, epoch),
        members=measured.members,
        accuracy=measured.accuracy,
        nll=measured.nll,
        cost=cost,
    )


def _compare_ood(student: Run, epoch: int, teacher: Run, teacher_epoch: int) -> list[OodComparison]:
    own, others = _read_measured(student, epoch), _read_measured(teacher, teacher_epoch)
    if own is None or others is None or own.images != others.images:
        return []
    by_key = {ood_set["key"]: ood_set for ood_set in others.ood}
    return [
        OodComparison(
            ood_set["title"],
            ood_set["images"],
            ood_set["measures"]["entropy"]["auroc"],
            by_key[ood_set["key"]]["measures"]["entropy"]["auroc"],
            _compare_aurocs((student, own), (teacher, others), ood_set["key"]),
        )
        for ood_set in own.ood
        if ood_set["key"] in by_key and by_key[ood_set["key"]]["images"] == ood_set["images"]
    ]


def _compare_aurocs(
    student: tuple[Run, StressResults], teacher: tuple[Run, StressResults], key: str
) -> AurocDifference | None:
    scores = []
    for run, results in (student, teacher):
        known, unknown = (read_ood_scores(run.path, each, results.tick) for each in (KNOWN_KEY, key))
        if known is None or unknown is None:
            return None
        scores.append((known["entropy"], unknown["entropy"]))
    try:
        return compare_aurocs(scores[0], scores[1])
    except ValueError:
        return None


def _read_measured(run: Run, epoch: int) -> StressResults | None:
    try:
        results = read_stress(run.id).results
    except EnsembleError:
        return None
    if results is None or (results.epoch, results.steps_after) != (epoch, 0):
        return None
    return results


def _hold_out_alike(student: Run, teacher: Run) -> bool | None:
    own, other = require_training_config(student), require_training_config(teacher)
    if not own.validation:
        return None
    return (own.seed, own.validation) == (other.seed, other.validation)
