"""Intervals with a promise: predicted ones, stretched by how far held-out targets lay outside."""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_quality import check_targets
from ensemble.analysis.quality.conformal import conformal_quantile

LEVEL = 0.95  # of the interval of a share


@dataclass(frozen=True)
class ConformalIntervals:
    """Intervals mean ± factor · σ, with σ² the mixture's variance.

    Attributes:
      level: how often an interval is to hold the target, on average over new examples.
      factor: how many σ; infinite where there were too few examples to calibrate it.
      calibrated_on: examples that set the factor.
      held: the share of other examples whose target lies within.
      low, high: the 95 % interval of that share.
      width: their mean width, in the targets' unit.
    """

    level: float
    factor: float
    calibrated_on: int
    held: float
    low: float
    high: float
    width: float


def fit_conformal_factor(mixture: NormalMixture, targets: Doubles, level: float) -> float:
    """The factor of σ within which that share of new targets lies, whatever is predicted.

    The k-th smallest of |y − μ| / σ over N calibration examples, with k = ⌈(N + 1) · level⌉;
    infinite where k > N. New examples have to be like these.

    Args:
      mixture: predictions for the calibration examples.
      targets: (N,), theirs.
      level: in (0, 1).

    Source: J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani and L. Wasserman, "Distribution-free
    predictive inference for regression", JASA 113 (2018), section 5.2 (locally weighted).
    """
    check_targets(mixture, targets)
    scores = np.abs(targets - mixture.compute_mean()) / np.sqrt(mixture.compute_variance())
    return float(conformal_quantile(scores, 1 - level))


def measure_conformal_intervals(
    mixture: NormalMixture, targets: Doubles, level: float, seed: int = 0
) -> ConformalIntervals:
    """Calibrates on one half of the examples, drawn by the seed, and counts on the other.

    Args:
      mixture: at least two examples.
      targets: (N,).
      level: in (0, 1).
      seed: of the draw.

    Raises:
      ValueError: there is one example alone.
    """
    check_targets(mixture, targets)
    if len(targets) < 2:
        raise ValueError("One example cannot calibrate and be counted.")
    order = np.random.default_rng(seed).permutation(len(targets))
    half = len(targets) // 2
    fitted, counted = np.sort(order[:half]), np.sort(order[half:])
    factor = fit_conformal_factor(mixture.select_examples(fitted), targets[fitted], level)
    rest = mixture.select_examples(counted)
    spread = np.sqrt(rest.compute_variance())
    held = int((np.abs(targets[counted] - rest.compute_mean()) <= factor * spread).sum())
    return ConformalIntervals(
        level,
        factor,
        half,
        held / len(counted),
        *wilson_interval(held, len(counted), level=LEVEL),
        float((2 * factor * spread).mean()),
    )
