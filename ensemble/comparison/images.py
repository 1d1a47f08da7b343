"""Which test images a run is judged on: two runs can be compared on the same ones alone."""

import hashlib

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
_digests: dict[tuple[object, ...], str] = {}


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
    """Whether two runs were tested on the same examples in the same order.

    Labels say so of what was imported. Of two datasets the pictures have to be the same as well:
    of folders, class by class and as many of each, the labels are always alike. In another form
    (smaller, or grey) they are where both were made of the same source.
    """
    if one.trained and other.trained and not (one.data.own or other.data.own):
        return one.config.dataset == other.config.dataset
    if (one.data.test_size, len(one.data.class_names)) != (
        other.data.test_size,
        len(other.data.class_names),
    ):
        return False
    try:
        return fingerprint(one) == fingerprint(other) and _same_pictures(one, other)
    except EnsembleError:
        return False


def _same_pictures(one: Run, other: Run) -> bool:
    """Of two runs on the same labels; what was imported need not have brought its pictures."""
    if one.trained is None or other.trained is None:
        return True
    if one.data.image_shape != other.data.image_shape:
        return one.data.source == other.data.source
    return _place(one) == _place(other) or _pictures(one) == _pictures(other)


def _pictures(run: Run) -> str:
    """A word that differs where the pictures do that a run which was trained was tested on."""
    place = _place(run)
    if (known := _digests.get(place)) is None:
        images = runs.test_set(run).images
        known = hashlib.sha256(np.ascontiguousarray(images).data).hexdigest()
        if len(_digests) >= MOST:
            _digests.clear()
        _digests[place] = known
    return known


def _place(run: Run) -> tuple[object, ...]:
    return str(data_folder()), str(run.config.dataset), run.data.fingerprint


def _of(run: Run) -> tuple[str, Labels]:
    place = _place(run)
    if run.trained is None:
        place = (str(run.path), version(str(run.path / LABELS_FILE)))
    if (known := _known.get(place)) is None:
        found = runs.test_set(run)
        known = found.fingerprint, found.labels
        if len(_known) >= MOST:
            _known.clear()
        _known[place] = known
    return known
