"""Confident learning: which examples are of another class than they are labelled, by thresholds.

C. G. Northcutt, L. Jiang and I. L. Chuang, "Confident learning: estimating uncertainty in dataset
labels", Journal of Artificial Intelligence Research 70 (2021), 1373-1411, section 3.1. The
probabilities have to be of members that have not learnt these labels.
"""

from collections.abc import Iterator

import numpy as np

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.label_noise import LabelNoise

TOLERANCE = 1e-6  # below a threshold that still counts as reaching it, as cleanlab has it
DRAWS, SEED, LEVEL = 1_000, 0, 0.95


def guess_classes(averaged: Floats, labels: Ints) -> Ints:
    """(N,), the class that each example confidently is of; -1 where there is none.

    That class's probability reaches its mean over the examples that are labelled so; of several
    such classes the most probable one of all.

    Args:
      averaged: (N, C), probabilities.
      labels: (N,), in [0, C).
    """
    classes = averaged.shape[1]
    counts = np.bincount(labels, minlength=classes)
    own = averaged[np.arange(len(labels)), labels]
    sums = np.bincount(labels, weights=own, minlength=classes)
    thresholds = np.divide(sums, counts, out=np.full(classes, np.inf), where=counts > 0)
    guessed = np.empty(len(labels), np.int64)
    for rows in iterate_blocks(*averaged.shape):
        confident = averaged[rows] >= thresholds - TOLERANCE
        number = confident.sum(axis=1)
        best = np.where(number > 1, averaged[rows].argmax(axis=1), confident.argmax(axis=1))
        guessed[rows] = np.where(number > 0, best, -1)
    return guessed


def count_confident_joint(labels: Ints, guessed: Ints, classes: int) -> Ints:
    """(C, C), the examples of each label (rows) that are confidently of each class.

    Each class has one of its own at least, so that its label can be right.
    """
    kept = guessed >= 0
    cells = labels[kept] * classes + guessed[kept]
    joint = np.bincount(cells, minlength=classes**2).reshape(classes, classes)
    np.fill_diagonal(joint, np.diag(joint).clip(min=1))
    return joint


def calibrate_joint(joint: Ints, labels: Ints) -> Floats:
    """(C, C), the same for all examples of each label, not the confident ones alone."""
    counts = np.bincount(labels, minlength=len(joint))
    calibrated: Floats = joint / joint.sum(axis=1, keepdims=True) * counts[:, None]
    return calibrated


def compute_joint_share(joint: Ints, labels: Ints) -> float:
    """Compute the share of wrong labels by the calibrated joint, in [0, 1]."""
    return float(1 - np.trace(calibrate_joint(joint, labels)) / len(labels))


def build_joint_noise(calibrated: Floats) -> LabelNoise:
    """How labels come about by the joint, with the probabilities as they are.

    Args:
      calibrated: (C, C), as `calibrate_joint` gives it.
    """
    of_class = calibrated.sum(axis=0)
    labelled = np.divide(calibrated, of_class, out=np.eye(len(of_class)), where=of_class > 0)
    return LabelNoise(1.0, labelled.T)


def compute_joint_interval(
    labels: Ints, guessed: Ints, classes: int, groups: Ints | None = None
) -> tuple[float, float]:
    """The 95 % interval of the share of wrong labels, by a bootstrap over the examples.

    The thresholds are taken as they are. Where examples belong together, groups are drawn.
    """
    # Of each label: not confidently of any class, of its own, of another.
    kinds = 3 * labels + np.where(guessed < 0, 0, np.where(guessed == labels, 1, 2))
    shares = []
    for drawn in _draw_counts(kinds, 3 * classes, groups):
        unsure, right, wrong = np.moveaxis(drawn.reshape(len(drawn), classes, 3), 2, 0)
        counts, certain = unsure + right + wrong, right.clip(min=1)
        shares.append((counts * wrong / (certain + wrong)).sum(axis=1) / counts.sum(axis=1))
    low, high = np.quantile(np.concatenate(shares), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _draw_counts(kinds: Ints, number: int, groups: Ints | None) -> Iterator[Floats]:
    """(draws, number): how often each kind is among examples that are drawn anew, in blocks."""
    rng = np.random.default_rng(SEED)
    if groups is None:
        counts = np.bincount(kinds, minlength=number)
        for rows in iterate_blocks(DRAWS, number):
            drawn = rng.multinomial(len(kinds), counts / len(kinds), rows.stop - rows.start)
            yield drawn.astype(np.float64)
        return
    known = int(groups.max()) + 1
    for _ in range(DRAWS):
        times = np.bincount(rng.integers(0, known, known), minlength=known)
        drawn = np.bincount(kinds, weights=times[groups], minlength=number)
        yield drawn.astype(np.float64)[None]
