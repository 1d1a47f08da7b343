"""What chance alone makes of the expected calibration error (ECE), and how well it is known."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, estimate_design_effect
from ensemble.analysis.inference.poisson_binomial import poisson_binomial_distribution
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats
from ensemble.analysis.quality.calibration import BINS, ReliabilityBins, expected_calibration_error, reliability_bins

_SIMULATED_DRAWS = 1_000


@dataclass(frozen=True)
class CalibrationErrorEstimate:
    """The ECE of N answers, and what it would be were each right as often as it says.

    Attributes:
      n: N.
      ece: the one measured, in [0, 1].
      low: the lower end of its 95 % interval.
      high: the upper end.
      chance: the mean of what perfectly calibrated answers, as sure as these, would show.
      chance_low: the lower end of the central 95 % of that.
      chance_high: the upper end.
    """

    n: int
    ece: float
    low: float
    high: float
    chance: float
    chance_low: float
    chance_high: float


def estimate_calibration_error(
    confidence: Floats, right: NDArray[np.bool_], bins: int = BINS, seed: int = 0, groups: Groups | None = None
) -> CalibrationErrorEstimate:
    """The ECE with its 95 % interval, and beside it what chance alone gives.

    The interval is of Σ_b n_b / N · |true accuracy of bin b − its mean confidence|, with the
    confidences and bins taken as given. A bootstrap over examples would be none: chance makes the
    measured error larger than the true one, and a resample makes it larger still. Here each end
    holds by itself:

    - Low: the measured error is at most the true one plus Σ n_b / N · |noise_b|, so the true one
      is at least what is left of it after the 97.5 % quantile of that sum. It is simulated, with
      each bin's accuracy as measured (half an answer added to either side) and with its mean
      confidence; the larger of the two counts. Where the true error is large this end is lower
      than it has to be.
    - High: the true error is at most the measured one plus Σ ± n_b / N · noise_b with the signs of
      the true gaps, which are no matter of chance. The end of such a sum of independent shares is
      put together of their own Wilson intervals, in quadrature.

    Where answers belong together there are as many as the groups are worth: each bin's noise grows
    by the root of the design effect of the answers right, around the accuracy of their bin.

    Args:
      confidence: (N,), in [0, 1].
      right: (N,), where the answer was right.
      bins: B, at least 1.
      seed: of the simulated draws.
      groups: (N,), which answers belong together; None where all are independent.

    Raises:
      ValueError: there is no example, or the shapes differ.

    Source: the triangle inequality, either way; quadrature of intervals is G. Y. Zou and
    A. Donner, "Construction of confidence limits about effect measures: a general approach",
    Statistics in Medicine 27 (2008), 1693-1702; on the bias R. Roelofs and others, "Mitigating
    bias in calibration error estimation", AISTATS 2022.
    """
    reliability = reliability_bins(confidence, right, bins)
    effect = 1.0
    if groups is not None:
        within = _assign_confidence_bins(confidence, bins)
        effect = estimate_design_effect(right, reliability.accuracy[within], groups)
    widening = math.sqrt(effect)
    by_chance = widening * simulate_chance_calibration_errors(confidence, bins, seed)
    as_measured = widening * _simulate_bin_noise(reliability, seed)
    noise = max(np.quantile(by_chance, 0.975), np.quantile(as_measured, 0.975))
    ece = expected_calibration_error(confidence, right, bins)
    ends = np.quantile(by_chance, [0.025, 0.975])
    return CalibrationErrorEstimate(
        n=len(confidence),
        ece=ece,
        low=max(0.0, float(ece - noise)),
        high=min(1.0, ece + _upper_error_margin(reliability, effect)),
        chance=float(by_chance.mean()),
        chance_low=float(ends[0]),
        chance_high=float(ends[1]),
    )


def estimate_ensemble_calibration_error(predictions: EnsemblePredictions) -> CalibrationErrorEstimate:
    """The ensemble's ECE, its interval, and what chance alone gives."""
    return estimate_calibration_error(predictions.confidence, predictions.right, groups=predictions.groups)


def simulate_chance_calibration_errors(
    confidence: Floats, bins: int = BINS, seed: int = 0, draws: int = _SIMULATED_DRAWS
) -> NDArray[np.float64]:
    """The ECE of simulated answers that are right with exactly the confidence they have.

    Only how many of a bin are right matters to it, so that number is drawn rather than each
    answer: of its exact (Poisson binomial) law, which is the same and a hundred times faster.

    Args:
      confidence: (N,), in [0, 1].
      bins: B, at least 1.
      seed: of the draws.
      draws: D, how many.

    Returns:
      (D,), each in [0, 1].

    Raises:
      ValueError: there is no example.

    Source: J. Bröcker and L. A. Smith, "Increasing the reliability of reliability diagrams",
    Weather and Forecasting 22 (2007), 651-661 (consistency resampling).
    """
    sure = np.clip(confidence.astype(np.float64), 0.0, 1.0)  # a sum of shares may round above 1
    within = _assign_confidence_bins(confidence, bins)
    rng = np.random.default_rng(seed)
    total = np.zeros(draws)
    for b in np.unique(within):
        inside = sure[within == b]
        below = poisson_binomial_distribution(inside).cumsum()
        hits = np.searchsorted(below, rng.random(draws) * below[-1], side="right")
        total += np.abs(hits - inside.sum())
    return np.asarray(total / len(sure))


def _simulate_bin_noise(bins: ReliabilityBins, seed: int) -> NDArray[np.float64]:
    """Draws of Σ_b n_b / N · |noise_b|, were the accuracy of each bin about as measured."""
    count, hits = _nonempty_bin_counts(bins)
    likely = (hits + 0.5) / (count + 1)
    drawn = np.random.default_rng(seed).binomial(count, likely, (_SIMULATED_DRAWS, len(count)))
    return np.asarray(np.abs(drawn - count * likely).sum(axis=1) / count.sum())


def _upper_error_margin(bins: ReliabilityBins, effect: float) -> float:
    """How far Σ_b ± n_b / N · accuracy_b may lie above what was measured, whatever the signs."""
    count, hits = _nonempty_bin_counts(bins)
    share, worth = hits / count, np.maximum(1.0, count / effect)
    ends = np.array([wilson_interval(p * n, n) for p, n in zip(share, worth, strict=True)])
    half = np.maximum(ends[:, 1] - share, share - ends[:, 0])
    return float(np.sqrt(((count * half) ** 2).sum()) / count.sum())


def _nonempty_bin_counts(bins: ReliabilityBins) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    filled = bins.count > 0
    count = bins.count[filled]
    return count, np.rint(bins.accuracy[filled] * count).astype(np.int64)


def _assign_confidence_bins(confidence: Floats, bins: int) -> NDArray[np.int64]:
    """The bin of `reliability_bins` that each confidence is in, (N,)."""
    if not len(confidence):
        raise ValueError("0 confidences are no answers.")
    return np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidence, side="left")
