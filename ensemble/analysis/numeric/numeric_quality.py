"""How good predictions of numbers are: errors, proper scores, and intervals that hold or do not."""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.inference.image_groups import Groups, effective_examples, grouped_mean_interval
from ensemble.analysis.inference.proportion_interval import exact_interval
from ensemble.analysis.numeric.normal_mixture import INTERVAL_LEVELS, Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble, split_members
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble

LEVEL = 0.95  # of intervals of figures
# Coverage, PIT histogram and mean error are one family of three tests, at `LEVEL` together.
CALIBRATION_LEVEL = 1 - (1 - LEVEL) / 3
__all__ = [
    "CALIBRATION_LEVEL",
    "INTERVAL_LEVELS",
    "LEVEL",
    "IntervalCoverage",
    "NumericGain",
    "NumericQuality",
    "check_targets",
    "compute_numeric_gains",
    "compute_pit",
    "measure_interval_coverage",
    "measure_numeric_quality",
]


@dataclass(frozen=True)
class NumericQuality:
    """Figures of predictions on examples whose targets are known.

    Attributes:
      examples: N.
      rmse: the root of the mean squared error of the mean, in the targets' unit.
      mae: the mean absolute error of the mean, in that unit.
      r2: 1 − squared error over the targets' variance: 1 is perfect, 0 as good as their mean; NaN
        where all targets are one number.
      nll: mean negative log-density, in nats; None where members give no density.
      crps: mean continuous ranked probability score, in the targets' unit; of quantiles by the
        pinball loss of their levels; None of members without a spread.
      sharpness: the root of the mean predicted variance, in that unit; None where there is none.
      pinball: the mean pinball loss over the levels, in that unit; None but of quantiles.
    """

    examples: int
    rmse: float
    mae: float
    r2: float
    nll: float | None
    crps: float | None
    sharpness: float | None
    pinball: float | None = None


@dataclass(frozen=True)
class IntervalCoverage:
    """How often central intervals of one level hold the target.

    Attributes:
      level: of the intervals, in (0, 1): what they promise.
      held: the share of examples whose target lies within.
      low, high: the interval of that share; with the PIT histogram and the mean error at 95 %
        together.
      width: the mean width, in the targets' unit.
    """

    level: float
    held: float
    low: float
    high: float
    width: float


@dataclass(frozen=True)
class NumericGain:
    """What the ensemble is better by than a member drawn at random; positive is better.

    Attributes:
      metric: "squared_error", "nll", "crps", "pinball" or "absolute_error".
      gain: the mean over examples of the members' mean less the ensemble's.
      low, high: the 95 % interval of it, of paired differences.
    """

    metric: str
    gain: float
    low: float
    high: float


def measure_numeric_quality(ensemble: NumericEnsemble, targets: Doubles) -> NumericQuality:
    """The figures of an ensemble on targets (N,).

    Raises:
      ValueError: there are not as many targets as examples, or one is not finite.
    """
    check_targets(ensemble, targets)
    errors = targets - ensemble.compute_mean()
    losses = ensemble.compute_losses(targets)
    means = {name: float(loss.mean()) for name, loss in losses.items()}
    spread = float(((targets - targets.mean()) ** 2).mean())
    squared = float((errors**2).mean())
    return NumericQuality(
        examples=len(targets),
        rmse=float(np.sqrt(squared)),
        mae=float(np.abs(errors).mean()),
        r2=1 - squared / spread if spread > 0 else float("nan"),
        nll=means.get("nll"),
        crps=means.get("crps"),
        sharpness=float(np.sqrt(ensemble.compute_variance().mean())) if isinstance(ensemble, NormalMixture) else None,
        pinball=means.get("pinball"),
    )


def measure_interval_coverage(
    ensemble: NormalMixture | QuantileEnsemble, targets: Doubles, level: float, groups: Groups | None = None
) -> IntervalCoverage:
    """Count how often each example's central interval, between two quantiles, holds its target.

    Args:
      ensemble: N examples.
      targets: (N,).
      level: in (0, 1); of quantiles one of its `interval_levels`.
      groups: (N,), the group of each example; None if examples are independent.
    """
    check_targets(ensemble, targets)
    low, high = ensemble.compute_interval(level)
    held = (low <= targets) & (targets <= high)
    share = float(held.mean())
    worth = len(held) if groups is None else effective_examples(held, groups, CALIBRATION_LEVEL)
    return IntervalCoverage(
        level, share, *exact_interval(share * worth, worth, level=CALIBRATION_LEVEL), float((high - low).mean())
    )


def compute_pit(mixture: NormalMixture, targets: Doubles) -> Doubles:
    """(N,) the probability integral transform: even over 0 to 1 where predictions are calibrated.

    Source: A. P. Dawid, "Statistical theory: the prequential approach", JRSS A 147 (1984).
    """
    check_targets(mixture, targets)
    return mixture.compute_cdf(targets)


def compute_numeric_gains(
    ensemble: NumericEnsemble, targets: Doubles, groups: Groups | None = None
) -> list[NumericGain]:
    """What the ensemble saves in each loss against its mean member.

    None of them can be worse than the members' mean, of no example: each is convex in what
    is averaged (Jensen). Only the size is a finding; a low end below 0 is brought to it.

    Args:
      ensemble: at least two members.
      targets: (N,).
      groups: which examples belong together.
    """
    check_targets(ensemble, targets)
    each = [member.compute_losses(targets) for member in split_members(ensemble)]
    gains = []
    for metric, losses in ensemble.compute_losses(targets).items():
        differences = sum(member[metric] for member in each) / len(each) - losses
        low, high = grouped_mean_interval(differences, groups, LEVEL)
        gains.append(NumericGain(metric, float(differences.mean()), max(low, 0.0), high))
    return gains


def check_targets(ensemble: NumericEnsemble, targets: Doubles) -> None:
    """ValueError where targets are not one finite number for each example."""
    if targets.shape != (ensemble.examples,):
        raise ValueError(f"{targets.shape} targets for {ensemble.examples} examples.")
    if not np.isfinite(targets).all():
        raise ValueError("A target is not a finite number.")
