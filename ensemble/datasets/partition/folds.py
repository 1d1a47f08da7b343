"""Folds of the training images: member m of a run with K folds leaves out fold m mod K.

So each image that is learnt from has members that never saw it, and its label can be judged by
them. The draw follows from the labels, the groups, the number of folds and the seed alone, as that
of the validation images (`split.py`), which are in no fold.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.partition.split import HoldoutSettings, SplittableDataset, select_validation_indices
from ensemble.errors import ConfigError

_FOLD_STREAM = 0xF01D  # tells these draws from any other by the same seed
NO_FOLD = -1  # of an image that is held out for validation


class FoldSettings(HoldoutSettings, Protocol):
    """The settings of a run that its folds follow from."""

    @property
    def folds(self) -> int:
        """K; 0 where no member leaves anything out."""


class _NamedDataset(SplittableDataset, Protocol):
    """What the folds need of a dataset."""

    @property
    def class_names(self) -> Sequence[str]:
        """What people call the classes."""


def count_images_per_member(learnt: int, folds: int) -> int:
    """How many of the images that a run learns from each member sees: all but one of K folds."""
    return learnt - -(-learnt // folds) if folds else learnt


def assign_folds(config: FoldSettings, dataset: _NamedDataset) -> NDArray[np.int64]:
    """The fold of every training image.

    The images of each class are dealt out in an order that the seed draws, one class after the
    other, so that two folds differ by at most one image of a class, and by at most one in all.
    Where the dataset has groups, whole groups are dealt, the largest first, each to the fold that
    has least of its classes.

    Args:
      config: the run's, with K folds.
      dataset: the run's.

    Returns:
      (N,), from 0 to K − 1; `NO_FOLD` of validation images.

    Raises:
      ConfigError: fewer groups than folds, or all images of a class are in one fold.
    """
    labels, groups = dataset.train_labels, dataset.train_groups
    learnt = np.setdiff1d(np.arange(len(labels)), select_validation_indices(config, dataset))
    words = np.random.PCG64([_FOLD_STREAM, config.seed]).random_raw(len(labels))
    own = labels[learnt].astype(np.int64)
    if groups is None:
        order = np.lexsort((words[learnt], own))
        dealt = np.empty(len(own), np.int64)
        dealt[order] = np.arange(len(own)) % config.folds
    else:
        dealt = deal_groups(own, groups[learnt], words, config.folds)
    counts = np.zeros((config.folds, len(dataset.class_names)), np.int64)
    np.add.at(counts, (dealt, own), 1)
    if len(alone := np.flatnonzero((counts > 0).sum(axis=0) == 1)):
        name, fold = dataset.class_names[alone[0]], f"one of {config.folds} folds"
        raise ConfigError(
            f"All training images of the class “{name}” are in {fold}, so that members that leave "
            "them out would not know it: add images of it or remove the class, or choose folds 0."
        )
    folds = np.full(len(labels), NO_FOLD, np.int64)
    folds[learnt] = dealt
    return folds


def deal_groups(
    labels: NDArray[np.int64], groups: NDArray[np.int64], words: NDArray[np.uint64], folds: int
) -> NDArray[np.int64]:
    """Whole groups dealt out to folds that have about as many images of each class.

    Args:
      labels: (N,), the classes, from 0.
      groups: (N,), whose each is.
      words: drawn, one a group or more.
      folds: K.

    Returns:
      (N,), the fold of each.

    Raises:
      ConfigError: there are fewer groups than folds.
    """
    known, group = np.unique(groups, return_inverse=True)
    if len(known) < folds:
        raise ConfigError(
            f"folds is {folds}, but the training images are of {len(known)} groups, which stay "
            f"together: choose at most {len(known)} folds."
        )
    sizes = np.bincount(group)
    by_group = np.split(np.argsort(group, kind="stable"), np.cumsum(sizes)[:-1])
    weights = 1 / np.maximum(np.bincount(labels), 1)
    filled = np.zeros((folds, len(weights)))
    dealt = np.empty(len(labels), np.int64)
    for number in np.lexsort((words[: len(known)], -sizes)):
        own = np.bincount(labels[by_group[number]], minlength=len(weights))
        crowded = filled @ (own * weights**2)
        fold = int(np.lexsort((filled.sum(axis=1), crowded))[0])
        dealt[by_group[number]] = fold
        filled[fold] += own
    return dealt


def list_judging_members(members: Sequence[int], fold: int, folds: int) -> list[int]:
    """The places of those members, of their numbers from 0, that left this fold out."""
    return [place for place, member in enumerate(members) if member % folds == fold]
