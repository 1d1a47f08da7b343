"""What one run's ensemble reached at the epoch it is compared at, image by image.

Reckoned once for each version of a run's predictions, and cached on disk: reading 1.6 MB of
probabilities a run takes longer than all that is made of them.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.averaging import average, confidence, votes
from ensemble.analysis.quality.calibration import expected_error
from ensemble.analysis.quality.scores import brier_score, log_loss
from ensemble.comparison.images import fingerprint, labels
from ensemble.errors import RunError
from ensemble.runs.epoch_files import epoch_file
from ensemble.runs.store import Run
from ensemble.storage.arrays.disk_cache import cached
from ensemble.storage.arrays.npz import Arrays
from ensemble.storage.folder_index import version

VALIDATION, LAST = "validation", "last"


@dataclass(frozen=True, eq=False)
class Measures:
    """A run's ensemble on its N test images. All arrays are read-only; equal is the same object.

    Attributes:
      run_id: the run.
      epoch: after which it is.
      chosen: "validation" where that is the epoch with the ensemble's lowest validation NLL,
        "last" where it is the last one with predictions: never the best on the test images.
      images: the fingerprint of the test images.
      right: bool (N,), where the ensemble is right.
      share: (N,), the share of the members that are right, in [0, 1].
      nll: (N,), of the averaged probabilities, in nats.
      brier: (N,), in [0, 2].
      ece: the expected calibration error over 15 bins, in [0, 1].
    """

    run_id: str
    epoch: int
    chosen: str
    images: str
    right: NDArray[np.bool_]
    share: NDArray[np.float64]
    nll: NDArray[np.float64]
    brier: NDArray[np.float64]
    ece: float

    @property
    def n(self) -> int:
        """N."""
        return len(self.right)


def compared_epoch(run: Run) -> tuple[int, str]:
    """The epoch that a run is compared at, and how it was chosen: "validation" or "last".

    Raises:
      RunError: the run has no predictions.
    """
    kept = runs.prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run “{run.name}” is {run.state} and has no predictions yet.")
    if run.status.best_on == "validation" and run.status.best_epoch in kept:
        return int(run.status.best_epoch or 0), VALIDATION
    return kept[-1], LAST


def measures(run: Run) -> Measures:
    """What the run reached at `compared_epoch`: the same object until its files change.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: there are no predictions, or they cannot be read.
    """
    epoch, chosen = compared_epoch(run)
    seen = version(str(epoch_file(run.path, "predictions", epoch)))
    return _measured(run.id, str(run.path), epoch, chosen, seen, fingerprint(run))


@functools.lru_cache(maxsize=64)  # of 10,000 images some 250 kB each
def _measured(run_id: str, place: str, epoch: int, chosen: str, seen: Any, images: str) -> Measures:
    made_from = f"{place} {epoch} {seen} {images}"
    kept = cached("compared", made_from, lambda: _made(run_id, epoch))
    for values in kept.values():
        values.setflags(write=False)
    arrays: dict[str, Any] = {name: kept[name] for name in ("right", "share", "nll", "brier")}
    return Measures(run_id, epoch, chosen, images, ece=float(kept["ece"]), **arrays)


def _made(run_id: str, epoch: int) -> Arrays:
    run = runs.find(run_id)
    probabilities, truth = runs.read_predictions(run_id, epoch), labels(run)
    averaged = average(probabilities)
    right = votes(averaged) == truth
    share = np.mean([votes(member) == truth for member in probabilities], axis=0)
    return {
        "right": right, "share": share, "nll": log_loss(averaged, truth),
        "brier": brier_score(averaged, truth),
        "ece": np.array(expected_error(confidence(averaged), right)),
    }  # fmt: skip
