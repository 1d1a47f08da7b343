"""Whether an ensemble is better or worse calibrated than its members, on the same examples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, grouped_mean_interval
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.calibration import BINS

_RESAMPLES = 400
_MAX_RESAMPLED_MEMBERS = 64  # whose errors vary from resample to resample as the mean of all does, or a little more
LEVEL = 0.95


@dataclass(frozen=True)
class EceGain:
    """The ensemble's calibration error against the mean of its members'. Positive is worse.

    Attributes:
      ensemble: its expected calibration error (ECE), in [0, 1].
      members: the mean of the members'.
      low: the lower end of the 95 % interval of ensemble − members.
      high: the upper end.
      overconfidence_low: the lower end of the 95 % interval of the ensemble's mean confidence − its
        accuracy: below 0 it is less sure than it is right.
      overconfidence_high: the upper end.
    """

    ensemble: float
    members: float
    low: float
    high: float
    overconfidence_low: float
    overconfidence_high: float

    @property
    def ece_sign(self) -> int:
        """1 where the ensemble's ECE is shown to be lower, −1 where higher, 0 where neither."""
        return int(self.high < 0) - int(self.low > 0)

    @property
    def overconfidence_sign(self) -> int:
        """1 where it is shown to be surer than it is right, −1 where less sure, else 0."""
        return int(self.overconfidence_low > 0) - int(self.overconfidence_high < 0)


def estimate_ece_gain(predictions: EnsemblePredictions, seed: int = 0) -> EceGain:
    """The ensemble's ECE against its members', by paired bootstrap.

    Each resample is of the same examples for all, of whole groups where some belong together. An
    ECE is never below 0 and so leans upwards,
    the more the more bins its confidences are spread over. The interval's ends are therefore the
    outer ones of the percentile and the basic bootstrap, and are moved out by as much as chance
    alone would set the two apart if all were perfectly calibrated. With equal true errors,
    simulated on 500 and 10,000 examples, it leaves 0 out in at most 4.3 % of draws; without that
    in up to 15 %.

    Args:
      predictions: the predictions.
      seed: of the bootstrap's draws.

    Source: A. C. Davison and D. V. Hinkley, "Bootstrap methods and their application", 1997,
    ch. 5 (percentile and basic intervals).
    """
    rights = predictions.votes == predictions.labels
    members = list(zip(predictions.member_confidence, rights, strict=True))
    return estimate_ece_difference(predictions.confidence, predictions.right, members, predictions.groups, seed)


def estimate_ece_difference(
    confidence: NDArray[np.floating],
    right: NDArray[np.bool_],
    others: Sequence[tuple[NDArray[np.floating], NDArray[np.bool_]]],
    groups: Groups | None = None,
    seed: int = 0,
) -> EceGain:
    """One classifier's ECE against the mean of others', as `estimate_ece_gain` has it.

    Args:
      confidence: (N,), the largest probability of each example, of the one.
      right: (N,), where it is right.
      others: the same of each of the others, on the same examples; they stand as `members`.
      groups: (N,), which examples belong together; None where all are independent.
      seed: of the bootstrap's draws.
    """
    n = len(right)
    draws = np.random.default_rng(seed)
    counts = np.empty((_RESAMPLES, n), np.float32)
    units = n if groups is None else int(groups.max()) + 1
    for row in counts:
        drawn_units = np.bincount(draws.integers(units, size=units), minlength=units)
        row[:] = drawn_units if groups is None else drawn_units[groups]
    own_ece, drawn = _resampled_ece(confidence, right, counts)
    mean, each, lean = 0.0, np.zeros(_RESAMPLES), _expected_chance_ece(confidence)
    drawn_count = min(len(others), _MAX_RESAMPLED_MEMBERS)
    drawn_members = set(np.linspace(0, len(others) - 1, drawn_count).round().astype(int).tolist())
    shift = 0.0  # the mean of all less that of the drawn ones
    for member, (other_confidence, other_right) in enumerate(others):
        is_drawn = member in drawn_members
        other_ece, resampled = _resampled_ece(other_confidence, other_right, counts if is_drawn else counts[:0])
        mean += other_ece / len(others)
        if is_drawn:
            each += resampled / drawn_count
        shift += other_ece / len(others) - is_drawn * other_ece / drawn_count
        lean -= _expected_chance_ece(other_confidence) / len(others)
    each += shift if drawn_count < len(others) else 0.0
    tails = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    low, high = (float(end) for end in np.quantile(drawn - each, tails))
    apart = own_ece - mean
    surer = confidence.astype(np.float64) - right
    surer_low, surer_high = grouped_mean_interval(surer, groups, LEVEL, bound=1.0)
    return EceGain(
        ensemble=own_ece,
        members=mean,
        low=min(low, 2 * apart - high) - max(lean, 0.0),
        high=max(high, 2 * apart - low) - min(lean, 0.0),
        overconfidence_low=surer_low,
        overconfidence_high=surer_high,
    )


def _resampled_ece(
    confidence: NDArray[np.floating], right: NDArray[np.bool_], counts: NDArray[np.float32]
) -> tuple[float, NDArray[np.float64]]:
    """The ECE of N examples, and (R,) of resamples that hold each so many times: (R, N)."""
    n, within = len(right), _assign_ece_bins(confidence)
    gaps = np.zeros((n, BINS), np.float32)
    gaps[np.arange(n), within] = right - confidence
    exact = np.bincount(within, right - confidence.astype(np.float64), minlength=BINS)
    sums = (counts @ gaps).astype(np.float64)
    return float(np.abs(exact).sum() / n), np.abs(sums).sum(axis=1) / n


def _expected_chance_ece(confidence: NDArray[np.floating]) -> float:
    """The ECE that chance alone gives one whose every confidence is true: Σ_b E|N(0, v_b)| / N."""
    sure = confidence.astype(np.float64)
    variances = np.bincount(_assign_ece_bins(sure), sure * (1 - sure), minlength=BINS)
    return float(np.sqrt(2 / np.pi * np.maximum(variances, 0)).sum() / len(sure))


def _assign_ece_bins(confidence: NDArray[np.floating]) -> NDArray[np.intp]:
    return np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], confidence, side="left")
