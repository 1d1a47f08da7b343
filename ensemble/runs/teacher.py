"""The run that another learns from: which may be one, and what is kept of it with the student.

A student learns from the averaged probabilities of the teacher's members on the training images.
They are computed once, by the worker that first needs them, and lie in the student's folder with a
record of whose they are: a student goes on to the same bits when its teacher is long gone.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from ensemble.architectures import ARCHITECTURES
from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.errors import RunError
from ensemble.jobs.folders import is_run_id
from ensemble.optimizers import OPTIMIZERS, SGD
from ensemble.runs.epoch_choice import is_chosen_on_validation, select_default_epoch
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.settings import list_setting_fields
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import Count, NumberRange, parse_dataclass

RATE = "learning_rate"
# In the folder of a run that learns from a teacher.
TEACHER_FILE, TARGETS_FILE = "teacher.json", "teacher_targets.npz"


@dataclass(frozen=True)
class TeacherRecord:
    """Whose probabilities a run learnt from: what its `teacher.json` says.

    Attributes:
      run_id: the teacher's.
      name: what it was called then.
      epoch: after which its members were asked, from 1.
      members: how many they were.
      chosen_on: "validation" where it was the best epoch on the teacher's validation images, else
        "last".
      temperature: what each member's logits were divided by.
    """

    run_id: str
    name: str
    epoch: Count
    members: Count
    chosen_on: Literal["validation", "last"]
    temperature: Annotated[float, NumberRange(1, 100)]


@dataclass(frozen=True)
class Teacher:
    """A run that can be learnt from, and the epoch after which its members are asked."""

    run: Run
    epoch: int

    def describe(self, temperature: float) -> TeacherRecord:
        """The record that is kept of it."""
        return TeacherRecord(
            run_id=self.run.id,
            name=self.run.name,
            epoch=self.epoch,
            members=len(self.run.remaining_members(self.epoch)),
            chosen_on="validation" if is_chosen_on_validation(self.run, self.epoch) else "last",
            temperature=temperature,
        )


def find_teacher(config: EnsembleConfig) -> Teacher:
    """The teacher that these settings name.

    Its epoch is that of `select_default_epoch`: the best on its validation images, else the last
    whose parameters it keeps, never the best on the test images.

    Raises:
      UnknownRunError: there is no such run.
      RunError: it is no ensemble, was trained elsewhere, is still being trained, keeps no
        parameters, or learnt other images.
    """
    run = find_run(config.teacher)
    own = require_training_config(run)
    if run.active:
        raise RunError(
            f"The run “{run.id}” is still being trained: let it end, or stop it, before another learns from it."
        )
    if own.dataset != config.dataset:
        raise RunError(
            f"The run “{run.id}” learnt {registry.find_dataset_title(own.dataset)}, and the "
            f"student is to learn {registry.find_dataset_title(config.dataset)}: choose the "
            "teacher's dataset, or another teacher."
        )
    entry = registry.find_dataset_entry(config.dataset)
    if run.data.fingerprint and entry.fingerprint != run.data.fingerprint:
        raise RunError(
            f"The dataset “{config.dataset}” is no longer the one that the run “{run.id}” learnt: "
            "add the original again under that name, or choose another teacher."
        )
    if not (epochs := list_parameter_epochs(run.path)):
        raise RunError(
            f"The run “{run.id}” keeps no parameters on the disk, so its members cannot be asked "
            "about the training images: train it again, or choose another teacher."
        )
    return Teacher(run, select_default_epoch(run, epochs))


def has_teacher(run: Run) -> bool:
    """Whether a run names a run that it learns from."""
    return bool(run.training_config and run.training_config.teacher)


def build_student_config(teacher: Run, **changes: object) -> EnsembleConfig:
    """The settings of one network that learns from a run: the run's own, but for what is of many.

    Unless one is given, the learning rate is that of `_scale_student_rate`.

    Raises:
      ConfigError: the changes do not fit together, or name no setting.
      RunError: the run was trained elsewhere.
    """
    own = require_training_config(teacher)
    usual = {
        "members": 1,
        "vary": "",
        "shuffle_per_member": False,
        "bootstrap": False,
        "folds": 0,
        "groups": 1,
        "teacher": teacher.id,
        "distil_temperature": EnsembleConfig.distil_temperature,
        "distil_alpha": EnsembleConfig.distil_alpha,
    }
    values = {**own.as_dict(), **usual}
    if RATE not in changes:
        values[RATE] = _scale_student_rate(own, {**values, **changes})
    network = changes.get("network", own.network)
    if network != own.network or network not in ARCHITECTURES:
        values["width"] = 0
    return EnsembleConfig.from_dict({**values, **changes})


def _scale_student_rate(teacher: EnsembleConfig, settings: Mapping[str, Any]) -> float:
    """The learning rate of a student whose steps are no larger than its teacher's could be.

    SGD's is divided by how much larger the gradient by the logits can be. The steps of the other
    optimizers do not grow with the gradient; one that is not the teacher's has its usual rate.
    """
    if settings["optimizer"] != teacher.optimizer:
        rate = OPTIMIZERS[settings["optimizer"]].usual_rate
    else:
        rate = teacher.learning_rate
        if teacher.has_soft_targets and settings["optimizer"] == SGD.name:
            rate *= _bound_logit_gradient(teacher.distil_alpha, teacher.distil_temperature)
    if settings["optimizer"] == SGD.name:
        rate /= _bound_logit_gradient(settings["distil_alpha"], settings["distil_temperature"])
    field = next(field for field in list_setting_fields(EnsembleConfig) if field.name == RATE)
    return max(float(f"{rate:.3g}"), float(field.metadata["low"]))


def _bound_logit_gradient(alpha: float, temperature: float) -> float:
    """What no part of the gradient of a student's loss by its logits exceeds: α + (1 − α) · T.

    That of the labels is a softmax less a label, that of the teacher T times the difference of two
    softmax at T: each at most 1. Plain training has 1.
    """
    return alpha + (1 - alpha) * temperature


def read_teacher_record(run: Run) -> TeacherRecord | None:
    """Whose probabilities a run learnt from; None where it has no such record yet."""
    try:
        record = parse_dataclass(TeacherRecord, read_json(find_teacher_folder(run) / TEACHER_FILE))
    except (OSError, ValueError):
        return None
    return record if is_run_id(record.run_id) else None


def write_teacher_record(folder: Path, record: TeacherRecord) -> None:
    """Keep in a run's folder whose probabilities it learns from; OSError where that fails."""
    write_json(folder / TEACHER_FILE, asdict(record))


def find_teacher_folder(run: Run) -> Path:
    """Where a run keeps what it has of its teacher; of a group it is the run's."""
    return run.path if run.has_all_members else run.path.parents[1]
