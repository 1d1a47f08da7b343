"""At the end of a run with folds: one forward pass over the training images, or the rows of its table.

Each image or row goes to the members that left it out, after the epoch that the run is shown by. All
of it follows from parameters/, so that a run which was killed meanwhile does it when it is resumed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ensemble.analysis.quality.averaging import Ints, average_probabilities, most_likely_classes
from ensemble.config import REGRESSION
from ensemble.datasets.partition.folds import NO_FOLD, assign_folds, list_judging_members
from ensemble.jobs.folders import change_job_files
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.numeric.numeric_answers import load_row_predictor
from ensemble.runs.parameters import list_parameter_epochs, load_run_network, read_parameters
from ensemble.runs.store import Run, find_run, require_regression_config, require_training_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.training_predictions import NO_VOTE, TRAINING_PREDICTIONS_FILE
from ensemble.storage.arrays.npz import write_arrays
from ensemble.tables.prepared_table import read_prepared_table

_EXAMPLES_PER_CALL = 1024  # examples that members predict at once
PROGRESS_MESSAGE = "The members judge the training examples that they left out."


def save_fold_predictions(run: Run, stop: Callable[[], bool] = lambda: False) -> bool:
    """Have the members judge the training examples that they left out, and write it down.

    Args:
      run: whose training is over.
      stop: asked between blocks of examples.

    Returns:
      Whether it was done; False where `stop` said so before.

    Raises:
      NotPreparedError: the dataset no longer exists.
      DataError: the table cannot be read.
      RunError: the parameters cannot be read, or the folder cannot be written.
    """
    run = find_run(run.id)  # as it stands now: its best epoch, and who diverged
    epoch = select_default_epoch(run, list_parameter_epochs(run.path))
    judge = _judge_training_rows if run.task == REGRESSION else judge_training_images
    judged = judge(run, epoch, stop)
    if judged is None:
        return False
    with change_job_files(run.path, action=None):
        write_arrays(run.path / TRAINING_PREDICTIONS_FILE, judged)
    return True


def judge_training_images(run: Run, epoch: int, stop: Callable[[], bool]) -> dict[str, np.ndarray] | None:
    """The arrays of `TrainingPredictions` by name; None where `stop` said so before the end."""
    import jax

    from ensemble.engine import ForwardPass

    config, dataset = require_training_config(run), load_run_dataset(run)
    folds, network = assign_folds(config, dataset), load_run_network(run)
    params = read_parameters(run.id, epoch)
    by_fold, numbers = _find_judges(run.remaining_members(epoch), folds, config.folds)
    averaged = np.empty((len(numbers), network.classes), np.float32)
    lowest = np.empty(len(numbers), np.float32)
    votes = np.full((len(numbers), max(map(len, by_fold))), NO_VOTE, np.int32)

    def select_members(places: list[int]) -> Any:
        return jax.tree.map(lambda leaf: np.asarray(leaf)[places], params)

    for fold, places in enumerate(by_fold):
        if not places:
            continue
        ask = ForwardPass(network, select_members(places), _EXAMPLES_PER_CALL)
        rows = np.flatnonzero(folds[numbers] == fold)
        for first in range(0, len(rows), _EXAMPLES_PER_CALL):
            here = rows[first : first + _EXAMPLES_PER_CALL]
            images = dataset.train_images[numbers[here]]
            if stop() or (probabilities := ask(images, lambda _: stop())) is None:
                return None
            labels = dataset.train_labels[numbers[here]]
            averaged[here] = average_probabilities(probabilities)
            lowest[here] = probabilities[:, np.arange(len(here)), labels].min(axis=0)
            votes[here, : len(places)] = most_likely_classes(probabilities).T
    return {
        "epoch": np.array(epoch, np.int64),
        "numbers": numbers,
        "averaged": averaged,
        "lowest": lowest,
        "votes": votes,
    }


def _judge_training_rows(run: Run, epoch: int, stop: Callable[[], bool]) -> dict[str, np.ndarray] | None:
    """The arrays of `RowPredictions` by name; None where `stop` said so before the end."""
    config, table = require_regression_config(run), read_prepared_table(run.path)
    folds = table.assign_folds(config.folds, config.split_seed)
    by_fold, judged = _find_judges(run.remaining_members(epoch), folds, config.folds)
    folds, numbers = folds[judged], table.split.train[judged]
    predict = load_row_predictor(run, epoch, table.encoding)
    mean, spread, nll = np.empty((3, len(numbers)))
    # Blocks of one size, so that few programs are compiled.
    block = np.zeros((min(_EXAMPLES_PER_CALL, np.bincount(folds).max()), table.features.shape[1]), np.float32)
    for fold, places in enumerate(by_fold):
        rows = np.flatnonzero(folds == fold)
        for first in range(0, len(rows), len(block)):
            if stop():
                return None
            here = rows[first : first + len(block)]
            block[: len(here)] = table.features[numbers[here]]
            mixture = predict(block, places).select_examples(np.arange(len(here)))
            mean[here], spread[here] = mixture.compute_mean(), mixture.compute_spread()
            nll[here] = mixture.compute_nll(table.targets[numbers[here]])
    judges = np.array(list(map(len, by_fold)), np.int64)[folds]
    epochs = np.array(epoch, np.int64)
    return {"epoch": epochs, "numbers": numbers, "mean": mean, "spread": spread, "nll": nll, "judges": judges}


def _find_judges(members: Sequence[int], folds: Ints, count: int) -> tuple[list[list[int]], Ints]:
    """Find the places of the members that judge each fold, and the examples that have such members.

    Args:
      members: those that remain.
      folds: (N,), of each example.
      count: K.
    """
    by_fold = [list_judging_members(members, fold, count) for fold in range(count)]
    # A fold whose members all diverged has no predictions.
    judged = [bool(places) for places in by_fold]
    return by_fold, np.flatnonzero((folds != NO_FOLD) & np.asarray(judged)[folds])
