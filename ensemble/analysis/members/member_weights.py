"""Weights of the members, fitted so that their weighted mean has the least NLL."""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.proper_scores import label_probability

NLL_TOLERANCE = 1e-6  # nats that the fitted weights' NLL may be above the least there is
_MAX_MEMBERS_TOLERANCE = 64  # members; with more it takes minutes to come as near, so:
_NLL_TOLERANCE_LARGE = 1e-4
_MAX_ROUNDS = 5_000
_MAX_STRIDE = 1e6  # times a step; a nearly straight path would ask for any length


def fit_member_weights(probabilities: Floats, labels: Ints) -> NDArray[np.float64]:
    """The weights of the members with which the weighted mean has the least NLL.

    EM for the weights of a mixture whose parts are known: each member's share of the label's
    probability, averaged over the examples, is its next weight. Two such steps tell where
    they lead, and a leap that way is kept if it lowers the NLL. The NLL is convex in the
    weights and no further above its least than the largest growth of a weight in a step, less
    1: it ends when that is within `NLL_TOLERANCE` (1e-6 nats; 1e-4 with more than 64 members), or after
    `_MAX_ROUNDS` (5,000). Members that say the same get the same weight.

    Args:
      probabilities: (M, N, C), each row of C a distribution; less than `MIN_PROBABILITY` counts as it.
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
    return fit_mixture_weights(np.stack([label_probability(member, labels) for member in probabilities]))


def fit_mixture_weights(label_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """As `fit_member_weights`, from what each member gave the label, (M, N).

    Raises:
      ValueError: there is no example.
    """
    if not label_probabilities.shape[1]:
        raise ValueError("Weights need at least one example to be fitted on.")
    weights = np.full(len(label_probabilities), 1 / len(label_probabilities))
    tolerance = NLL_TOLERANCE if len(weights) <= _MAX_MEMBERS_TOLERANCE else _NLL_TOLERANCE_LARGE
    for _ in range(_MAX_ROUNDS):
        once, excess, _ = _em_step(weights, label_probabilities)
        if excess <= tolerance:
            break
        twice, _, nll = _em_step(once, label_probabilities)
        landed, _, nll_ahead = _em_step(_extrapolate_weights(weights, once, twice), label_probabilities)
        weights = landed if nll_ahead <= nll else twice
    return weights


def _em_step(
    weight: NDArray[np.float64], label_probabilities: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float]:
    """The next weights (M,); of these, how far above the least NLL at most, and the NLL."""
    mixed = weight @ label_probabilities
    growth = label_probabilities @ (1 / mixed) / len(mixed)
    grown = weight * growth
    return grown / grown.sum(), float(growth.max() - 1), float(-np.log(mixed).mean())


def _extrapolate_weights(
    start: NDArray[np.float64], once: NDArray[np.float64], twice: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where two steps lead: as far along their parabola as no weight is below 0."""
    along, bend = once - start, twice - 2 * once + start
    curved = float(np.linalg.norm(bend))
    stride = min(float(np.linalg.norm(along)) / curved, _MAX_STRIDE) if curved else 1.0
    while stride > 1.001:  # A stride of 1 ends at `twice`.
        ahead = start + 2 * stride * along + stride**2 * bend
        if (ahead >= 0).all():
            # A long stride also stretches what rounding left of the sum.
            return ahead / ahead.sum()
        stride = (stride + 1) / 2
    return twice
