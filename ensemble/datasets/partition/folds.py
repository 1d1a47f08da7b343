"""Folds of the training examples: member m of a run with K folds leaves out fold m mod K.

So each image or row that is learnt from has members that never saw it, and its label or target can
be judged by them. The draw follows from the labels, the groups, the number of folds and the seed
alone, as that of the validation images (`split.py`), which are in no fold.
"""

import heapq
from collections.abc import Sequence
from typing import Any, Protocol

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
    """How many of the examples that a run learns from each member sees: all but one of K folds."""
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


def assign_row_folds(
    folds: int, seed: int, rows: int, groups: NDArray[np.integer[Any]] | None = None, *, in_time_order: bool = False
) -> NDArray[np.int64]:
    """Assign each training row of a table to a fold.

    Groups are dealt as a whole, the largest first and equal ones in an order that the seed draws,
    each to the smallest fold; without groups, folds differ by at most one row. Rows in time order are
    cut into K blocks of consecutive rows instead, because neighboring rows are alike; a group lies in
    the block of its middle, counted from its first row. (`deal_groups`, which balances classes, takes
    8 times as long.)

    Args:
      folds: K.
      seed: of the draw; blocks have none.
      rows: N.
      groups: (N,), the group of each row; None if rows are independent.
      in_time_order: whether rows are in time order.

    Returns:
      (N,), from 0 to K − 1.

    Raises:
      ConfigError: a fold would be empty.

    Source: D. R. Roberts and others, "Cross-validation strategies for data with temporal, spatial,
    hierarchical, or phylogenetic structure", Ecography 40 (2017), 913-929 (blocks).
    """
    own = np.arange(rows) if groups is None else groups
    _, first, group, sizes = np.unique(own, return_index=True, return_inverse=True, return_counts=True)
    dealt = np.empty(len(sizes), np.int64)
    if in_time_order:
        order = np.argsort(first)
        dealt[order] = (np.cumsum(sizes[order]) - sizes[order] / 2) * folds // rows
    else:
        words, filled = np.random.PCG64([_FOLD_STREAM, seed]).random_raw(len(sizes)), [(0, n) for n in range(folds)]
        for number in np.lexsort((words, -sizes)).tolist():
            size, dealt[number] = filled[0]
            heapq.heapreplace(filled, (size + int(sizes[number]), int(dealt[number])))
    if (count := len(np.unique(dealt))) < folds:
        raise ConfigError(
            f"folds is {folds}, but the training rows, with groups as a whole, fill only {count}: choose fewer folds."
        )
    return dealt[group]


def list_judging_members(members: Sequence[int], fold: int, folds: int) -> list[int]:
    """The places of those members, of their numbers from 0, that left this fold out."""
    return [place for place, member in enumerate(members) if member % folds == fold]
