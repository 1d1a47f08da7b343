"""The calibration error of many runs: counted once from what is kept of their last epoch.

No status and no history has it. A thousand runs are some gigabytes to read: a drawing of the page
reads for a moment, the next goes on, and the disk keeps what was found.
"""

import functools
import time
from collections.abc import Sequence

import numpy as np

from ensemble import runs
from ensemble.analysis.quality.averaging import average, confidence
from ensemble.analysis.quality.calibration import expected_error
from ensemble.errors import EnsembleError
from ensemble.runs.epoch_files import epoch_file
from ensemble.storage.arrays import disk_cache
from ensemble.storage.folder_index import version
from ensemble.ui.shared import loaders

SECONDS = 0.2  # that a drawing may take for it
MOST = 4096  # that are remembered
Version = tuple[int, int, int]

_found: dict[tuple[str, Version, str], float | None] = {}


def of_runs(shown: Sequence[runs.Run], seconds: float = SECONDS) -> tuple[dict[str, float], int]:
    """The ECE in [0, 1] of those of which it is known by now, by id; and how many are to come.

    Args:
      shown: the runs, those that are wanted first before others.
      seconds: how long it may read for; one at least is read.
    """
    end, known, left, read = time.monotonic() + seconds, {}, 0, 0
    for run in shown:
        if (at := place(run)) is None:
            continue
        if at not in _found:
            if read and time.monotonic() > end:
                left += 1
                continue
            if len(_found) >= MOST:
                _found.clear()
            _found[at] = of(run, at)
            read += 1
        if (error := _found[at]) is not None:
            known[run.id] = error
    return known, left


def place(run: runs.Run) -> tuple[str, Version, str] | None:
    """What its ECE depends on: the file of its last epoch, and the labels; None without one."""
    seen = version(str(epoch_file(run.path, "predictions", run.status.epoch)))
    return seen and (str(run.path), seen, run.data.fingerprint or run.config.dataset)


def of(run: runs.Run, at: tuple[str, Version, str]) -> float | None:
    """The ECE of the run's last epoch; None where its predictions or its labels are no use."""
    try:
        count = functools.partial(counted, run)
        return float(disk_cache.cached("ece", f"{at}", count)["ece"][()])
    except (EnsembleError, OSError, ValueError):  # Inspect says what is wrong.
        return None


def counted(run: runs.Run) -> dict[str, np.ndarray]:
    """The ECE from the predictions themselves."""
    labels = loaders.test_set(run).labels
    averaged = average(runs.read_predictions(run.id, run.status.epoch))
    right = averaged.argmax(axis=-1) == labels
    return {"ece": np.array(expected_error(confidence(averaged), right))}
