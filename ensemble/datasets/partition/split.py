"""Which training images a run holds out to choose by: the same share of every class.

Where it is known whose each image is, whole groups instead, so that nobody is learnt from and
chosen by. The draw follows from the labels, the groups, the share and the seed alone: not from the
members, the devices or the version of NumPy (the words of its bit generators never change, its
shuffles may).
"""

import itertools
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


class SplittableDataset(Protocol):
    """What the split needs of a dataset."""

    @property
    def train_labels(self) -> NDArray[np.int32]:
        """(N,), the classes of all training images, from 0."""

    @property
    def train_groups(self) -> NDArray[np.int64] | None:
        """(N,), whose each is, from 0; None where that is not known."""


def count_holdout_images(size: int, share: float) -> int:
    """How many of `size` images, no class of which has but one, are held out: at most half."""
    return min(int(share * size + 0.5), size // 2)


def select_validation_indices(config: HoldoutSettings, dataset: SplittableDataset) -> NDArray[np.int64]:
    """The training images that a run does not learn from but chooses by: `count_holdout_images`.

    Of whole groups where the dataset has them (`select_group_indices`), else of each class its
    share (`select_class_indices`). Either way every class keeps an image for training.

    Args:
      config: the run's.
      dataset: the run's.

    Returns:
      Their numbers (V,), rising; none where the share is 0.
    """
    labels, groups = dataset.train_labels, dataset.train_groups
    if groups is None:
        return select_class_indices(config, labels)
    return select_group_indices(config, labels, groups)


def select_group_indices(
    config: HoldoutSettings, labels: NDArray[np.int32], groups: NDArray[np.int64]
) -> NDArray[np.int64]:
    """So many images as a share of all are, of groups that are held out as a whole.

    Groups are taken in an order that the seed draws, each that still fits and leaves every class
    an image for training. What is missing then comes from the first groups that were not taken:
    they alone are in both parts, usually one at most.

    Args:
      config: says the share and the seed.
      labels: (N,), the classes, from 0.
      groups: (N,), from 0; a number that is missing is a group of none.

    Returns:
      Their numbers (V,), rising.
    """
    sizes = np.bincount(labels)
    wanted = count_holdout_images(int(sizes[sizes > 1].sum()), config.validation)
    words = np.random.PCG64([VALIDATION_STREAM, config.seed]).random_raw(int(groups.max()) + 1)
    held, left = select_whole_groups(labels, groups, words, wanted)
    missing = wanted - int(held.sum())
    available = np.maximum(sizes - 1, 0) - np.bincount(labels[held], minlength=len(sizes))
    for image in itertools.chain.from_iterable(left):
        if not missing:
            break
        if available[labels[image]] > 0:
            held[image] = True
            available[labels[image]] -= 1
            missing -= 1
    return np.flatnonzero(held)


def select_whole_groups(
    labels: NDArray[np.int32],
    groups: NDArray[np.int64],
    words: NDArray[np.uint64],
    wanted: int,
    may_exceed: bool = False,
) -> tuple[NDArray[np.bool_], list[NDArray[np.int64]]]:
    """Groups in the order of their words, as long as images are wanted; no class is left without.

    Args:
      labels: (N,), the classes, from 0.
      groups: (N,), from 0; a number that is missing is a group of none.
      words: one a group, drawn.
      wanted: how many images.
      may_exceed: whether the last group may bring more than are wanted; else it has to fit.

    Returns:
      (N,), which images are taken; and of each group that was not its images, in that order.
    """
    taken, left = np.zeros(len(labels), bool), list[NDArray[np.int64]]()
    remaining = np.bincount(labels)  # of each class
    by_group = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=len(words)))
    for group in np.argsort(words, kind="stable"):
        members = by_group[ends[group - 1] if group else 0 : ends[group]]
        classes, counts = np.unique(labels[members], return_counts=True)
        fits = wanted > 0 if may_exceed else len(members) <= wanted
        if len(members) and fits and (counts < remaining[classes]).all():
            taken[members] = True
            remaining[classes] -= counts
            wanted -= len(members)
        else:
            left.append(members)
    return taken, left


def select_class_indices(config: HoldoutSettings, labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """So many images as a share of all are, of each class its own share.

    Of C classes each gives its share, rounded by the method of the largest remainder so that
    their sum is `count_holdout_images`; a class with a single image keeps it for training.

    Args:
      config: says the share and the seed.
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
