"""A run's predictions, judged once for each version of their file and shared by every tab."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.inference.image_groups import Groups, select_groups
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import RunError
from ensemble.ui.shared import loaders

_LARGE_FILE_BYTES = 200_000_000  # bytes of a file: of larger ones fewer are kept


def load_test_predictions(run: runs.Run, epoch: int) -> EnsemblePredictions:
    """What the run's members said of the test images after `epoch`.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: the predictions are not there, or cannot be read.
    """
    path = run.path / "predictions" / f"epoch-{epoch:04d}.npz"
    file_version = loaders.get_file_version(path)
    if file_version[1] <= _LARGE_FILE_BYTES:
        return _load_cached_test_predictions(run.id, epoch, file_version, run)
    with st.spinner(f"Reading {file_version[1] / 1e9:.1f} GB of predictions …"):
        return _load_large_predictions(run.id, epoch, file_version, run)


def load_validation_predictions(run: runs.Run, epoch: int) -> EnsemblePredictions | None:
    """What the run's members said after `epoch` of the images held out; None where none are.

    Examples are in the order of `select_validation_indices`. What is chosen by them
    (a temperature, weights, a committee, a threshold) may be reported on the test images.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: the predictions are not there, or cannot be read.
    """
    if not run.config.validation:
        return None
    path = run.path / "validation" / f"epoch-{epoch:04d}.npz"
    return _load_cached_validation_predictions(run.id, epoch, loaders.get_file_version(path), run)


# At most half of 60,000 images: 10 members on a tenth of them take 5 MB.
@st.cache_resource(max_entries=4, show_spinner=False)
def _load_cached_validation_predictions(
    run_id: str, epoch: int, version: tuple[int, int], _run: runs.Run
) -> EnsemblePredictions:
    config = runs.require_training_config(_run)
    data = loaders.load_cached_dataset(config.dataset)
    held = select_validation_indices(config, data)
    return _evaluate_probabilities(
        runs.read_validation_predictions(run_id, epoch),
        data.train_labels[held],
        epoch,
        _run,
        select_groups(data.train_groups, held),
    )


# 10 members on 10,000 images take 9 MB, 64 members 31 MB.
@st.cache_resource(max_entries=6, show_spinner=False)
def _load_cached_test_predictions(
    run_id: str, epoch: int, version: tuple[int, int], _run: runs.Run
) -> EnsemblePredictions:
    return load_uncached_predictions(_run, epoch)


# Two, so that one can be compared with another; half as much again as their files.
@st.cache_resource(max_entries=2, show_spinner=False)
def _load_large_predictions(run_id: str, epoch: int, version: tuple[int, int], _run: runs.Run) -> EnsemblePredictions:
    return load_uncached_predictions(_run, epoch)


def load_uncached_predictions(run: runs.Run, epoch: int) -> EnsemblePredictions:
    """As `load_test_predictions`, read anew and not kept, for who keeps only what it draws."""
    test = loaders.load_run_test_set(run)
    return _evaluate_probabilities(runs.read_run_predictions(run.id, epoch), test.labels, epoch, run, test.groups)


def _evaluate_probabilities(
    probabilities: NDArray[np.float32],
    labels: NDArray[np.int32],
    epoch: int,
    run: runs.Run,
    groups: Groups | None = None,
) -> EnsemblePredictions:
    try:
        return evaluate_predictions(probabilities, labels, groups)
    except ValueError as error:
        raise RunError(
            f"The predictions of epoch {epoch} cannot be read: the file is damaged, or made with "
            f"another {run.data.title}. Choose another epoch."
        ) from error
