"""What an ensemble says of a picture's marks: digits, their doubts, and the whole number."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.example_measures import MemberOutputs, compute_measures
from ensemble.analysis.quality.averaging import Floats, most_likely_classes
from ensemble.recognition.rejection import (
    Rejection,
    find_enclosing_marks,
    find_judging_marks,
    has_too_many_rejected_marks,
    score_extra_loops,
    score_missing_paper,
)

_REJECTED_TEXT = "?"
PAPER_SIGN, LOOPS_SIGN = ("paper", "loops")  # signs that no image of a dataset has, only a mark in a picture
PICTURE_REJECTED_SENTENCE = "Too much on this picture is nothing that I know: it is rejected as a whole."


@dataclass(frozen=True, eq=False)
class Digit:
    """What the ensemble says of one mark.

    Attributes:
      label: the class with the highest averaged probability.
      probabilities: (C,), averaged over the members.
      members: (M, C), each member's own.
      votes: (M,), each member's class.
      measures: each of the `EXAMPLE_MEASURES` by its name.
      score: its OOD score, higher for what is less like the digits of training.
      threshold: the rejection threshold: a mark is rejected when its score is above.
      quantile: the share of held-out digits whose score is lower, in [0, 1].
      rejected: whether it is not a digit, or not one that the members know.
      rejection_reason: which sign decided, as a sentence; empty where it is not rejected.
      signs: what each sign adds to the score, in nats, by its name. Of a mark that was cut from
        one piece of ink with others they are those of the strangest of these.
    """

    label: int
    probabilities: NDArray[np.float64]
    members: NDArray[np.float32]
    votes: NDArray[np.int64]
    measures: dict[str, float]
    score: float
    threshold: float
    quantile: float
    rejected: bool
    rejection_reason: str
    signs: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class MarkPlacement:
    """Where N marks are in their picture, and what is around them.

    Attributes:
      boxes: (N, 4) left, top, right, bottom.
      pieces: (N,), the number of the piece of ink that each was cut from; -1: of its own.
      ground: (N,), how much around each is neither ink nor bare paper, in [0, 1].
      loops: (N,), how many places each goes around.
    """

    boxes: NDArray[np.int64]
    pieces: NDArray[np.int64]
    ground: NDArray[np.float64]
    loops: NDArray[np.int64]

    @classmethod
    def uniform(cls, count: int) -> "MarkPlacement":
        """Of marks that come from no picture: of one size, beside one another, on paper."""
        left = 2 * np.arange(count)
        boxes = np.stack([left, 0 * left, left + 1, 0 * left + 1], axis=1)
        return cls(boxes, np.full(count, -1), np.zeros(count), np.zeros(count, np.int64))

    @property
    def longer_sides(self) -> NDArray[np.float64]:
        """(N,), the marks' longer sides."""
        return (self.boxes[:, 2:] - self.boxes[:, :2]).max(axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Reading:
    """What the ensemble says of a picture's marks.

    Attributes:
      digits: one for each mark, in reading order.
      text: the classes' names in reading order, "?" where a mark is rejected.
      confidence: in [0, 1], that all classes said are right: the product of their averaged
        probabilities, which takes the digits' errors to have nothing to do with one another.
        Rejected marks are left out; 0 where nothing is said.
      picture_rejection: why the whole picture is taken for something else than digits; empty if it
        is not.
    """

    digits: tuple[Digit, ...]
    text: str
    confidence: float
    picture_rejection: str


def build_reading(
    probabilities: NDArray[np.float32],
    measures: Floats,
    rejection: Rejection,
    refuse: float,
    places: MarkPlacement,
    class_names: Sequence[str],
    named: Sequence[str],
) -> Reading:
    """Everything that is said of N marks, N at least 1.

    Args:
      probabilities: (M, N, C), the members' own.
      measures: (K, N), of `NoveltyJudge.compute_measures`.
      rejection: the scores of held-out digits, and the threshold on them.
      refuse: the share of real digits that may be rejected, in (0, 1).
      places: where the marks are.
      class_names: C names.
      named: what the K measures are called.
    """
    outputs = MemberOutputs(probabilities)
    averaged, voted = outputs.averaged, most_likely_classes(probabilities)
    example_measures = compute_measures(outputs)
    threshold = rejection.compute_threshold(refuse)
    mark_signs = np.stack([score_missing_paper(places.ground), score_extra_loops(places.loops)])
    signs = np.concatenate([rejection.compute_contributions(measures), mark_signs])
    own, named = signs.sum(axis=0), (*named, PAPER_SIGN, LOOPS_SIGN)
    judged = find_judging_marks(own, places.pieces)
    scores = own[judged]
    quantiles, labels = rejection.compute_quantiles(scores), averaged.argmax(axis=-1)
    rejected = scores > threshold
    why = [
        _explain_rejection(signs[:, n], class_names[labels[n]], named, own[n] > threshold) if rejected[n] else ""
        for n in range(len(labels))
    ]
    digits = tuple(
        Digit(
            label=int(labels[n]),
            probabilities=averaged[n],
            members=probabilities[:, n],
            votes=voted[:, n],
            measures={name: float(values[n]) for name, values in example_measures.items()},
            score=float(scores[n]),
            threshold=threshold,
            quantile=float(quantiles[n]),
            rejected=bool(rejected[n]),
            rejection_reason=why[n],
            signs=dict(zip(named, signs[:, judged[n]].tolist(), strict=True)),
        )
        for n in range(len(labels))
    )
    texts = [_REJECTED_TEXT if digit.rejected else class_names[digit.label] for digit in digits]
    confidences = averaged.max(axis=-1)[~rejected]
    confidence = float(confidences.prod()) if len(confidences) else 0.0
    joint = "" if max(map(len, class_names)) == 1 else " "
    against = rejected | find_enclosing_marks(places.boxes, rejected)
    refused = PICTURE_REJECTED_SENTENCE if has_too_many_rejected_marks(against, places.longer_sides) else ""
    return Reading(digits, joint.join(texts), confidence, refused)


def _explain_rejection(signs: Floats, name: str, named: Sequence[str], itself: bool) -> str:
    if not itself:
        return "It hangs together with what is nothing that the members learnt."
    return {
        "decision": "The members cannot decide what it is.",
        "energy": "The members cannot decide what it is: they feel little of any class in it.",
        "features": f"It comes nearest to “{name}”, but the members see in it what none has.",
        "picture": f"It looks most like “{name}”, but unlike those that the members learnt from.",
        "form": f"Its form comes nearest to “{name}”, but to none that the members learnt from.",
        "strokes": f"Its strokes, loops or gaps are not those of “{name}”.",
        "texture": f"Its light, colours or texture are not those of “{name}”.",
        LOOPS_SIGN: "It has more loops than any digit has.",
        PAPER_SIGN: "It is on no paper: what is around it is a part of a photograph.",
    }[named[int(np.argmax(signs))]]
