"""Labels that are probably wrong, by the averaged probabilities of members that learnt others.

What an ensemble is sure of need not be so: of two reckonings the one that finds fewer wrong labels
is taken, the likelihood of the labels (`label_noise.py`) or confident learning
(`confident_joint.py`). The one overstates where the ensemble is surer of mistakes than a
temperature can say, the other where examples might as well be of another class.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.confident_joint import (
    build_joint_noise,
    calibrate_joint,
    compute_joint_interval,
    count_confident_joint,
    guess_classes,
)
from ensemble.analysis.quality.label_noise import (
    compute_rate_interval,
    estimate_doubt,
    estimate_likelihoods,
    fit_label_noise,
)

Reckoning = Literal["likelihood", "confident learning"]


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """What can be said of N labels of C classes.

    Attributes:
      by: the reckoning that was taken, which finds fewer.
      joint: (C, C), how many examples of each label (rows) are confidently of each class.
      share: the share of the labels that are wrong, from 0 to 1.
      low: the lower end of its 95 % interval.
      high: the upper end.
      doubt: (N,), the probability of each label to be wrong, from 0 to 1.
      suggested: (N,), the most probable class of each example but for its label.
      lowest: (N,), the lowest probability that any member gives the label.
      agreeing: (N,), how many members vote for the label.
      order: (N,), the numbers of the examples, the most doubtful label first.
    """

    by: Reckoning
    joint: Ints
    share: float
    low: float
    high: float
    doubt: Floats
    suggested: Ints
    lowest: Floats
    agreeing: Ints
    order: Ints

    @property
    def count(self) -> float:
        """How many labels are wrong, about."""
        return self.share * len(self.doubt)

    def expect_errors(self, first: int, last: int) -> float:
        """How many of the examples from place `first` to before `last` of the order are wrong."""
        return float(self.doubt[self.order[first:last]].sum())


def find_label_errors(predictions: EnsemblePredictions) -> LabelErrors:
    """Which labels are doubtful, and how many are wrong.

    Args:
      predictions: of M members on N examples, which they have not learnt.
    """
    averaged, labels = predictions.averaged, predictions.labels
    guessed, numbers = guess_classes(averaged, labels), np.arange(len(labels))
    joint = count_confident_joint(labels, guessed, averaged.shape[1])
    suggested = np.empty(len(labels), np.int64)
    for rows in iterate_blocks(*averaged.shape):
        others = averaged[rows].copy()
        others[np.arange(len(others)), labels[rows]] = -1
        suggested[rows] = others.argmax(axis=1)
    share, low, high, doubt = _reckon_by_likelihood(predictions)
    by: Reckoning = "likelihood"
    calibrated = calibrate_joint(joint, labels)
    by_joint = float(1 - np.trace(calibrated) / len(labels))
    if by_joint < share:
        by, share = "confident learning", by_joint
        low, high = compute_joint_interval(labels, guessed, len(joint), predictions.groups)
        noise = build_joint_noise(calibrated)
        doubt = estimate_doubt(*estimate_likelihoods(averaged, labels, noise))
    return LabelErrors(
        by,
        joint,
        share,
        min(low, share),
        max(high, share),
        doubt,
        suggested,
        predictions.probabilities[:, numbers, labels].min(axis=0),
        predictions.tallies[numbers, labels].astype(np.int64),
        np.lexsort((numbers, averaged[numbers, labels], -doubt)),
    )


def _reckon_by_likelihood(predictions: EnsemblePredictions) -> tuple[float, float, float, Floats]:
    """The share of wrong labels, both ends of its interval, and each label's doubt (N,)."""
    labels = predictions.labels
    noise = fit_label_noise(predictions.averaged, labels)
    right, wrong = estimate_likelihoods(predictions.averaged, labels, noise)
    doubt = estimate_doubt(right, wrong)
    share = float(doubt.mean())
    kept = np.diag(noise.matrix)[labels]
    low, high = compute_rate_interval(right, wrong, kept, predictions.groups)
    return share, low * share, min(1.0, high * share), doubt
