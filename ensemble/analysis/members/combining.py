"""Other ways than the mean to make one answer of M: geometric mean, majority, fitted weights."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.averaging import Floats, Ints, votes
from ensemble.analysis.quality.calibration import adaptive_error, expected_error, maximum_error
from ensemble.analysis.quality.halves import halves
from ensemble.analysis.quality.intervals import wilson
from ensemble.analysis.quality.scores import TINY, at_label
from ensemble.analysis.quality.summary import Quality, quality

CLOSE = 1e-6  # nats that the fitted weights' NLL may be above the least there is
ROUNDS = 5_000
LONGEST = 1e6  # times a step; a nearly straight path would ask for any length


@dataclass(frozen=True, eq=False)
class Combination:
    """What one way of combining gives.

    Attributes:
      quality: its figures on the half that nothing was fitted on.
      said: (N,), its class for every example.
      changed: the numbers of the examples, of all N and rising, where it says something else
        than the arithmetic mean.
    """

    quality: Quality
    said: Ints
    changed: Ints


@dataclass(frozen=True, eq=False)
class Combined:
    """Four ways of combining, side by side, all judged on the same half of the examples.

    Attributes:
      arithmetic: the mean of the probabilities: what the ensemble says everywhere else.
      geometric: the normalised mean of their logarithms.
      majority: the class that most members vote for; its probabilities are vote shares.
      weighted: the mean with `weights`.
      weights: (M,), at least 0, they sum to 1; fitted on the other half.
      judged: (N,), the half that the quality is of; `halves.halves` made it.
    """

    arithmetic: Combination
    geometric: Combination
    majority: Combination
    weighted: Combination
    weights: NDArray[np.float64]
    judged: NDArray[np.bool_]


def geometric(probabilities: Floats) -> NDArray[np.float64]:
    """The geometric mean over members, normalised: p_c ∝ Π_m p_mc^(1/M).

    The mean of the members' logits, after a softmax. A probability below `scores.TINY` counts
    as that, so that one member's 0 is not a veto of unbounded weight.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Returns:
      (N, C), each row a distribution.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 5 (the
    product rule); the logarithmic opinion pool.
    """
    total = np.zeros(probabilities.shape[1:])
    for member in probabilities:
        total += np.log(np.maximum(member.astype(np.float64), TINY))
    total /= len(probabilities)
    powers = np.exp(total - total.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def majority(tallies: Ints, averaged: Floats) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The class with the most votes; of equal ones the one with the larger averaged probability.

    Args:
      tallies: (N, C) votes for each class, from `averaging.tally`; rows sum to M.
      averaged: (N, C), from `averaging.average`; where it is equal too, the lower class.

    Returns:
      said (N,), class numbers; shares (N, C), the share of the votes as a probability.

    Source: L. I. Kuncheva, "Combining Pattern Classifiers", 2nd ed. (2014), ch. 4 (majority,
    here plurality, vote).
    """
    leading = tallies == tallies.max(axis=1, keepdims=True)
    said = np.where(leading, averaged, -1.0).argmax(axis=1)
    return said, tallies / tallies.sum(axis=1, keepdims=True)


def weights(probabilities: Floats, labels: Ints) -> NDArray[np.float64]:
    """The weights of the members with which the weighted mean has the least NLL.

    EM for the weights of a mixture whose parts are known: each member's share of the label's
    probability, averaged over the examples, is its next weight. Two such steps tell where
    they lead, and a leap that way is kept if it lowers the NLL. The NLL is convex in the
    weights and no further above its least than the largest growth of a weight in a step, less
    1: it ends when that is within CLOSE (1e-6 nats), or after ROUNDS (5,000). Members that
    say the same get the same weight.

    Args:
      probabilities: (M, N, C), each row of C a distribution; below `scores.TINY` counts as it.
      labels: (N,), class numbers in [0, C).

    Returns:
      (M,), at least 0; they sum to 1.

    Raises:
      ValueError: there is no example.

    Source: A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum likelihood from incomplete
    data via the EM algorithm", JRSS B 39 (1977), 1-38, sec. 4.3; the leap is R. Varadhan and
    C. Roland, "Simple and globally convergent methods for accelerating the convergence of any
    EM algorithm", Scandinavian Journal of Statistics 35 (2008), 335-353.
    """
    if not len(labels):
        raise ValueError("Weights need at least one example to be fitted on.")
    known = np.stack([at_label(member, labels) for member in probabilities])
    found = np.full(len(known), 1 / len(known))
    for _ in range(ROUNDS):
        once, excess, _ = _em_step(found, known)
        if excess <= CLOSE:
            break
        twice, _, nll = _em_step(once, known)
        landed, _, nll_ahead = _em_step(_leap(found, once, twice), known)
        found = landed if nll_ahead <= nll else twice
    return found


def compare(made: Predictions) -> Combined:
    """All four ways; the weights are fitted on one half, every quality is of the other.

    Raises:
      ValueError: there are fewer than two examples.
    """
    fitted, judged = halves(made.labels)
    fit = weights(made.probabilities[:, fitted], made.labels[fitted])
    weighted = np.zeros(made.averaged.shape)
    for weight, member in zip(fit, made.probabilities, strict=True):
        weighted += weight * member.astype(np.float64)
    said, shares = majority(made.tallies, made.averaged)

    def combination(distributions: Floats) -> Combination:
        told = votes(distributions)
        figures = quality(distributions[judged], made.labels[judged])
        return Combination(figures, told, np.flatnonzero(told != made.said))

    voted = _quality_of_votes(shares[judged], said[judged], made.labels[judged])
    return Combined(
        arithmetic=combination(made.averaged),
        geometric=combination(geometric(made.probabilities)),
        majority=Combination(voted, said, np.flatnonzero(said != made.said)),
        weighted=combination(weighted),
        weights=fit,
        judged=judged,
    )


def _quality_of_votes(shares: Floats, said: Ints, labels: Ints) -> Quality:
    """As `quality`, but for what was said after ties were decided, which shares do not show."""
    right = said == labels
    sure = shares.max(axis=1)
    low, high = wilson(int(right.sum()), len(labels))
    return replace(
        quality(shares, labels),
        accuracy=int(right.sum()) / len(labels),
        low=low,
        high=high,
        ece=expected_error(sure, right),
        adaptive_ece=adaptive_error(sure, right),
        mce=maximum_error(sure, right),
    )


def _em_step(
    weight: NDArray[np.float64], known: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float]:
    """The next weights (M,); of these, how far above the least NLL at most, and the NLL."""
    mixed = weight @ known
    growth = known @ (1 / mixed) / len(mixed)
    grown = weight * growth
    return grown / grown.sum(), float(growth.max() - 1), float(-np.log(mixed).mean())


def _leap(
    start: NDArray[np.float64], once: NDArray[np.float64], twice: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where two steps lead: as far along their parabola as no weight is below 0."""
    along, bend = once - start, twice - 2 * once + start
    curved = float(np.linalg.norm(bend))
    stride = min(float(np.linalg.norm(along)) / curved, LONGEST) if curved else 1.0
    while stride > 1.001:  # A stride of 1 ends at `twice`.
        ahead = start + 2 * stride * along + stride**2 * bend
        if (ahead >= 0).all():
            return (
                ahead / ahead.sum()
            )  # A long stride also stretches what rounding left of the sum.
        stride = (stride + 1) / 2
    return twice
