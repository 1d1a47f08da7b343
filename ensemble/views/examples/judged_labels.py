"""What a run's members say of labels: those of the test images, or of what they left out."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ensemble import runs
from ensemble.analysis.inference.fold_shares import FoldShares, estimate_fold_shares
from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.label_errors import LabelErrors, find_label_errors
from ensemble.datasets.partition.folds import assign_folds
from ensemble.errors import RunError
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.training_predictions import (
    TRAINING_PREDICTIONS_FILE,
    explain_missing_predictions,
    has_training_predictions,
    load_training_predictions,
)
from ensemble.storage.folder_index import file_version
from ensemble.views.evaluated_epoch import EvaluatedEpoch, evaluate_epoch

_MANY_IMAGES = 10_000  # training images, of which judging takes a second or more
Split = Literal["test", "training"]


@dataclass(frozen=True, eq=False)
class JudgedLabels:
    """Labels of N images, judged by members that have not learnt from these.

    Attributes:
      split: of which images they are.
      epoch: after which epoch, from 1.
      numbers: (N,), the images' numbers among the run's test or training images, rising.
      predictions: of the test images by all members; of training images as if the average over
        those that have not learnt from an image were a single member.
      judges: (N,), by how many members each is judged.
      errors: which labels are doubtful, by place from 0 to N - 1.
      fold_shares: of training images, the share of wrong labels by each fold alone.
    """

    split: Split
    epoch: int
    numbers: Ints
    predictions: EnsemblePredictions
    judges: Ints
    errors: LabelErrors
    fold_shares: FoldShares | None = None

    @property
    def averaged(self) -> Floats:
        """(N, C), the averaged probabilities."""
        return self.predictions.averaged

    @property
    def labels(self) -> Ints:
        """(N,), the labels as they are."""
        return self.predictions.labels

    def find_place(self, number: int) -> int:
        return int(np.searchsorted(self.numbers, number))


def judge_run_labels(run: runs.Run, split: Split, epoch: int | None = None) -> JudgedLabels:
    """The labels of a run's images, judged; see `judge_labels`.

    Args:
      split: the "test" or the "training" images.
      epoch: of the test images, after which epoch, from 1; by default that of
        `runs.select_default_epoch`, of which those of training images always are.

    Raises:
      NotPreparedError: its dataset is not on this machine any more.
      RunError: it has no predictions of these images, or they cannot be read.
    """
    return judge_labels(evaluate_epoch(run, epoch), split)


def judge_labels(epoch: EvaluatedEpoch, split: Split) -> JudgedLabels:
    """The labels of an epoch's test images, or of the training images of its run.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: the run has not judged its training images, or what it said cannot be read.
    """
    if split == "training":
        run = epoch.run
        if not has_training_predictions(run):
            raise RunError(explain_missing_predictions(run))
        version = file_version(str(run.path / TRAINING_PREDICTIONS_FILE))
        wait = "Judging the labels of training images …" if run.data.train_size > _MANY_IMAGES else ""
        return epoch.measure(_judge_training_labels, run.id, version, wait=wait)
    return JudgedLabels(
        split="test",
        epoch=epoch.epoch,
        numbers=np.arange(epoch.n),
        predictions=epoch.predictions,
        judges=np.full(epoch.n, epoch.members),
        errors=epoch.measure(find_label_errors),
    )


def _judge_training_labels(_predictions: EnsemblePredictions, run_id: str, _version: object) -> JudgedLabels:
    """The labels of a run's training images, by members that have not learnt from them.

    As what `EvaluatedEpoch.measure` computes once: of the predictions of the test images it needs
    nothing, and the version of the file tells when to compute anew.

    Raises:
      NotPreparedError: its dataset is not on this machine any more.
      RunError: what it said of them cannot be read.
    """
    run = runs.find_run(run_id)
    stored, dataset = load_training_predictions(run), load_run_dataset(run)
    labels = dataset.train_labels[stored.numbers].astype(np.int64)
    predictions = evaluate_predictions(
        stored.averaged[None], labels, select_groups(dataset.train_groups, stored.numbers)
    )
    errors = replace(
        find_label_errors(predictions), lowest=stored.lowest, agreeing=(stored.votes == labels[:, None]).sum(axis=1)
    )
    folds = assign_folds(runs.require_training_config(run), dataset)[stored.numbers]
    return JudgedLabels(
        split="training",
        epoch=stored.epoch,
        numbers=stored.numbers,
        predictions=predictions,
        judges=stored.judges,
        errors=errors,
        fold_shares=estimate_fold_shares(predictions, folds),
    )
