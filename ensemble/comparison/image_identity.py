"""Which test images a run is judged on: two runs can be compared on the same ones alone."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.inference.image_groups import Groups
from ensemble.errors import EnsembleError
from ensemble.runs.store import Run
from ensemble.runs.test_set import LABELS_FILE
from ensemble.storage.folder_index import file_version
from ensemble.storage.folders import data_folder

_MAX_CACHED_TEST_SETS = 32  # test sets, of which the labels are kept

Labels = NDArray[np.int32]
_known: dict[tuple[object, ...], tuple[str, Labels, Groups | None]] = {}
_digests: dict[tuple[object, ...], str] = {}


def fingerprint_images(run: Run) -> str:
    """A word that is the same for runs on the same labels in the same order.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it was imported, and what it brought cannot be read.
    """
    return _load_labels_once(run)[0]


def load_image_labels(run: Run) -> Labels:
    """(N,), what the run's test images are; the same array for every run on them.

    Raises:
      NotPreparedError, RunError: as `fingerprint_images`.
    """
    return _load_labels_once(run)[1]


def load_image_groups(run: Run) -> Groups | None:
    """Which of the run's test images belong together; None where all are independent.

    Raises:
      NotPreparedError, RunError: as `fingerprint_images`.
    """
    return _load_labels_once(run)[2]


def have_same_images(run: Run, other: Run) -> bool:
    """Whether two runs were tested on the same examples in the same order.

    Labels say so of what was imported. Of two datasets the pictures have to be the same as well:
    of folders, class by class and as many of each, the labels are always alike. In another form
    (smaller, or grey) they are where both were made of the same source.
    """
    if run.training_config and other.training_config and not (run.data.own or other.data.own):
        return run.config.dataset == other.config.dataset
    if (run.data.test_size, len(run.data.class_names)) != (other.data.test_size, len(other.data.class_names)):
        return False
    try:
        return fingerprint_images(run) == fingerprint_images(other) and _have_same_pixels(run, other)
    except EnsembleError:
        return False


def _have_same_pixels(run: Run, other: Run) -> bool:
    """Of two runs on the same labels; what was imported need not have brought its pictures."""
    if run.training_config is None or other.training_config is None:
        return True
    if run.data.image_shape != other.data.image_shape:
        return run.data.source == other.data.source
    return _test_set_key(run) == _test_set_key(other) or _digest_pixels(run) == _digest_pixels(other)


def _digest_pixels(run: Run) -> str:
    place = _test_set_key(run)
    if (digest := _digests.get(place)) is None:
        images = runs.load_test_set(run).images
        digest = hashlib.sha256(np.ascontiguousarray(images).data).hexdigest()
        if len(_digests) >= _MAX_CACHED_TEST_SETS:
            _digests.clear()
        _digests[place] = digest
    return digest


def _test_set_key(run: Run) -> tuple[object, ...]:
    return str(data_folder()), str(run.config.dataset), run.data.fingerprint


def _load_labels_once(run: Run) -> tuple[str, Labels, Groups | None]:
    place = _test_set_key(run)
    if run.training_config is None:
        place = (str(run.path), file_version(str(run.path / LABELS_FILE)))
    if (identity := _known.get(place)) is None:
        test_set = runs.load_test_set(run)
        identity = test_set.fingerprint, test_set.labels, test_set.groups
        if len(_known) >= _MAX_CACHED_TEST_SETS:
            _known.clear()
        _known[place] = identity
    return identity
