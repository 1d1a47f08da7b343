"""Marks as an ensemble has read them, made from votes that are known beforehand."""

import numpy as np

from ensemble.recognition.occlusion import Occlusion, VerdictFlip
from ensemble.recognition.picture_reading import Digit
from ensemble.recognition.rejection_threshold import RejectedOodSet, RejectionThreshold

THRESHOLD = RejectionThreshold(
    refuse=0.2,
    value=2.0,
    n=5,
    held_out_scores=np.array([0.1, 0.4, 1.9, 2.0, 2.1], np.float32),
    judged_count=200,
    coverage=0.94,
    accuracy=0.99,
    accuracy_all=0.97,
    non_digits=(
        RejectedOodSet("noise", "Noise", 4, 0.75, np.array([1.0, 2.5, 9.0, 7.0], np.float32)),
        RejectedOodSet("letters", "Letters", 2, 1.0, np.array([3.0, 4.0], np.float32)),
    ),
)


def voting(
    *votes: int, sure: float = 0.91, rejected: bool = False, quantile: float = 0.4, epistemic: float = 0.02
) -> Digit:
    """Each member gives `sure` to its vote and the rest to all others alike."""
    members = np.full((len(votes), 10), (1 - sure) / 9, np.float32)
    members[np.arange(len(votes)), votes] = sure
    averaged = members.mean(axis=0, dtype=float)
    score = 3.3 if rejected else 0.7
    return Digit(
        int(averaged.argmax()),
        averaged,
        members,
        members.argmax(axis=1),
        {"epistemic": epistemic},
        score,
        2.0,
        quantile,
        rejected,
        "It is too faint." if rejected else "",
    )


def covered(*flips: tuple[int, int] | None) -> Occlusion:
    """What covering does to members: for each the (side, class) that changes its mind, or None."""
    change = np.random.default_rng(0).uniform(-0.5, 1, (len(flips), 28, 28)).astype(np.float32)
    made = tuple(flip and VerdictFlip((3, 5, 3 + flip[0], 5 + flip[0]), flip[1]) for flip in flips)
    return Occlusion(change, change.mean(axis=0), made, 9)
