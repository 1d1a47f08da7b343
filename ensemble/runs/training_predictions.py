"""training_predictions.npz: members' predictions of the training images or rows that they left out.

A run with folds has it: each image or row that is learnt from is judged by the members that never
learnt from it, after the epoch that the run is shown by. Whose they are follows from the members'
numbers, so that the file holds their average, their votes and how many they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.config import REGRESSION
from ensemble.errors import RunError
from ensemble.runs.store import Run
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays

TRAINING_PREDICTIONS_FILE = "training_predictions.npz"
_PROBABILITY_TOLERANCE = 1e-3
NO_VOTE = -1


@dataclass(frozen=True, eq=False)
class TrainingPredictions:
    """What is said of N training images by members that have not learnt from them.

    Attributes:
      epoch: after which epoch, from 1.
      numbers: int64 (N,), which of the training images, rising.
      averaged: float32 (N, C), the average of those members' probabilities.
      lowest: float32 (N,), the lowest probability that any of them gives the label.
      votes: int32 (N, J), their classes; `NO_VOTE` where an image has fewer than J of them.
    """

    epoch: int
    numbers: NDArray[np.int64]
    averaged: NDArray[np.float32]
    lowest: NDArray[np.float32]
    votes: NDArray[np.int32]

    @property
    def judges(self) -> NDArray[np.int64]:
        """(N,), how many members have not learnt from each."""
        judges: NDArray[np.int64] = (self.votes != NO_VOTE).sum(axis=1)
        return judges


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """Predictions of n training rows of a table by members that have not learned from them.

    Attributes:
      epoch: after which epoch, from 1.
      numbers: int64 (n,), which rows of the `PreparedTable`, rising.
      mean: float64 (n,), of the mixture of those members, in the target's unit.
      spread: float64 (n,), its standard deviation, in that unit.
      nll: float64 (n,), its negative log-density at the target, in nats.
      judges: int64 (n,), how many members have not learned from each.
    """

    epoch: int
    numbers: NDArray[np.int64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    nll: NDArray[np.float64]
    judges: NDArray[np.int64]


def has_training_predictions(run: Run) -> bool:
    """Whether the run's members have judged the training images or rows that they left out."""
    config = run.settings
    return bool(config and config.folds) and (run.path / TRAINING_PREDICTIONS_FILE).is_file()


def explain_missing_predictions(run: Run) -> str:
    """Explain why the training images or rows of a run have no predictions, and what to do about it."""
    noun, judged = ("row", "targets") if run.task == REGRESSION else ("image", "labels")
    if run.settings is None or not run.settings.folds:
        return (
            f"Every member has learned from every training {noun}. To have their {judged} judged by "
            "members that have not, launch a run with folds."
        )
    if run.active:
        return f"The {judged} of its training {noun}s are judged when training ends."
    if run.can_resume:
        return f"The {judged} of its training {noun}s are judged when training ends: resume it."
    return (
        f"The predictions of its training {noun}s are missing from its folder "
        f"({TRAINING_PREDICTIONS_FILE}): train it again."
    )


def load_training_predictions(run: Run) -> TrainingPredictions:
    """What a run with folds says of its training images.

    Raises:
      RunError: it is not there, or cannot be read.
    """
    classes = len(run.data.class_names)
    expected = {
        "epoch": ExpectedArray((), "int64"),
        "numbers": ExpectedArray(("n",), "int64"),
        "averaged": ExpectedArray(("n", classes), "float32"),
        "lowest": ExpectedArray(("n",), "float32"),
        "votes": ExpectedArray(("n", "j"), "int32"),
    }
    most = run.data.train_size * (4 * classes + 12 + 4 * run.config.members) + 8
    with _explain_unreadable(run, "image"):
        arrays = read_arrays(run.path / TRAINING_PREDICTIONS_FILE, expected, most, need_checksum=True)
        predictions = TrainingPredictions(int(arrays.pop("epoch")), **arrays)
        averaged = predictions.averaged
        _check_judged_numbers(predictions, np.arange(run.data.train_size))
        if not (averaged.min() >= 0 and averaged.max() <= 1 + _PROBABILITY_TOLERANCE):
            raise DamagedFileError("its probabilities are not all between 0 and 1")
    return predictions


def load_row_predictions(run: Run, train: NDArray[np.int64]) -> RowPredictions:
    """Read the predictions of a run with folds for its training rows.

    Args:
      run: a regression.
      train: the numbers of its training rows, rising.

    Raises:
      RunError: it is not there, or cannot be read.
    """
    names = {"numbers": "int64", "mean": "float64", "spread": "float64", "nll": "float64", "judges": "int64"}
    expected = {name: ExpectedArray(("n",), kind) for name, kind in names.items()}
    expected["epoch"] = ExpectedArray((), "int64")
    with _explain_unreadable(run, "row"):
        arrays = read_arrays(run.path / TRAINING_PREDICTIONS_FILE, expected, 40 * len(train) + 8, need_checksum=True)
        predictions = RowPredictions(int(arrays.pop("epoch")), **arrays)
        _check_judged_numbers(predictions, train)
        finite = np.isfinite([predictions.mean, predictions.spread, predictions.nll]).all()
        if not (finite and (predictions.spread > 0).all()):
            raise DamagedFileError("a prediction is not a finite number, or has no spread")
    return predictions


@contextmanager
def _explain_unreadable(run: Run, noun: str) -> Iterator[None]:
    try:
        yield
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError(
            f"The predictions of the training {noun}s of “{run.id}” cannot be read from "
            f"{TRAINING_PREDICTIONS_FILE} in its folder ({why}): look at its test {noun}s, or train it again."
        ) from error


def _check_judged_numbers(predictions: TrainingPredictions | RowPredictions, train: NDArray[np.int64]) -> None:
    """Check that the numbers are training examples that members predict; DamagedFileError if not."""
    numbers = predictions.numbers
    if not len(numbers) or not np.isin(numbers, train).all():
        raise DamagedFileError("a number is not one of its training examples")
    if (np.diff(numbers) <= 0).any():
        raise DamagedFileError("the numbers of its examples do not rise")
    if not (predictions.judges > 0).all():
        raise DamagedFileError("an example has no predictions")
