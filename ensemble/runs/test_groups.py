"""Which test images belong together or were trained on: by a column that came along, as copies."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, join_groups, number_groups
from ensemble.datasets.duplicates import MAX_BYTES, find_duplicate_images, load_training_copies
from ensemble.storage.arrays.disk_cache import load_or_compute_arrays

_MAX_CACHED_TEST_SETS = 16
_MAX_BYTES_WHILE_WAITING = 2**26  # of images that are looked through while somebody waits: seconds
_copies: dict[str, NDArray[np.int64]] = {}  # by a digest of the images


@dataclass(frozen=True, eq=False)
class TestGroups:
    """Which of N test images belong together, and why.

    Attributes:
      groups: (N,), numbers from 0, of images that count together; None where all are independent.
      named: how many groups a column that came with the images names; 0 where there is none.
      copies: how many images are copies of another.
    """

    __test__ = False  # not a case of pytest's

    groups: Groups | None = None
    named: int = 0
    copies: int = 0


def find_test_groups(
    images: NDArray[np.uint8] | None,
    column: NDArray[np.integer] | None,
    fingerprint: str = "",
    repeats: Groups | None = None,
) -> TestGroups:
    """The groups of N test images: those of a column, joined where images are copies.

    Args:
      images: uint8 (N, H, W, channels); None where there are none to look for copies in.
      column: (N,), numbers of groups; None where nothing is said of them.
      fingerprint: of the dataset that they are the test images of; "" where it is not known, and
        the images are digested.
      repeats: (N,), numbers from 0 of examples without images, equal for copies; None without any.
    """
    named = None if column is None else number_groups(column)
    count = 0 if named is None else int(named.max()) + 1
    groups, copies, same = named, 0, repeats
    if images is not None:
        same = _find_copies_once(images, fingerprint) if images.nbytes <= MAX_BYTES else None
    if same is not None:
        copies = len(same) - (int(same.max()) + 1)
        if copies:
            groups = join_groups(named, same)
    return TestGroups(groups, count, copies)


def count_training_copies(
    train_images: NDArray[np.uint8], test_images: NDArray[np.uint8], fingerprint: str
) -> int | None:
    """How many test images are copies of training images: None where looking would take long.

    Of own data it was counted when it was added (datasets/own/dataset_builder.py), and is kept.

    Args:
      train_images: uint8 (T, H, W, channels).
      test_images: uint8 (N, H, W, channels).
      fingerprint: of the dataset that they are.
    """
    if not fingerprint:
        return None
    quick = train_images.nbytes + test_images.nbytes <= _MAX_BYTES_WHILE_WAITING
    return load_training_copies(
        fingerprint, (lambda: find_duplicate_images(test_images, train_images)) if quick else None
    )


def _find_copies_once(images: NDArray[np.uint8], fingerprint: str) -> NDArray[np.int64]:
    """The groups of `find_duplicate_images` of a test set, kept in memory and on disk."""
    digest = hashlib.sha256(f"{images.shape}".encode())
    digest.update(fingerprint.encode() if fingerprint else np.ascontiguousarray(images).data)
    key = digest.hexdigest()
    if key not in _copies:
        if len(_copies) >= _MAX_CACHED_TEST_SETS:
            _copies.clear()
        found = load_or_compute_arrays("copies", key, lambda: {"groups": find_duplicate_images(images).groups})[
            "groups"
        ]
        found.setflags(write=False)
        _copies[key] = found
    return _copies[key]
