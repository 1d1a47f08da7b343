"""The calibration error of many runs: counted once, of the epoch that each is shown by.

No status and no history has it. A thousand runs are some gigabytes to read: a drawing of the page
reads for a moment, the next goes on, and the disk keeps what was found.
"""

import functools
import time
from collections.abc import Sequence

import numpy as np

from ensemble import runs
from ensemble.analysis.quality.averaging import average_probabilities, prediction_confidence
from ensemble.analysis.quality.calibration import expected_calibration_error
from ensemble.errors import EnsembleError
from ensemble.runs.epoch_choice import read_reported_metrics
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.storage.arrays import disk_cache
from ensemble.storage.folder_index import file_version
from ensemble.ui.shared import loaders

_READ_BUDGET_S = 0.2  # that a drawing may take for it
_MAX_CACHED_ERRORS = 4096  # that are remembered
FileVersion = tuple[int, int, int]

_error_cache: dict[tuple[str, FileVersion, str], float | None] = {}


def load_ece_of_runs(listed_runs: Sequence[runs.Run], seconds: float = _READ_BUDGET_S) -> tuple[dict[str, float], int]:
    """The ECE in [0, 1] of those of which it is known by now, by id; and how many are to come.

    Args:
      seconds: how long it may read for; one at least is read.
    """
    end, errors, left, read = time.monotonic() + seconds, {}, 0, 0
    for run in listed_runs:
        if run.entry is None or (at := _build_ece_cache_key(run)) is None:
            continue
        if at not in _error_cache:
            if read and time.monotonic() > end:
                left += 1
                continue
            if len(_error_cache) >= _MAX_CACHED_ERRORS:
                _error_cache.clear()
            _error_cache[at] = load_run_ece(run, at)
            read += 1
        if (error := _error_cache[at]) is not None:
            errors[run.id] = error
    return errors, left


def _build_ece_cache_key(run: runs.Run) -> tuple[str, FileVersion, str] | None:
    """What its ECE depends on: the predictions it is shown by, and the labels; None without any."""
    version = file_version(str(locate_epoch_file(run.path, "predictions", read_reported_metrics(run).epoch)))
    return version and (str(run.path), version, run.data.fingerprint or run.config.dataset)


def load_run_ece(run: runs.Run, at: tuple[str, FileVersion, str]) -> float | None:
    """The run's ECE; None where its predictions or its labels are no use."""
    try:
        count = functools.partial(_compute_run_ece, run)
        return float(disk_cache.load_or_compute_arrays("ece", f"{at}", count)["ece"][()])
    except (EnsembleError, OSError, ValueError):  # Inspect says what is wrong.
        return None


def _compute_run_ece(run: runs.Run) -> dict[str, np.ndarray]:
    labels = loaders.load_run_test_set(run).labels
    averaged = average_probabilities(runs.read_run_predictions(run.id, read_reported_metrics(run).epoch))
    right = averaged.argmax(axis=-1) == labels
    return {"ece": np.array(expected_calibration_error(prediction_confidence(averaged), right))}
