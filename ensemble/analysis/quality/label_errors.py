"""Labels that are probably wrong, by the averaged probabilities of members that learned others.

Of two estimates the one that finds fewer wrong labels is used: the likelihood of the labels
(`label_noise.py`) or confident learning (`confident_joint.py`). The first overstates the number if
the ensemble is more confident of mistakes than a temperature can express, the second if examples
could as well be of another class.

Both assume that mistakes depend on the class alone. Mistakes that follow the image, such as a label
that is the second guess of the members too, look like the members' own mistakes: they are found at
the head of the order, but not counted. So the number is a lower bound unless that is ruled out.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.confident_joint import (
    build_joint_noise,
    calibrate_joint,
    compute_joint_interval,
    compute_joint_share,
    count_confident_joint,
    guess_classes,
)
from ensemble.analysis.quality.label_noise import (
    compute_rate_interval,
    estimate_doubt,
    estimate_likelihoods,
    fit_label_noise,
    raise_noise_rate,
    soften,
)

_Bools = NDArray[np.bool_]
_Reckoning = Literal["likelihood", "confident learning"]
# A label's doubt assumes that at least this share of each class is mislabeled: on average 3.3 % are
# in test sets of images (Northcutt, Athalye and Mueller 2021).
LEAST_RATE = 0.01
QUEUE_DOUBT = 0.05  # from which a label is in the queue, even if the ensemble agrees with it
_DRAWS_WITHOUT_ERRORS = 5
_LEAST_QUEUE = 20  # labels in the queue, if as many are contradicted by a member


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """How doubtful N labels of C classes are.

    Attributes:
      by: the estimate that was used, which finds fewer.
      joint: (C, C), how many examples of each label (rows) are confidently of each class.
      share: the share of the labels that is wrong, from 0 to 1, if mistakes depend on the class
        alone; a lower bound if they follow the image.
      low: a lower bound (97.5 %): the lower of both estimates' ends, where that of confident
        learning is lowered by what it counts of labels that are drawn from the predictions.
      high: the upper end, if mistakes depend on the class alone.
      doubt: (N,), the probability of each label to be wrong, above 0, if at least `LEAST_RATE` of
        its class are mislabeled; a lower bound if mistakes follow the image.
      suggested: (N,), the most probable class of each example except its label.
      lowest: (N,), the lowest probability that any member gives the label.
      agreeing: (N,), how many members vote for the label.
      contradicted: (N,), whether the ensemble's class is another than the label.
      disputed: (N,), whether any member votes for another class.
      order: (N,), the numbers of the examples, the most doubtful label first.
    """

    by: _Reckoning
    joint: Ints
    share: float
    low: float
    high: float
    doubt: Floats
    suggested: Ints
    lowest: Floats
    agreeing: Ints
    contradicted: _Bools
    disputed: _Bools
    order: Ints

    @property
    def count(self) -> float:
        """How many labels are wrong, if mistakes depend on the class alone."""
        return self.share * len(self.doubt)

    @property
    def queue(self) -> Ints:
        """The examples to look at, the most doubtful first, however small their doubt.

        All whose doubt is at least `QUEUE_DOUBT` or that the ensemble contradicts; of those that a
        single member contradicts enough to make `_LEAST_QUEUE`.
        """
        asked = (self.doubt >= QUEUE_DOUBT) | self.contradicted
        rest = self.order[(~asked & self.disputed)[self.order]]
        asked[rest[: max(0, _LEAST_QUEUE - int(asked.sum()))]] = True
        queue: Ints = self.order[asked[self.order]]
        return queue

    @property
    def shown_doubt(self) -> Floats:
        """(N,), the doubts scaled down to a mean of `low`: errors that are shown, not assumed."""
        shown: Floats = self.doubt * min(1.0, self.low / float(self.doubt.mean()))
        return shown

    def expect_errors(self, first: int, last: int) -> float:
        """How many labels from place `first` to before `last` of the order are wrong at least."""
        return float(self.shown_doubt[self.order[first:last]].sum())


def find_label_errors(predictions: EnsemblePredictions) -> LabelErrors:
    """Estimate which labels are doubtful, and how many are wrong.

    Args:
      predictions: of M members on N examples that they have not learned from.
    """
    averaged, labels = predictions.averaged, predictions.labels
    guessed, numbers = guess_classes(averaged, labels), np.arange(len(labels))
    joint = count_confident_joint(labels, guessed, averaged.shape[1])
    suggested = np.empty(len(labels), np.int64)
    for rows in iterate_blocks(*averaged.shape):
        others = averaged[rows].copy()
        others[np.arange(len(others)), labels[rows]] = -1
        suggested[rows] = others.argmax(axis=1)
    noise = fit_label_noise(averaged, labels)
    right, wrong = estimate_likelihoods(averaged, labels, noise)
    share = float(estimate_doubt(right, wrong).mean())
    by: _Reckoning = "likelihood"
    kept = np.diag(noise.matrix)[labels]
    low, high = compute_rate_interval(right, wrong, kept, predictions.groups)
    low, high = low * share, min(1.0, high * share)
    calibrated = calibrate_joint(joint, labels)
    by_joint = compute_joint_share(joint, labels)
    joint_low, joint_high = compute_joint_interval(labels, guessed, len(joint), predictions.groups)
    # Confident learning counts some right labels too: as many as of labels that are right.
    ends = low, joint_low - _count_without_errors(averaged, noise.temperature)
    if by_joint < share:
        by, share, high = "confident learning", by_joint, joint_high
        noise = build_joint_noise(calibrated)
    raised = raise_noise_rate(noise, LEAST_RATE)
    doubt = estimate_doubt(*estimate_likelihoods(averaged, labels, raised))
    agreeing = predictions.tallies[numbers, labels].astype(np.int64)
    return LabelErrors(
        by=by,
        joint=joint,
        share=share,
        low=min(max(0.0, min(ends)), share),
        high=max(high, share),
        doubt=doubt,
        suggested=suggested,
        lowest=predictions.probabilities[:, numbers, labels].min(axis=0),
        agreeing=agreeing,
        contradicted=~predictions.right,
        disputed=agreeing < predictions.tallies.sum(axis=1),
        order=np.lexsort((numbers, averaged[numbers, labels], -doubt)),
    )


def _count_without_errors(averaged: Floats, temperature: float) -> float:
    rng, shares = np.random.default_rng(0), []
    for _ in range(_DRAWS_WITHOUT_ERRORS):
        labels = np.empty(len(averaged), np.int64)
        for rows in iterate_blocks(*averaged.shape):
            steps = soften(averaged[rows], temperature).cumsum(axis=1)
            labels[rows] = (rng.random((len(steps), 1)) * steps[:, -1:] > steps).sum(axis=1)
        guessed = guess_classes(averaged, labels)
        joint = count_confident_joint(labels, guessed, averaged.shape[1])
        shares.append(compute_joint_share(joint, labels))
    return float(np.mean(shares))
