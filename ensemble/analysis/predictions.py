"""Predictions on labelled examples: judged one by one, filtered and put in order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import blocks
from ensemble.analysis.members.disagreement import disagreeing_pairs, mutual_information
from ensemble.analysis.quality.averaging import Floats, Ints, average, confidence, tally, votes

SHOWS = ("all", "wrong", "split")
SMALL = 181  # members: of so many, pairs of votes for one class still fit 16 bits
ORDERS = ("unsure", "sure", "split", "united", "number", "sets")


@dataclass(frozen=True, eq=False)
class Predictions:
    """What M members and their ensemble say of N labelled examples. All arrays are read-only.

    Attributes:
      probabilities: (M, N, C), the members' own.
      labels: (N,), what each example is.
      averaged: (N, C), the ensemble's probabilities.
      said: (N,), the ensemble's class.
      confidence: (N,), the averaged probability of that class.
      votes: (M, N), the members' classes.
      tallies: (N, C), how many members vote for each class, as small whole numbers.
      disagreement: (N,), the share of pairs of members that vote differently.
      information: (N,), nats, how much the members' probabilities differ.
    """

    probabilities: Floats
    labels: Ints
    averaged: Floats
    said: Ints
    confidence: Floats
    votes: Ints
    tallies: Ints
    disagreement: Floats
    information: Floats

    @property
    def members(self) -> int:
        """M."""
        return len(self.probabilities)

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,), where the ensemble says what it is."""
        return self.said == self.labels

    @property
    def split(self) -> NDArray[np.bool_]:
        """(N,), where not all members vote the same."""
        return (self.votes != self.votes[0]).any(axis=0)


def judge(probabilities: Floats, labels: Ints) -> Predictions:
    """Everything that is said of each example, computed once.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).

    Raises:
      ValueError: the shapes do not fit together, or a number is not finite.
    """
    if probabilities.ndim != 3 or 0 in probabilities.shape:
        raise ValueError(f"Probabilities of shape {probabilities.shape} are not (M, N, C).")
    if labels.shape != probabilities.shape[1:2]:
        raise ValueError(f"{probabilities.shape[1]:,} predictions for {len(labels):,} examples.")
    if labels.min() < 0 or labels.max() >= probabilities.shape[2]:
        raise ValueError(f"A label is outside the {probabilities.shape[2]} classes.")
    M, N, C = probabilities.shape
    averaged = np.empty((N, C))
    voted, tallies = (
        np.empty((M, N), np.int64),
        np.empty((N, C), np.int16 if M <= SMALL else np.int64),
    )
    pairs, information = np.empty((2, N))
    for rows in blocks(N, C):
        part = probabilities[:, rows]
        averaged[rows] = average(part)
        if not np.isfinite(averaged[rows]).all():
            raise ValueError("A probability is not a finite number.")
        voted[:, rows] = votes(part)
        tallies[rows] = tally(voted[:, rows], C)
        pairs[rows] = disagreeing_pairs(tallies[rows])
        information[rows] = mutual_information(part, averaged[rows])
    made = Predictions(
        probabilities,
        labels,
        averaged,
        votes(averaged),
        confidence(averaged),
        voted,
        tallies,
        pairs,
        information,
    )
    for values in vars(made).values():
        values.setflags(write=False)
    return made


def chosen(made: Predictions, show: str = "all", label: int | None = None) -> NDArray[np.int64]:
    """The numbers of the examples to show, rising.

    Args:
      made: the predictions.
      show: "all", "wrong" (the ensemble errs) or "split" (not all members vote the same).
      label: only examples of this class; None for every class.

    Raises:
      ValueError: there is no such `show`.
    """
    if show not in SHOWS:
        raise ValueError(f"{show!r} is none of {', '.join(SHOWS)}.")
    kept = {"all": np.ones(len(made.labels), bool), "wrong": ~made.right, "split": made.split}[show]
    return np.flatnonzero(kept if label is None else kept & (made.labels == label))


def ordered(
    made: Predictions, numbers: Ints, order: str = "unsure", sizes: Ints | None = None
) -> Ints:
    """`numbers` in another order; examples that are equal in it stay in their own.

    Args:
      made: the predictions.
      numbers: (K,), examples to order, rising.
      order: "unsure" (least confident first), "sure" (most confident first), "split" (most
        divided votes first, then those whose probabilities differ most), "united" (the
        opposite), "number" or "sets" (the largest conformal set first, then least confident).
      sizes: (N,), how many classes each example's conformal set has: for "sets" alone.

    Raises:
      ValueError: there is no such `order`, or its `sizes` are missing.
    """
    if order not in ORDERS:
        raise ValueError(f"{order!r} is none of {', '.join(ORDERS)}.")
    if order == "number":
        return numbers
    if order == "sets":
        if sizes is None:
            raise ValueError("The order by sets needs their sizes.")
        return numbers[np.lexsort((made.confidence[numbers], -sizes[numbers]))]
    sign = 1 if order in ("unsure", "united") else -1
    if order in ("unsure", "sure"):
        return numbers[np.argsort(sign * made.confidence[numbers], kind="stable")]
    keys = (sign * made.information[numbers], sign * made.disagreement[numbers])
    return numbers[np.lexsort(keys)]
