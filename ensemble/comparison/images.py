"""Which test images a run is judged on: two runs can be compared on the same ones alone."""

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.errors import EnsembleError
from ensemble.runs.store import Run
from ensemble.runs.test_set import LABELS_FILE
from ensemble.storage.folder_index import version
from ensemble.storage.folders import data_folder

MOST = 32  # test sets, of which the labels are kept

Labels = NDArray[np.int32]
_known: dict[tuple[object, ...], tuple[str, Labels]] = {}


def fingerprint(run: Run) -> str:
    """A word that is the same for runs on the same labels in the same order.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it was imported, and what it brought cannot be read.
    """
    return _of(run)[0]


def labels(run: Run) -> Labels:
    """(N,), what the run's test images are; the same array for every run on them.

    Raises:
      NotPreparedError, RunError: as `fingerprint`.
    """
    return _of(run)[1]


def same_images(one: Run, other: Run) -> bool:
    """Whether two runs were tested on the same examples in the same order, as their labels say."""
    if one.trained and other.trained and not (one.data.own or other.data.own):
        return one.config.dataset == other.config.dataset
    if (one.data.test_size, len(one.data.class_names)) != (
        other.data.test_size, len(other.data.class_names)
    ):  # fmt: skip
        return False
    try:
        return fingerprint(one) == fingerprint(other)
    except EnsembleError:
        return False


def _of(run: Run) -> tuple[str, Labels]:
    place: tuple[object, ...] = (str(data_folder()), str(run.config.dataset), run.data.fingerprint)
    if run.trained is None:
        place = (str(run.path), version(str(run.path / LABELS_FILE)))
    if (known := _known.get(place)) is None:
        found = runs.test_set(run)
        known = found.fingerprint, found.labels
        if len(_known) >= MOST:
            _known.clear()
        _known[place] = known
    return known
