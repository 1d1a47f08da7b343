"""Predictions on labelled examples: judged one by one, filtered and put in order."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.analysis.members.disagreement import mutual_information, pairwise_disagreement
from ensemble.analysis.quality.averaging import (
    Floats,
    Ints,
    average_probabilities,
    count_votes,
    most_likely_classes,
    prediction_confidence,
)

MAX_SHOWN_MEMBERS = 64  # members whose curves or pairs are shown one by one
EXAMPLE_FILTERS = ("all", "wrong", "split")
_MAX_INT16_MEMBERS = 181  # members: of so many, pairs of votes for one class still fit 16 bits
# The measures by which the words of `EXAMPLE_ORDERS` sort already.
_NAMED_ORDER_MEASURES = ("confidence", "disagreement")
MEASURE_ORDERS = {name: measure for name, measure in EXAMPLE_MEASURES.items() if name not in _NAMED_ORDER_MEASURES}
EXAMPLE_ORDERS = ("unsure", "sure", "split", "united", "number", "sets", *MEASURE_ORDERS)


@dataclass(frozen=True, eq=False)
class EnsemblePredictions:
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
      epistemic: (N,), nats, how much the members' probabilities differ.
      groups: (N,), the group of each example, from 0: those of one belong together; None where all
        are independent.
    """

    probabilities: Floats
    labels: Ints
    averaged: Floats
    said: Ints
    confidence: Floats
    votes: Ints
    tallies: Ints
    disagreement: Floats
    epistemic: Floats
    groups: Ints | None = field(default=None, kw_only=True)

    @property
    def members(self) -> int:
        """M."""
        return len(self.probabilities)

    @cached_property
    def member_confidence(self) -> Floats:
        """(M, N), each member's probability of the class that it votes for."""
        M, N = self.votes.shape
        confidence = np.empty((M, N), self.probabilities.dtype)
        for row, probabilities, votes in zip(confidence, self.probabilities, self.votes, strict=True):
            row[:] = probabilities[np.arange(N), votes]
        confidence.setflags(write=False)
        return confidence

    @cached_property
    def spread_members(self) -> tuple[int, ...]:
        """The members, from 0, that stand for all: with more than 64, so many, evenly from the least accurate up."""
        if self.members <= MAX_SHOWN_MEMBERS:
            return tuple(range(self.members))
        by_accuracy = np.argsort((self.votes == self.labels).sum(axis=1), kind="stable")
        places = np.linspace(0, self.members - 1, MAX_SHOWN_MEMBERS).round().astype(int)
        return tuple(sorted(by_accuracy[places].tolist()))

    @property
    def right(self) -> NDArray[np.bool_]:
        """(N,), where the ensemble says what it is."""
        return self.said == self.labels

    @property
    def split(self) -> NDArray[np.bool_]:
        """(N,), where not all members vote the same."""
        return (self.votes != self.votes[0]).any(axis=0)


def evaluate_predictions(probabilities: Floats, labels: Ints, groups: Ints | None = None) -> EnsemblePredictions:
    """Everything that is said of each example, computed once.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).
      groups: (N,), numbers from 0, where some examples belong together.

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
    voted, tallies = (np.empty((M, N), np.int64), np.empty((N, C), np.int16 if M <= _MAX_INT16_MEMBERS else np.int64))
    pairs, epistemic = np.empty((2, N))
    for rows in iterate_blocks(N, C):
        part = probabilities[:, rows]
        averaged[rows] = average_probabilities(part)
        if not np.isfinite(averaged[rows]).all():
            raise ValueError("A probability is not a finite number.")
        voted[:, rows] = most_likely_classes(part)
        tallies[rows] = count_votes(voted[:, rows], C)
        pairs[rows] = pairwise_disagreement(tallies[rows])
        epistemic[rows] = mutual_information(part, averaged[rows])
    ensemble_predictions = EnsemblePredictions(
        probabilities=probabilities,
        labels=labels,
        averaged=averaged,
        said=most_likely_classes(averaged),
        confidence=prediction_confidence(averaged),
        votes=voted,
        tallies=tallies,
        disagreement=pairs,
        epistemic=epistemic,
        groups=groups,
    )
    for values in vars(ensemble_predictions).values():
        if isinstance(values, np.ndarray):
            values.setflags(write=False)
    return ensemble_predictions


def filter_examples(predictions: EnsemblePredictions, show: str = "all", label: int | None = None) -> NDArray[np.int64]:
    """The numbers of the examples to show, rising.

    Args:
      predictions: the predictions.
      show: "all", "wrong" (the ensemble errs) or "split" (not all members vote the same).
      label: only examples of this class; None for every class.

    Raises:
      ValueError: there is no such `show`.
    """
    if show not in EXAMPLE_FILTERS:
        raise ValueError(f"{show!r} is none of {', '.join(EXAMPLE_FILTERS)}.")
    kept = {"all": np.ones(len(predictions.labels), bool), "wrong": ~predictions.right, "split": predictions.split}[
        show
    ]
    return np.flatnonzero(kept if label is None else kept & (predictions.labels == label))


def sort_examples(
    predictions: EnsemblePredictions, numbers: Ints, order: str = "unsure", sizes: Ints | None = None
) -> Ints:
    """`numbers` in another order; examples that are equal in it stay in their own.

    Args:
      predictions: the predictions.
      numbers: (K,), examples to order, rising.
      order: "unsure" (least confident first), "sure" (most confident first), "split" (most
        divided votes first, then those whose probabilities differ most), "united" (the
        opposite), "number", "sets" (the largest conformal set first, then least confident) or the
        name of another of the `EXAMPLE_MEASURES` (the least sure first).
      sizes: (N,), how many classes each example's conformal set has: for "sets" alone.

    Raises:
      ValueError: there is no such `order`, or its `sizes` are missing.
    """
    if order not in EXAMPLE_ORDERS:
        raise ValueError(f"{order!r} is none of {', '.join(EXAMPLE_ORDERS)}.")
    if order == "number":
        return numbers
    if order == "sets":
        if sizes is None:
            raise ValueError("The order by sets needs their sizes.")
        return numbers[np.lexsort((predictions.confidence[numbers], -sizes[numbers]))]
    if order in MEASURE_ORDERS:
        return numbers[np.argsort(-MEASURE_ORDERS[order].score_uncertainty(predictions)[numbers], kind="stable")]
    sign = 1 if order in ("unsure", "united") else -1
    if order in ("unsure", "sure"):
        return numbers[np.argsort(sign * predictions.confidence[numbers], kind="stable")]
    keys = (sign * predictions.epistemic[numbers], sign * predictions.disagreement[numbers])
    return numbers[np.lexsort(keys)]
