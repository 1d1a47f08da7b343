"""history.jsonl, predictions/ and validation/: what a run has to show, as it goes.

A line of history is one JSON object; accuracies in [0, 1], losses in nats, a number that
is not finite stands as null. Lines of `"kind": "steps"` are means over the steps since
the line before; lines of `"kind": "epoch"` close an epoch with the whole test set, and with the
training images that the run holds out to choose by, where it does.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ensemble.datasets.partition.split import count_holdout_images
from ensemble.errors import RunError
from ensemble.jobs.folders import find_run_folder
from ensemble.runs.epoch_files import (
    build_damaged_epoch_error,
    locate_epoch_file,
    read_epoch_arrays,
    write_epoch_arrays,
)
from ensemble.runs.store import Run, find_run
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.records.json_lines import Line, iterate_lines_from_end, read_lines
from ensemble.storage.records.jsonl_tail import JsonlTail

EPOCH_FILE_PATTERN = re.compile(r"epoch-(\d+)\.npz")
# Where an epoch's probabilities on each set of images are kept, in the run's folder.
PREDICTION_FOLDERS = {"test": "predictions", "validation": "validation"}
PROBABILITY_TOLERANCE = 1e-3  # A softmax in few bits may round to a little more than 1.


def read_history(run_id: str) -> list[Line]:
    """All whole lines of a run's history; one cut short by a kill is left out."""
    return read_lines(find_run_folder(run_id) / "history.jsonl")


def iterate_history_from_end(run_id: str) -> Iterator[Line]:
    """Iterate over the lines of a run's history, the last first, reading only as much as is asked for."""
    return iterate_lines_from_end(find_run_folder(run_id) / "history.jsonl")


def read_thinned_history(run_id: str) -> list[Line]:
    """As `read_history`, of a long one only so many lines of steps as curves need.

    All that close an epoch are there, and the last: see `LineThinner`.
    """
    return JsonlTail(find_run_folder(run_id) / "history.jsonl", thinned=True).read_lines()


def write_predictions(folder: Path, epoch: int, probabilities: np.ndarray, what: str = "predictions") -> None:
    """Keep an epoch's probabilities (M, N, C) on the test images, or on those of "validation".

    NaN of members that diverged.
    """
    write_epoch_arrays(folder, what, epoch, {"probabilities": probabilities.astype(np.float32, copy=False)})


def drop_predictions(folder: Path, after: int, what: str = "predictions") -> None:
    """Delete the predictions, or those of "validation", of every epoch after this one."""
    for epoch in list_epoch_files(folder, what):
        if epoch > after:
            # Of a group's, whoever merges them may have been first.
            locate_epoch_file(folder, what, epoch).unlink(missing_ok=True)


def list_prediction_epochs(run_id: str) -> list[int]:
    """The epochs, from 1, whose test probabilities are kept, in order."""
    return list_epoch_files(find_run_folder(run_id), "predictions")


def read_run_predictions(run_id: str, epoch: int) -> np.ndarray:
    """An epoch's test probabilities, float32 (M, N, C), M as many as `Run.remaining_members` has.

    Raises:
      UnknownRunError: there is no such run.
      RunError: that epoch's are not there, cannot be read, or are no probabilities of this run's
        members on its dataset.
    """
    run = find_run(run_id)
    shape = (run.config.members, run.data.test_size, len(run.data.class_names))
    return _read_probabilities(run, "predictions", epoch, shape)


def read_validation_predictions(run_id: str, epoch: int) -> np.ndarray:
    """Probabilities on the images held out, float32 (M, V, C); M as `read_run_predictions`.

    Which images these are, `select_validation_indices` says: they are in that order.

    Raises:
      UnknownRunError: there is no such run.
      RunError: the run holds none out, or as `read_run_predictions`.
    """
    run = find_run(run_id)
    if not run.config.validation:
        raise RunError(f"The run “{run_id}” holds out no training images: launch one with validation above 0.")
    size = count_holdout_images(run.data.splittable_size, run.config.validation)
    shape = (run.config.members, size, len(run.data.class_names))
    return _read_probabilities(run, "validation", epoch, shape)


def _read_probabilities(run: Run, what: str, epoch: int, shape: tuple[int, ...]) -> np.ndarray:
    probabilities = read_epoch_arrays(run.path, what, epoch, {"probabilities": ExpectedArray(shape)})["probabilities"]
    if len(members := run.remaining_members(epoch)) < len(probabilities):  # of the others they are not numbers
        probabilities = probabilities[list(members)]
    if not (
        len(probabilities) and probabilities.min() >= 0 and probabilities.max() <= 1 + PROBABILITY_TOLERANCE
    ):  # so that NaN is refused too
        why = "its probabilities are not all between 0 and 1"
        raise build_damaged_epoch_error(run.path, what, epoch, why)
    return probabilities


def list_epoch_files(folder: Path, what: str) -> list[int]:
    """The epochs whose "predictions", "parameters" and so on lie in a run's folder, in order."""
    names = (EPOCH_FILE_PATTERN.fullmatch(path.name) for path in folder.glob(f"{what}/epoch-*.npz"))
    return sorted(int(match[1]) for match in names if match)
