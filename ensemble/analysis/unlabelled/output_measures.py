"""What members say of each image, as far as no label is needed for it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.members.disagreement import entropy, mutual_information, pairwise_disagreement
from ensemble.analysis.quality.averaging import (
    Floats,
    average_probabilities,
    count_votes,
    most_likely_classes,
    prediction_confidence,
)


@dataclass(frozen=True, eq=False)
class OutputMeasures:
    """What M members and their ensemble say of N images.

    Attributes:
      members: M.
      averaged: (N, C), the ensemble's probabilities.
      answers: (N,), the ensemble's class.
      confidence: (N,), the averaged probability of that class, in [1 / C, 1].
      entropy: (N,), of the average, in nats.
      epistemic: (N,), mutual information, in nats: how far the members' probabilities differ.
      disagreement: (N,), the share of pairs of members that vote for different classes.
    """

    members: int
    averaged: Floats
    answers: NDArray[np.int64]
    confidence: Floats
    entropy: Floats
    epistemic: Floats
    disagreement: Floats

    @property
    def n(self) -> int:
        """N."""
        return len(self.averaged)


def join_outputs(parts: Sequence[OutputMeasures]) -> OutputMeasures:
    """Those of several sets of images, by the same members, as of one set.

    Args:
      parts: at least one.
    """
    return OutputMeasures(
        parts[0].members,
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("averaged", "answers", "confidence", "entropy", "epistemic", "disagreement")
        ),
    )


def measure_outputs(probabilities: Floats) -> OutputMeasures:
    """All that estimates without labels look at.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Raises:
      ValueError: the shape is not (M, N, C) with at least one member and class, or a number is not
        finite.
    """
    if probabilities.ndim != 3 or 0 in (len(probabilities), probabilities.shape[2]):
        raise ValueError(f"Probabilities of shape {probabilities.shape} are not (M, N, C).")
    M, N, C = probabilities.shape
    averaged, disagreement, epistemic = np.empty((N, C)), np.empty(N), np.empty(N)
    for rows in iterate_blocks(N, C):
        part = probabilities[:, rows]
        averaged[rows] = average_probabilities(part)
        if not np.isfinite(averaged[rows]).all():
            raise ValueError("A probability is not a finite number.")
        votes = count_votes(most_likely_classes(part), C)
        disagreement[rows] = pairwise_disagreement(votes)
        epistemic[rows] = mutual_information(part, averaged[rows])
    return OutputMeasures(
        members=M,
        averaged=averaged,
        answers=most_likely_classes(averaged),
        confidence=prediction_confidence(averaged),
        entropy=entropy(averaged),
        epistemic=epistemic,
        disagreement=disagreement,
    )
