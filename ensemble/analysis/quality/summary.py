"""How good probabilities are: accuracy, proper scores and calibration in one value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ensemble.analysis.inference.intervals import wilson
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Floats, Ints, confidence, votes
from ensemble.analysis.quality.calibration import adaptive_error, expected_error, maximum_error
from ensemble.analysis.quality.scores import brier_score, log_loss


@dataclass(frozen=True)
class Quality:
    """The figures of one classifier on N labelled examples.

    Attributes:
      n: N.
      accuracy: the share that is right, in [0, 1].
      low: the lower end of Wilson's 95 % interval of it.
      high: the upper end.
      nll: the mean negative log-likelihood in nats, at least 0.
      brier: the mean Brier score, in [0, 2].
      ece: the expected calibration error, in [0, 1].
      adaptive_ece: the same over bins of equal count.
      mce: the maximum calibration error, in [0, 1].
    """

    n: int
    accuracy: float
    low: float
    high: float
    nll: float
    brier: float
    ece: float
    adaptive_ece: float
    mce: float


@dataclass(frozen=True)
class Qualities:
    """The quality of the ensemble, of each of its M members, and the mean of the members'."""

    ensemble: Quality
    members: tuple[Quality, ...]
    mean: Quality


def quality(probabilities: Floats, labels: Ints) -> Quality:
    """All figures of one classifier; a probability below `scores.TINY` counts as that in NLL.

    Args:
      probabilities: (N, C), each row a distribution.
      labels: (N,), class numbers in [0, C).

    Raises:
      ValueError: there is no example.
    """
    sure = confidence(probabilities).astype(np.float64)
    right = votes(probabilities) == labels
    n, count = len(labels), int(right.sum())
    low, high = wilson(count, n)
    return Quality(
        n=n,
        accuracy=count / n,
        low=low,
        high=high,
        nll=float(log_loss(probabilities, labels).mean()),
        brier=float(brier_score(probabilities, labels).mean()),
        ece=expected_error(sure, right),
        adaptive_ece=adaptive_error(sure, right),
        mce=maximum_error(sure, right),
    )


def mean_quality(members: Sequence[Quality]) -> Quality:
    """The mean of each figure, and Wilson's interval of the mean accuracy.

    That interval is as wide as one member's: it tells how well N examples know an accuracy
    like this, not how much members differ.

    Args:
      members: at least one, all on the same N examples.

    Raises:
      ValueError: there is none, or they are of different examples.
    """
    n = {member.n for member in members}
    if len(n) != 1:
        raise ValueError("The mean is of at least one, all on the same examples.")
    (examples,) = n

    def mean(name: str) -> float:
        return float(np.mean([getattr(member, name) for member in members]))

    accuracy = mean("accuracy")
    low, high = wilson(accuracy * examples, examples)
    figures = {name: mean(name) for name in ("nll", "brier", "ece", "adaptive_ece", "mce")}
    return Quality(n=examples, accuracy=accuracy, low=low, high=high, **figures)


def qualities(made: Predictions) -> Qualities:
    """The quality of the ensemble, of each member, and the members' mean."""
    members = tuple(quality(member, made.labels) for member in made.probabilities)
    return Qualities(quality(made.averaged, made.labels), members, mean_quality(members))
