"""Conformal sets: for each example the classes it may be, with an error rate that is promised.

Split conformal prediction: a score says how ill a class fits an example, and its ⌈(n+1)(1−α)⌉-th
smallest value over n labelled examples, the calibration examples, is the threshold. A new example
gets every class that fits no worse. Its label is then among them with a probability of 1 − α or
more: on the average over draws of the calibration examples, and only where old and new examples
are exchangeable, as two halves of one test set are and a person's own pictures are not.

Source: V. Vovk, A. Gammerman and G. Shafer, "Algorithmic learning in a random world", 2005;
A. Angelopoulos and S. Bates, "A gentle introduction to conformal prediction", 2021.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.quality.averaging import Floats, Ints

METHODS = ("aps", "raps", "lac")
_PENALTY, _FREE_CLASSES = 0.1, 1  # of RAPS: for each class beyond the first so many
_RANK_TOLERANCE = 1e-9  # of a rank: 100 times (1 − 0.41) is 59, whatever doubles make of it


@dataclass(frozen=True)
class ConformalThreshold:
    """A threshold on a score, from n calibration examples.

    Attributes:
      method: one of `METHODS`.
      error_rate: α, the share of sets that may miss the label.
      threshold: of the score; infinite where n is too small for α: every set is all classes.
      n: how many calibration examples there were.
      penalty: of RAPS, for each class beyond the first `free`.
      free: of RAPS, how many classes cost no penalty.
    """

    method: str
    error_rate: float
    threshold: float
    n: int
    penalty: float = _PENALTY
    free: int = _FREE_CLASSES

    @property
    def has_enough_examples(self) -> bool:
        """Whether there are examples enough for this error rate: else nothing is ruled out."""
        return math.isfinite(self.threshold)

    @property
    def min_examples(self) -> int:
        """The fewest calibration examples with which the threshold is finite."""
        return min_calibration_size(self.error_rate)

    @property
    def expected_coverage(self) -> tuple[float, float]:
        """Where the coverage lies in 95 of 100 draws of the calibration examples.

        Of a score without ties; ties only raise it. (1, 1) where every set is all classes.

        Source: V. Vovk, "Conditional validity of inductive conformal predictors", ACML 2012:
        given the calibration examples coverage is Beta(k, n + 1 − k), k the rank.
        """
        if not self.has_enough_examples:
            return 1.0, 1.0
        k = conformal_rank(self.n, self.error_rate)
        low, high = beta.ppf((0.025, 0.975), k, self.n + 1 - k)
        return float(low), float(high)

    def build_sets(self, averaged: Floats) -> NDArray[np.bool_]:
        """The classes that each example may be, (N, C), of the ensemble's (N, C)."""
        if not self.has_enough_examples:
            return np.ones(averaged.shape, bool)
        sets = np.empty(averaged.shape, bool)
        for rows in iterate_blocks(*averaged.shape):
            part = averaged[rows]
            if self.method == "lac":
                sets[rows] = 1 - part <= self.threshold
            else:
                sets[rows] = self._build_adaptive_sets(part)
        return sets

    def _build_adaptive_sets(self, averaged: Floats) -> NDArray[np.bool_]:
        falling, ahead = _sort_descending(averaged)
        # By each class's own score, as the calibration examples were scored. A threshold below the
        # first class's score, which is its penalty, would leave a set empty: it keeps that class.
        kept = ahead + self.penalty_at(np.arange(averaged.shape[1]) + 1) <= self.threshold
        size = np.maximum(kept.sum(axis=1), 1)
        last = np.take_along_axis(falling, size[:, None] - 1, axis=1)
        sets = averaged >= last
        # Of classes as likely as the last of the set, the lower ones are in it.
        torn = np.flatnonzero(sets.sum(axis=1) > size)
        level, above = averaged[torn] == last[torn], averaged[torn] > last[torn]
        room = (size[torn] - above.sum(axis=1))[:, None]
        sets[torn] = above | level & (np.cumsum(level, axis=1) <= room)
        return sets

    def penalty_at(self, rank: Ints) -> Floats:
        """What RAPS adds to the score of the class of this rank, counted from 1: λ (rank − k)⁺."""
        if self.method != "raps":
            return np.zeros(np.shape(rank))
        return self.penalty * np.maximum(np.asarray(rank) - self.free, 0)


def conformal_rank(n: int, error_rate: float) -> int:
    """⌈(n + 1)(1 − α)⌉: which of n rising scores a new one exceeds with probability α at most.

    n + 1 where n is too small for the error rate: no score of the n will do.

    Args:
      n: how many scores there are, 0 or more.
      error_rate: α in (0, 1).

    Raises:
      ValueError: the error rate is not in (0, 1).
    """
    if not 0 < error_rate < 1:
        raise ValueError(f"An error rate of {error_rate:g} is outside 0 to 1.")
    return math.ceil((n + 1) * (1 - error_rate) - _RANK_TOLERANCE)


def min_calibration_size(error_rate: float) -> int:
    """The smallest n whose `conformal_rank` is not beyond n: ⌈1 / α⌉ − 1."""
    return math.ceil(1 / error_rate - _RANK_TOLERANCE) - 1


def conformal_quantile(scores: Floats, error_rate: float) -> float:
    """The ⌈(n + 1)(1 − α)⌉-th smallest of n scores (n,); infinite beyond n.

    Raises:
      ValueError: the error rate is not in (0, 1).
    """
    k = conformal_rank(len(scores), error_rate)
    return float(np.partition(scores, k - 1)[k - 1]) if k <= len(scores) else math.inf


def fit_conformal_threshold(
    averaged: Floats,
    labels: Ints,
    error_rate: float,
    method: str = METHODS[0],
    *,
    penalty: float = _PENALTY,
    free: int = _FREE_CLASSES,
) -> ConformalThreshold:
    """The threshold from calibration examples: validation predictions, or a half of the test's.

    Args:
      averaged: (n, C), the ensemble's probabilities of them.
      labels: (n,), what they are.
      error_rate: α in (0, 1).
      method: "lac" (1 − p, the smallest sets on the average; Sadinle, Lei and Wasserman, JASA
        2019), "aps" (the probability of all classes that are likelier, so that sets adapt to
        how hard an example is; Romano, Sesia and Candès, NeurIPS 2020) or "raps" (that and a
        penalty on each further class; Angelopoulos and others, ICLR 2021, eq. 4). The latter two
        without their random number: a class's own probability does not count.
      penalty: of RAPS, λ.
      free: of RAPS, k_reg: how many classes cost no penalty.

    Raises:
      ValueError: the error rate is not in (0, 1), there is no such method, or the shapes differ.
    """
    if method not in METHODS:
        raise ValueError(f"{method!r} is none of {', '.join(METHODS)}.")
    if averaged.ndim != 2 or labels.shape != averaged.shape[:1]:
        raise ValueError(f"{averaged.shape} probabilities and {labels.shape} labels.")
    conformal_threshold = ConformalThreshold(
        method=method, error_rate=error_rate, threshold=math.inf, n=len(labels), penalty=penalty, free=free
    )
    scores = _nonconformity_scores(conformal_threshold, averaged, labels)
    return ConformalThreshold(
        method=method,
        error_rate=error_rate,
        threshold=conformal_quantile(scores, error_rate),
        n=len(labels),
        penalty=penalty,
        free=free,
    )


def _sort_descending(averaged: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    falling = np.sort(averaged, axis=1)[:, ::-1].astype(np.float64)
    ahead = np.zeros_like(falling)
    np.cumsum(falling[:, :-1], axis=1, out=ahead[:, 1:])
    return falling, ahead


def _nonconformity_scores(threshold: ConformalThreshold, averaged: Floats, labels: Ints) -> Floats:
    """How ill each example's label fits it, (n,)."""
    if threshold.method == "lac":
        return 1 - averaged[np.arange(len(labels)), labels]
    own, place = averaged[np.arange(len(labels)), labels], np.empty(len(labels), np.int64)
    summed = np.empty(len(labels))
    for rows in iterate_blocks(*averaged.shape):
        part, level = averaged[rows], averaged[rows] == own[rows, None]
        # Of classes that are equally likely the lower one stands ahead.
        lower = level & (np.arange(part.shape[1]) < labels[rows, None])
        place[rows] = (part > own[rows, None]).sum(axis=1) + lower.sum(axis=1)
        summed[rows] = _sort_descending(part)[1][np.arange(len(part)), place[rows]]
    return summed + threshold.penalty_at(place + 1)
