"""At the end of a run with folds: one forward pass over the training images.

Each image goes to the members that left it out, after the epoch that the run is shown by. All of
it follows from parameters/, so that a run which was killed meanwhile does it when it is resumed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from ensemble.datasets.partition.folds import NO_FOLD, assign_folds, list_judging_members
from ensemble.jobs.folders import change_job_files
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.parameters import list_parameter_epochs, load_run_network, read_parameters
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.training_predictions import NO_VOTE, TRAINING_PREDICTIONS_FILE
from ensemble.storage.arrays.npz import write_arrays

_IMAGES_PER_CALL = 1024  # whose probabilities by every member are held at once
PROGRESS_MESSAGE = "The members judge the training images that they left out."


def save_fold_predictions(run: Run, stop: Callable[[], bool] = lambda: False) -> bool:
    """Have the members judge the training images that they left out, and write it down.

    Args:
      run: whose training is over.
      stop: asked between blocks of images.

    Returns:
      Whether it was done; False where `stop` said so before.

    Raises:
      NotPreparedError: the dataset no longer exists.
      RunError: the parameters cannot be read, or the folder cannot be written.
    """
    run = find_run(run.id)  # as it stands now: its best epoch, and who diverged
    epoch = select_default_epoch(run, list_parameter_epochs(run.path))
    judged = judge_training_images(run, epoch, stop)
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
    params, members = read_parameters(run.id, epoch), run.remaining_members(epoch)
    by_fold = [list_judging_members(members, fold, config.folds) for fold in range(config.folds)]
    # Of a fold whose members all diverged nobody can say anything.
    judged = [bool(places) for places in by_fold]
    numbers = np.flatnonzero((folds != NO_FOLD) & np.asarray(judged)[folds])
    averaged = np.empty((len(numbers), network.classes), np.float32)
    lowest = np.empty(len(numbers), np.float32)
    votes = np.full((len(numbers), max(map(len, by_fold))), NO_VOTE, np.int32)

    def select_members(places: list[int]) -> Any:
        return jax.tree.map(lambda leaf: np.asarray(leaf)[places], params)

    for fold, places in enumerate(by_fold):
        if not places:
            continue
        ask = ForwardPass(network, select_members(places), _IMAGES_PER_CALL)
        rows = np.flatnonzero(folds[numbers] == fold)
        for first in range(0, len(rows), _IMAGES_PER_CALL):
            here = rows[first : first + _IMAGES_PER_CALL]
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
