"""What a run of each task writes down about its steps and epochs: fields of the history, and predictions."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ensemble.analysis.members import disagreement
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.config import REGRESSION
from ensemble.engine import Evaluation, Trainer
from ensemble.engine.numeric import JudgedRows, NumericEvaluation, NumericTrainer, TrainingRows
from ensemble.runs.history import PREDICTION_FOLDERS
from ensemble.runs.numeric.numeric_epochs import compute_numeric_metrics
from ensemble.runs.numeric.numeric_predictions import CURVE
from ensemble.runs.store import Run, locate_table_folder, require_regression_config, require_training_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.training.progress import Fields, Progress
from ensemble.runs.training.teacher_targets import load_teacher_targets
from ensemble.tables.prepared_table import read_prepared_table

AnyTrainer = Trainer | NumericTrainer
# Why the very first loss of a run is not a number.
_BROKEN_NETWORK = {
    Trainer: "the network's logits are not finite for images from 0 to 1",
    NumericTrainer: "the network's outputs are not finite for standardized rows",
}


class _TaskRecords(Protocol):
    """What a run writes down that depends on its task."""

    def summarize_steps(self, progress: Progress, last: int | None = None) -> Fields:
        """What a line says about the last so many steps of the running epoch, by default about all."""

    def summarize_epoch(self, judged: Mapping[str, Any], aside: Sequence[int]) -> Fields:
        """What an epoch's line says about the members by split; `aside` are those set aside."""

    def list_predictions(self, judged: Mapping[str, Any]) -> dict[str, dict[str, np.ndarray]]:
        """What is kept of an epoch's predictions: arrays (M, …) by the folder that holds them."""


def create_run_trainer(run: Run, devices: Sequence[Any], products: Any, **together: Any) -> AnyTrainer:
    """The trainer of a run or of a group of one, of whatever task.

    Args:
      run: the first of those that are trained together.
      devices: where.
      products: see `Trainer`.
      together: what `Trainer` has to know of several runs.
    """
    members = {"numbers": run.member_numbers, **together}
    if run.task == REGRESSION:
        rows = _load_training_rows(run)
        return NumericTrainer(require_regression_config(run), rows, devices, **members)
    members = {"products": products, "targets": load_teacher_targets(run), **members}
    return Trainer(require_training_config(run), load_run_dataset(run), devices, **members)


def create_task_records(trainer: AnyTrainer) -> _TaskRecords:
    """What the runs of this trainer write down."""
    return _RegressionRecords(trainer.rows) if isinstance(trainer, NumericTrainer) else ClassificationRecords()


def describe_broken_network(trainer: AnyTrainer) -> str:
    """Why a very first loss is not a number."""
    return _BROKEN_NETWORK[type(trainer)]


def _load_training_rows(run: Run) -> TrainingRows:
    """The table of a regression, or of a group of one, as its trainer takes it.

    Raises:
      DataError: its files are damaged.
    """
    table, config = read_prepared_table(locate_table_folder(run)), require_regression_config(run)
    encoding, curve = table.encoding, table.encoding.build_curve_features()
    rows = {"validation": table.split.validation, "test": table.split.test}
    return TrainingRows(
        *table.select_part(table.split.train),
        judged={split: JudgedRows(table.features[own], table.targets[own]) for split, own in rows.items() if len(own)},
        curve=curve if len(curve) else None,
        folds=table.assign_folds(config.folds, config.split_seed) if config.folds else None,
        center=encoding.target_mean,
        scale=encoding.target_scale,
    )


class ClassificationRecords:
    """Of a run that classifies images: see `_TaskRecords`."""

    def summarize_steps(self, progress: Progress, last: int | None = None) -> Fields:
        means = {name: progress.select_last_steps(name, last).mean(-1, dtype=np.float64) for name in progress.metrics}
        aside = progress.diverged_members
        return {
            "train_loss": means["loss"],
            "train_accuracy": means["accuracy"],
            "ensemble_train_loss": _mean_remaining_loss(means["loss"], aside),
            "ensemble_train_nll": means["ensemble_nll"],
            "ensemble_train_accuracy": means["ensemble_accuracy"],
            **_list_members_aside(aside),
        }

    def summarize_epoch(self, judged: Mapping[str, Any], aside: Sequence[int]) -> Fields:
        fields: Fields = {}
        for split, evaluation in judged.items():
            fields |= compute_split_metrics(split, evaluation, aside)
        return fields | compute_member_disagreement(judged["test"], aside)

    def list_predictions(self, judged: Mapping[str, Any]) -> dict[str, dict[str, np.ndarray]]:
        return {
            PREDICTION_FOLDERS[split]: {"probabilities": evaluation.probabilities.astype(np.float32, copy=False)}
            for split, evaluation in judged.items()
        }


class _RegressionRecords:
    """Of a run that predicts numbers, in the unit of its targets: see `_TaskRecords`.

    Args:
      rows: of its table.
    """

    def __init__(self, rows: TrainingRows) -> None:
        self._rows = rows

    def summarize_steps(self, progress: Progress, last: int | None = None) -> Fields:
        loss, squared = (
            progress.select_last_steps(name, last).mean(-1, dtype=np.float64) for name in ("loss", "squared_error")
        )
        return {
            "train_loss": loss + np.log(self._rows.scale),
            "train_rmse": np.sqrt(squared) * self._rows.scale,
            **_list_members_aside(progress.diverged_members),
        }

    def summarize_epoch(self, judged: Mapping[str, Any], aside: Sequence[int]) -> Fields:
        fields: Fields = {}
        for split, evaluation in judged.items():
            left = np.setdiff1d(np.arange(len(evaluation.loss)), np.array(aside, np.intp))
            mixture = NormalMixture(evaluation.mean[left], evaluation.variance[left])
            own = compute_numeric_metrics(split, mixture, self._rows.judged[split].targets)
            fields |= {name: _pad_members(value, left, len(evaluation.loss)) for name, value in own.items()}
        return fields

    def list_predictions(self, judged: Mapping[str, Any]) -> dict[str, dict[str, np.ndarray]]:
        arrays = {
            PREDICTION_FOLDERS[split]: {"mean": evaluation.mean, "variance": evaluation.variance}
            for split, evaluation in judged.items()
        }
        test: NumericEvaluation = judged["test"]
        return arrays | ({CURVE: dict(zip(("mean", "variance"), test.curve, strict=True))} if test.curve else {})


def _list_members_aside(aside: Sequence[int]) -> Fields:
    return {"set_aside": list(aside)} if aside else {}


def _pad_members(value: Any, left: np.ndarray, members: int) -> Any:
    """A list of the members that remain, with None in the places of the others."""
    if not isinstance(value, list):
        return value
    padded: list[Any] = [None] * members
    for place, own in zip(left.tolist(), value, strict=True):
        padded[place] = own
    return padded


def _mean_remaining_loss(loss: np.ndarray, aside: Sequence[int]) -> np.float64:
    """The mean over members (M,) but for those that diverged; NaN where nobody is left."""
    left = np.delete(loss, list(aside))
    return left.mean() if len(left) else np.float64(np.nan)


def compute_split_metrics(split: str, evaluation: Evaluation, aside: Sequence[int] = ()) -> Fields:
    """What an epoch's line says of the "test" or the "validation" images.

    Args:
      split: which.
      evaluation: the members on them; NaN of those set aside.
      aside: the places of these.
    """
    return {
        f"{split}_loss": evaluation.loss,
        f"{split}_accuracy": evaluation.accuracy,
        f"ensemble_{split}_loss": _mean_remaining_loss(evaluation.loss, aside),
        f"ensemble_{split}_nll": evaluation.ensemble_nll,
        f"ensemble_{split}_accuracy": evaluation.ensemble_accuracy,
    }


def compute_member_disagreement(evaluation: Evaluation, aside: Sequence[int] = ()) -> Fields:
    """What an epoch's line says of how often members differ on the test images.

    Args:
      evaluation: the members on them.
      aside: the places of members set aside, who are left out; their metrics are NaN.
    """
    members = np.arange(len(evaluation.loss))
    there = np.setdiff1d(members, np.array(aside, np.intp))
    whole = len(there) == len(members)
    differ = disagreement.measure_disagreement(evaluation.probabilities[slice(None) if whole else there])
    each = np.full(len(members), np.nan)
    each[there] = differ.of_members
    return {"disagreement": differ.pairwise, "member_disagreement": each}
