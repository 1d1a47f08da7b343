"""Intervals with a promise: predicted ones, stretched by how far held-out targets lay outside.

What stretches them follows from what members predict. Of normal distributions it is a factor of σ;
of quantiles a margin beyond the widest interval between two of them (Y. Romano, E. Patterson and
E. Candès, "Conformalized quantile regression", NeurIPS 2019); of numbers without a spread the same
margin for every example.
"""

import bisect
import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from ensemble.analysis.inference.image_groups import Groups, grouped_share_interval, select_groups
from ensemble.analysis.inference.proportion_interval import exact_interval
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.numeric_quality import check_targets
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.analysis.quality.conformal import conformal_quantile

LEVEL = 0.95  # of the interval of a share
_ADAPTATION = 0.02  # of the error rate, after each example in time order


@dataclass(frozen=True)
class ConformalIntervals:
    """Intervals mean ± factor · σ, with σ² the mixture's variance; else predictions ± a margin.

    Attributes:
      level: how often an interval is to hold the target, on average over new examples.
      factor: how many σ, or the margin in the targets' unit where members give no σ; infinite where
        there were too few examples to calibrate it.
      calibrated_on: examples that set the factor.
      held: the share of other examples whose target lies within.
      low, high: the 95 % interval of that share.
      width: their mean width, in the targets' unit.
      counted_on: examples that the share was counted on.
      in_time_order: whether the factor adapted after each of these, in time order.
    """

    level: float
    factor: float
    calibrated_on: int
    held: float
    low: float
    high: float
    width: float
    counted_on: int = 0
    in_time_order: bool = False


def compute_conformal_scores(ensemble: NumericEnsemble, targets: Doubles) -> Doubles:
    """(N,) how far each target lies outside what is predicted, in what `factor` counts."""
    check_targets(ensemble, targets)
    if isinstance(ensemble, QuantileEnsemble) and ensemble.interval_levels:
        low, high = ensemble.compute_interval(ensemble.interval_levels[-1])
        return cast(Doubles, np.maximum(low - targets, targets - high))
    errors: Doubles = np.abs(targets - ensemble.compute_mean())
    return errors / ensemble.compute_spread() if isinstance(ensemble, NormalMixture) else errors


def compute_conformal_interval(ensemble: NumericEnsemble, factor: float | Doubles) -> tuple[Doubles, Doubles]:
    """(N,) the ends of the interval of each example, none of which ends below its beginning."""
    if isinstance(ensemble, QuantileEnsemble) and ensemble.interval_levels:
        low, high = ensemble.compute_interval(ensemble.interval_levels[-1])
        margin = np.maximum(factor, (low - high) / 2)  # which may be below 0
        return low - margin, high + margin
    mean = ensemble.compute_mean()
    half = factor * (ensemble.compute_spread() if isinstance(ensemble, NormalMixture) else 1.0)
    return mean - half, mean + half


def fit_conformal_factor(mixture: NumericEnsemble, targets: Doubles, level: float) -> float:
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
    scores = compute_conformal_scores(mixture, targets)
    return float(conformal_quantile(scores, 1 - level))


def measure_conformal_intervals(
    mixture: NumericEnsemble,
    targets: Doubles,
    level: float,
    seed: int = 0,
    groups: Groups | None = None,
    *,
    in_time_order: bool = False,
) -> ConformalIntervals:
    """Calibrate on one half of the examples, drawn by the seed, and count on the other.

    Args:
      mixture: at least two examples.
      targets: (N,).
      level: in (0, 1).
      seed: of the draw.
      groups: (N,), the group of each example, which lies in one half as a whole. One example of
        each group calibrates, so that the promise holds for an example of a new group.
      in_time_order: whether examples are in time order; see `_measure_adaptive_intervals`.

    Raises:
      ValueError: there is one example alone.

    Source (groups): R. Dunn, L. Wasserman and A. Ramdas, "Distribution-free prediction sets for
    two-layer hierarchical models", JASA 118 (2023), 2491-2502 (subsampling once).
    """
    check_targets(mixture, targets)
    if len(targets) < 2:
        raise ValueError("One example cannot calibrate and be counted.")
    if in_time_order:
        return _measure_adaptive_intervals(mixture, targets, level)
    draws = np.random.default_rng(seed)
    order = draws.permutation(len(targets))
    if groups is None:
        half = len(targets) // 2
        fitted, counted = np.sort(order[:half]), np.sort(order[half:])
    else:
        drawn = order[np.unique(groups[order], return_index=True)[1]]  # one of each group
        is_fitted = draws.permutation(len(drawn)) < len(drawn) // 2
        fitted, counted = np.sort(drawn[is_fitted]), np.flatnonzero(~is_fitted[groups])
    factor = np.inf
    if len(fitted):
        factor = fit_conformal_factor(mixture.select_examples(fitted), targets[fitted], level)
    rest = mixture.select_examples(counted)
    held = compute_conformal_scores(rest, targets[counted]) <= factor
    low, high = compute_conformal_interval(rest, factor)
    return ConformalIntervals(
        level,
        factor,
        len(fitted),
        float(held.mean()),
        *grouped_share_interval(held, select_groups(groups, counted), LEVEL),
        float((high - low).mean()),
        len(counted),
    )


def _measure_adaptive_intervals(mixture: NumericEnsemble, targets: Doubles, level: float) -> ConformalIntervals:
    """Calibrate on the first half of examples in time order, and adapt on each of the second half.

    After each target the error rate that the factor is chosen for moves by `_ADAPTATION` times the
    difference between the promised rate and whether the interval missed. So the share that is held
    approaches the level over time even if the distribution of errors drifts. The factor is the one
    for the example after the last.

    Args:
      mixture: at least two examples, in time order.
      targets: (N,).
      level: in (0, 1).

    Source: I. Gibbs and E. Candès, "Adaptive conformal inference under distribution shift",
    NeurIPS 2021.
    """
    scores, half = compute_conformal_scores(mixture, targets), len(targets) // 2
    seen, rate = sorted(scores[:half].tolist()), 1 - level
    factors, held = np.empty(len(targets) - half), np.empty(len(targets) - half, bool)
    for place, score in enumerate(scores[half:].tolist()):
        factors[place] = _choose_adaptive_factor(seen, rate)
        held[place] = score <= factors[place]
        rate += _ADAPTATION * (1 - level - (not held[place]))
        bisect.insort(seen, score)
    finite = np.where(np.isfinite(factors), factors, seen[-1])
    rest = mixture.select_examples(np.arange(half, len(targets)))
    low, high = compute_conformal_interval(rest, finite)
    return ConformalIntervals(
        level,
        _choose_adaptive_factor(seen, rate),
        half,
        float(held.mean()),
        *exact_interval(float(held.sum()), len(held), level=LEVEL),
        float((high - low).mean()),
        len(held),
        in_time_order=True,
    )


def _choose_adaptive_factor(scores: list[float], rate: float) -> float:
    """Choose the factor for this error rate: the k-th smallest score, infinite beyond all."""
    place = math.ceil((len(scores) + 1) * (1 - rate))
    return float("inf") if place > len(scores) else scores[max(0, place - 1)]
