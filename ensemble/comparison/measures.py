"""What one run's ensemble reached at the epoch it is compared at, image by image.

Reckoned once for each version of a run's predictions, and cached on disk: reading 1.6 MB of
probabilities a run takes longer than all that is made of them.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.averaging import average, votes
from ensemble.analysis.quality.metrics import MAIN, Answers, Metric
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
      share: (N,), the share of the members that are right, in [0, 1].
      each: the ensemble's metrics that are means over the images, of each image, (N,), by name.
      whole: its metrics that are of all images at once, by name.
    """

    run_id: str
    epoch: int
    chosen: str
    images: str
    share: NDArray[np.float64]
    each: Mapping[str, NDArray[Any]]
    whole: Mapping[str, float]

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,), where the ensemble is right."""
        return self.each["accuracy"]

    @property
    def nll(self) -> NDArray[np.float64]:
        """(N,), of the averaged probabilities, in nats."""
        return self.each["nll"]

    @property
    def n(self) -> int:
        """N."""
        return len(self.share)

    def value(self, metric: Metric) -> float:
        """One of the ensemble's metrics, of all images."""
        found = self.whole.get(metric.name)
        return float(self.each[metric.name].mean()) if found is None else found


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
    names = " ".join(metric.name for metric in MAIN)
    made_from = f"{place} {epoch} {seen} {images} {names}"
    kept = cached("compared", made_from, lambda: _made(run_id, epoch))
    for values in kept.values():
        values.setflags(write=False)
    each = {metric.name: kept[metric.name] for metric in MAIN if metric.of_each}
    whole = {metric.name: float(kept[metric.name]) for metric in MAIN if metric.of_all}
    return Measures(run_id, epoch, chosen, images, kept["share"], each, whole)


def _made(run_id: str, epoch: int) -> Arrays:
    run = runs.find(run_id)
    probabilities, truth = runs.read_predictions(run_id, epoch), labels(run)
    answers = Answers.of(average(probabilities), truth)
    found = {"share": np.mean([votes(member) == truth for member in probabilities], axis=0)}
    for metric in MAIN:
        each = metric.of_each
        found[metric.name] = each(answers) if each else np.array(metric.measure(answers))
    return found
