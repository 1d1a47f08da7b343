"""What an ensemble says of a picture's marks: digits, their doubts, and the whole number."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.disagreement import mutual_information
from ensemble.analysis.quality.averaging import Floats, average, votes
from ensemble.recognition.novelty import NAMES
from ensemble.recognition.rejection import Rejection, whole_picture

REJECTED = "?"
WHOLE = "Too much on this picture is nothing that I know: it is rejected as a whole."


@dataclass(frozen=True, eq=False)
class Digit:
    """What the ensemble says of one mark.

    Attributes:
      label: the class with the highest averaged probability.
      probabilities: (C,), averaged over the members.
      members: (M, C), each member's own.
      votes: (M,), each member's class.
      information: mutual information in nats: how far the members disagree.
      score: its OOD score, higher for what is less like the digits of training.
      threshold: the rejection threshold: a mark is rejected when its score is above.
      quantile: the share of held-out digits whose score is lower, in [0, 1].
      rejected: whether it is not a digit, or not one that the members know.
      why: which measure decided, as a sentence; empty where it is not rejected.
    """

    label: int
    probabilities: NDArray[np.float64]
    members: NDArray[np.float32]
    votes: NDArray[np.int64]
    information: float
    score: float
    threshold: float
    quantile: float
    rejected: bool
    why: str


@dataclass(frozen=True, eq=False)
class Reading:
    """What the ensemble says of a picture's marks.

    Attributes:
      digits: one for each mark, in reading order.
      text: the classes' names in reading order, "?" where a mark is rejected.
      confidence: in [0, 1], that all classes said are right: the product of their averaged
        probabilities, which takes the digits' errors to have nothing to do with one another.
        Rejected marks are left out; 0 where nothing is said.
      refused: why the whole picture is taken for something else than digits; empty if it is not.
    """

    digits: tuple[Digit, ...]
    text: str
    confidence: float
    refused: str


def make_reading(
    probabilities: NDArray[np.float32],
    measures: Floats,
    rejection: Rejection,
    refuse: float,
    sizes: Floats,
    class_names: Sequence[str],
    named: Sequence[str] = NAMES,
) -> Reading:
    """Everything that is said of N marks, N at least 1.

    Args:
      probabilities: (M, N, C), the members' own.
      measures: (4, N), of `novelty.Known.measures`.
      rejection: the scores of held-out digits, and the threshold on them.
      refuse: the share of real digits that may be rejected, in (0, 1).
      sizes: (N,), the marks' longer sides.
      class_names: C names.
      named: what the measures are called.
    """
    averaged, voted = average(probabilities), votes(probabilities)
    information = mutual_information(probabilities, averaged)
    contributions, threshold = rejection.contributions(measures), rejection.threshold(refuse)
    scores = rejection.scores(measures)
    quantiles, labels = rejection.quantiles(scores), averaged.argmax(axis=-1)
    rejected = scores > threshold
    digits = tuple(
        Digit(
            int(labels[n]), averaged[n], probabilities[:, n], voted[:, n], float(information[n]),
            float(scores[n]), threshold, float(quantiles[n]), bool(rejected[n]),
            _why(contributions[:, n], class_names[labels[n]], named) if rejected[n] else "",
        )
        for n in range(len(labels))
    )  # fmt: skip
    texts = [REJECTED if one.rejected else class_names[one.label] for one in digits]
    said = averaged.max(axis=-1)[~rejected]
    confidence = float(said.prod()) if len(said) else 0.0
    joint = "" if max(map(len, class_names)) == 1 else " "
    refused = WHOLE if whole_picture(rejected, sizes) else ""
    return Reading(digits, joint.join(texts), confidence, refused)


def _why(contributions: Floats, name: str, measures: Sequence[str]) -> str:
    """The measure that makes most of the score, in words."""
    return {
        "decision": "The members cannot decide what it is.",
        "picture": f"It looks most like “{name}”, but unlike those that the members learnt from.",
        "form": f"Its form comes nearest to “{name}”, but to none that the members learnt from.",
        "strokes": f"Its strokes, loops or gaps are not those of “{name}”.",
        "texture": f"Its light, colours or texture are not those of “{name}”.",
    }[measures[int(np.argmax(contributions))]]
