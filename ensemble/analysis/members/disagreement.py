"""How far the members disagree about each example: by their votes, and by their probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.quality.averaging import Floats, Ints, average_probabilities, count_votes, most_likely_classes


@dataclass(frozen=True, eq=False)
class Disagreement:
    """How often members answer differently, over all examples.

    Attributes:
      pairwise: the mean over pairs of members of the share of examples on which the two vote for
        different classes, in [0, 1]; NaN with one member, who makes no pair.
      of_members: (M,), the share of examples on which each member votes for another class than
        the averaged probabilities do, in [0, 1].
    """

    pairwise: float
    of_members: NDArray[np.float64]


def measure_disagreement(probabilities: Floats) -> Disagreement:
    """How often M members differ among each other, and each from their ensemble.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
    """
    members, examples, classes = probabilities.shape
    voted, answers = most_likely_classes(probabilities), np.empty(examples, np.int64)
    pairs = np.zeros(examples)
    for rows in iterate_blocks(examples, classes):
        answers[rows] = most_likely_classes(average_probabilities(probabilities[:, rows]))
        pairs[rows] = pairwise_disagreement(count_votes(voted[:, rows], classes))
    mean = pairs.mean() if members > 1 else np.nan
    return Disagreement(float(mean), (voted != answers).mean(axis=1))


def pairwise_disagreement(tallies: Ints) -> NDArray[np.float64]:
    """The share of the pairs of members that vote for different classes.

    0 where all vote the same, 1 where no two do; with one member there is no pair, and 0.

    Args:
      tallies: (N, C) votes for each class, from `averaging.count_votes`; rows sum to M.

    Returns:
      (N,), in [0, 1]: 1 − Σ n_c (n_c − 1) / (M (M − 1)).
    """
    members = tallies.sum(axis=1)
    alike = (tallies * (tallies - 1)).sum(axis=1)
    pairs = np.maximum(members * (members - 1), 1)
    return np.where(members > 1, 1.0 - alike / pairs, 0.0)


def entropy(distributions: Floats) -> Floats:
    """The entropy of each distribution, in nats; a probability of 0 adds none.

    Args:
      distributions: (..., C).

    Returns:
      (...), in [0, ln C].
    """
    if distributions.ndim != 2:
        return _row_entropy(distributions)
    entropies = np.empty(len(distributions), distributions.dtype)
    for rows in iterate_blocks(*distributions.shape):
        entropies[rows] = _row_entropy(distributions[rows])
    return entropies


def expected_entropy(probabilities: Floats) -> NDArray[np.float64]:
    """The mean over members of their entropies, in nats: what each is unsure of by itself.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Returns:
      (N,), in [0, ln C].
    """
    total = np.zeros(probabilities.shape[1])
    for rows in iterate_blocks(*probabilities.shape[1:]):
        for member in probabilities:
            total[rows] += _row_entropy(member[rows].astype(np.float64))
    return total / len(probabilities)


def mutual_information(probabilities: Floats, averaged: Floats) -> NDArray[np.float64]:
    """How much the members' probabilities differ: what one member's answer tells of who it is.

    The entropy of the average less the average of the entropies; also the Jensen-Shannon
    divergence of the members. 0 where all members say the same.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      averaged: (N, C), its mean over members.

    Returns:
      (N,), in nats, in [0, ln min(M, C)].

    Source: N. Houlsby and others, "Bayesian active learning for classification and
    preference learning" (2011), arXiv:1112.5745.
    """
    # Rounding can put an exact zero a little below it.
    return np.maximum(entropy(averaged) - expected_entropy(probabilities), 0.0)


def _row_entropy(distributions: Floats) -> Floats:
    safe = np.where(distributions > 0, distributions, 1)
    return -(distributions * np.log(safe)).sum(axis=-1)
