"""Which training images a run holds out to choose by: the same share of every class.

The draw follows from the labels, the share and the seed alone: not from the members, the devices
or the version of NumPy (the words of its bit generators never change, its shuffles may).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

VALIDATION_STREAM = 0x56A1  # tells these draws from any other by the same seed


class HoldoutSettings(Protocol):
    """The settings of a run that the split follows from."""

    @property
    def validation(self) -> float:
        """The share that is held out, in [0, 0.5]."""

    @property
    def seed(self) -> int:
        """Of the draw."""


def count_holdout_images(size: int, share: float) -> int:
    """How many of `size` images, no class of which has but one, are held out: at most half."""
    return min(int(share * size + 0.5), size // 2)


def select_validation_indices(
    config: HoldoutSettings, labels: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The training images that a run does not learn from but chooses by.

    Of C classes each gives its share, rounded by the method of the largest remainder so that
    their sum is `count_holdout_images`; a class with a single image keeps it for training.

    Args:
      config: the run's.
      labels: (N,), the classes of all training images, from 0.

    Returns:
      Their numbers (V,), rising; none where the share is 0.
    """
    sizes = np.bincount(labels)
    wanted = count_holdout_per_class(sizes, config.validation)
    words = np.random.PCG64([VALIDATION_STREAM, config.seed]).random_raw(len(labels))
    order = np.lexsort((words, labels))  # by class, and in each by its words
    place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # in its class
    return np.sort(order[place < np.repeat(wanted, sizes)])


def count_singleton_classes(sizes: NDArray[np.int64]) -> int:
    """How many images are the only one of their class, of `sizes` (C,): none of them is held out.

    `count_holdout_images` is asked of the others.
    """
    return int((sizes == 1).sum())


def count_holdout_per_class(sizes: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """How many images of each class are held out (C,), of `sizes` (C,) that there are."""
    sizes = np.where(sizes > 1, sizes, 0)
    whole = int(sizes.sum())
    wanted = count_holdout_images(whole, share)
    counts, rest = np.divmod(wanted * sizes.astype(np.int64), max(whole, 1))
    largest = np.argsort(-rest, kind="stable")[: wanted - int(counts.sum())]
    counts[largest] += 1
    return counts
