"""training_predictions.npz: what members say of the training images that they left out.

A run with folds has it: each image that is learnt from is judged by the members that never learnt
from it, after the epoch that the run is shown by. Whose they are follows from the members' numbers,
so that the file holds their average, their votes and how many they are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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


def has_training_predictions(run: Run) -> bool:
    """Whether the run's members have judged the training images that they left out."""
    config = run.training_config
    return bool(config and config.folds) and (run.path / TRAINING_PREDICTIONS_FILE).is_file()


def load_training_predictions(run: Run) -> TrainingPredictions:
    """What a run with folds says of its training images.

    Raises:
      RunError: it is not there, or cannot be read.
    """
    path, classes = run.path / TRAINING_PREDICTIONS_FILE, len(run.data.class_names)
    expected = {
        "epoch": ExpectedArray((), "int64"),
        "numbers": ExpectedArray(("n",), "int64"),
        "averaged": ExpectedArray(("n", classes), "float32"),
        "lowest": ExpectedArray(("n",), "float32"),
        "votes": ExpectedArray(("n", "j"), "int32"),
    }
    most = run.data.train_size * (4 * classes + 12 + 4 * run.config.members) + 8
    try:
        arrays = read_arrays(path, expected, most, need_checksum=True)
        predictions = TrainingPredictions(int(arrays.pop("epoch")), **arrays)
        _check_training_predictions(predictions, run)
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError(
            f"What the members of “{run.id}” say of its training images cannot be read from "
            f"{path.name} in its folder ({why}): look at its test images, or train it anew."
        ) from error
    return predictions


def _check_training_predictions(predictions: TrainingPredictions, run: Run) -> None:
    """Refuse what cannot be of this run.

    Raises:
      DamagedFileError: numbers that are none of its images', or probabilities that are none.
    """
    numbers, averaged = predictions.numbers, predictions.averaged
    if not len(numbers) or numbers[0] < 0 or numbers[-1] >= run.data.train_size:
        raise DamagedFileError("a number is none of its training images'")
    if (np.diff(numbers) <= 0).any():
        raise DamagedFileError("the numbers of its images do not rise")
    if not (averaged.min() >= 0 and averaged.max() <= 1 + _PROBABILITY_TOLERANCE):
        raise DamagedFileError("its probabilities are not all between 0 and 1")
    if not predictions.judges.all():
        raise DamagedFileError("an image is judged by nobody")
