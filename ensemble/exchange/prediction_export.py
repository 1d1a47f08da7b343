"""A run's predictions as one .npz, in the form that is read here: any tool opens it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.numeric.numeric_ensemble import get_ensemble_arrays
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.config import REGRESSION
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import check_free_memory
from ensemble.exchange.checks.names import generate_default_names
from ensemble.exchange.files.npz_predictions import COLUMN_PREFIX
from ensemble.exchange.run_import import find_run_split
from ensemble.runs.numeric.numeric_predictions import (
    read_numeric_predictions,
    read_numeric_targets,
    select_numeric_epoch,
)
from ensemble.runs.store import list_regression_member_names
from ensemble.storage.arrays.npz import Arrays, write_arrays
from ensemble.storage.disk_errors import describe_os_error, describe_remedy


@dataclass(frozen=True)
class ExportedPredictions:
    """What was written, and where.

    Attributes:
      path: the file.
      epochs: of the run, whose predictions are in it.
      shape: of `probabilities`: (M, N, C), or (E, M, N, C) of several epochs; of a regression's predictions (M, …, N).
      images: whether the images are in it.
    """

    path: Path
    epochs: tuple[int, ...]
    shape: tuple[int, ...]
    images: bool


def export_run(
    run_id: str,
    path: Path,
    *,
    epoch: int | None = None,
    all_epochs: bool = False,
    images: bool = True,
    replace: bool = False,
) -> ExportedPredictions:
    """Write a run's test predictions, their labels and names.

    Args:
      run_id: whose.
      path: the file; its folder exists.
      epoch: one whose predictions are kept; None is the last.
      all_epochs: every epoch's instead of one's, on an axis before the members.
      images: the test images too, where the run has them.
      replace: whether a file of that name may go.

    Raises:
      UnknownRunError: there is no such run.
      RunError: it has no predictions, or none of that epoch, or they cannot be read.
      DataError: its dataset is not there.
      PredictionsError: the file cannot be written, or is there already.
    """
    run = runs.find_run(run_id)
    if run.task == REGRESSION:
        if all_epochs:
            raise PredictionsError("--all-epochs is for classes: a file of numbers has one epoch. Name it by --epoch.")
        epoch = select_numeric_epoch(run, epoch)
    epochs = (epoch,) if run.task == REGRESSION and epoch else _select_export_epochs(run, epoch, all_epochs)
    if not replace and path.exists():
        raise PredictionsError(f"{path} already exists: choose another name, or use --force to replace it.")
    if run.task == REGRESSION:
        content = _collect_numeric_arrays(run, epochs[0])
    else:
        content = collect_export_arrays(run, epochs, all_epochs, images)
    try:
        write_arrays(path, content)
    except OSError as error:
        raise PredictionsError(
            f"{path} cannot be written ({describe_os_error(error)}): {describe_remedy(error)}, or name another file."
        ) from error
    return ExportedPredictions(path, epochs, next(iter(content.values())).shape, "images" in content)


def _collect_numeric_arrays(run: runs.Run, epoch: int) -> Arrays:
    """What a regression predicts after an epoch, by the names that `read_numeric_file` knows."""
    predicted, truth = read_numeric_predictions(run, epoch), read_numeric_targets(run)
    arrays: dict[str, NDArray[Any]] = {**get_ensemble_arrays(predicted), "targets": truth.values}
    if isinstance(predicted, QuantileEnsemble):
        arrays["levels"] = predicted.levels
    arrays["member_names"] = np.array(list_regression_member_names(run, epoch))
    return arrays | ({"groups": truth.groups} if truth.groups is not None else {})


def collect_export_arrays(run: runs.Run, epochs: tuple[int, ...], stacked: bool, images: bool) -> Arrays:
    """What stands in the file, by name.

    Args:
      run: the run.
      epochs: at least one, whose predictions are kept.
      stacked: whether `probabilities` has an axis of epochs.
      images: whether the images are to be in it.

    Raises:
      RunError, DataError: see `export_run`.
    """
    test = runs.load_test_set(run)
    probabilities = _stack_epoch_probabilities(run, epochs) if stacked else runs.read_run_predictions(run.id, epochs[0])
    every = run.member_names or generate_default_names(run.config.members, "member")
    arrays: dict[str, NDArray[Any]] = {
        "probabilities": probabilities,
        "labels": np.asarray(test.labels, np.int32),
        "class_names": np.array(test.class_names),
        "member_names": np.array([every[m] for m in run.remaining_members(max(epochs))]),
        "split": np.array(find_run_split(run)),
        "noun": np.array(run.data.noun),
    }
    if test.group_column is not None:
        arrays["groups"] = test.group_column
    if test.details.names:
        arrays["example_names"] = np.array(test.details.names)
    for column, values in test.details.columns.items():
        arrays[f"{COLUMN_PREFIX}{column.replace('/', '_')}"] = np.array(values)
    if images and test.images is not None:
        arrays["images"] = test.images
    return arrays


def _select_export_epochs(run: runs.Run, epoch: int | None, all_epochs: bool) -> tuple[int, ...]:
    kept = runs.list_prediction_epochs(run.id)
    if not kept:
        runs.read_run_predictions(run.id, epoch or 1)  # which says that there are none
    if all_epochs:
        return tuple(kept)
    if epoch is None:
        return (runs.select_default_epoch(run, kept),)
    return (epoch,)  # where it is not kept, reading says so


def _stack_epoch_probabilities(run: runs.Run, epochs: tuple[int, ...]) -> NDArray[np.float32]:
    """The probabilities of these epochs, float32 (E, M, N, C), of the members that are in all."""
    first = runs.read_run_predictions(run.id, epochs[0])
    check_free_memory(first.nbytes * (len(epochs) + 1))
    members = run.remaining_members(max(epochs))
    probabilities = np.empty((len(epochs), len(members), *first.shape[1:]), np.float32)
    for place, epoch in enumerate(epochs):
        epoch_probabilities = first if place == 0 else runs.read_run_predictions(run.id, epoch)
        there = run.remaining_members(epoch)
        for row, member in enumerate(members):
            probabilities[place, row] = epoch_probabilities[there.index(member)]
    return probabilities
