"""How good predictions of numbers are: errors, proper scores, and intervals that hold or do not."""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.inference.image_groups import Groups, grouped_mean_interval
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture

LEVEL = 0.95  # of intervals of figures
INTERVAL_LEVELS = (0.5, 0.8, 0.9, 0.95)  # of predictions, whose coverage is counted


@dataclass(frozen=True)
class NumericQuality:
    """Figures of predictions on examples whose targets are known.

    Attributes:
      examples: N.
      rmse: the root of the mean squared error of the mean, in the targets' unit.
      mae: the mean absolute error of the mean, in that unit.
      r2: 1 − squared error over the targets' variance: 1 is perfect, 0 as good as their mean; NaN
        where all targets are one number.
      nll: mean negative log-density, in nats.
      crps: mean continuous ranked probability score, in the targets' unit.
      sharpness: the root of the mean predicted variance, in that unit.
    """

    examples: int
    rmse: float
    mae: float
    r2: float
    nll: float
    crps: float
    sharpness: float


@dataclass(frozen=True)
class IntervalCoverage:
    """How often central intervals of one level hold the target.

    Attributes:
      level: of the intervals, in (0, 1): what they promise.
      held: the share of examples whose target lies within.
      low, high: the 95 % interval of that share.
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
      metric: "squared_error", "nll" or "crps".
      gain: the mean over examples of the members' mean less the ensemble's.
      low, high: the 95 % interval of it, of paired differences.
    """

    metric: str
    gain: float
    low: float
    high: float


def measure_numeric_quality(mixture: NormalMixture, targets: Doubles) -> NumericQuality:
    """The figures of a mixture on targets (N,).

    Raises:
      ValueError: there are not as many targets as examples, or one is not finite.
    """
    check_targets(mixture, targets)
    errors = targets - mixture.compute_mean()
    spread = float(((targets - targets.mean()) ** 2).mean())
    squared = float((errors**2).mean())
    return NumericQuality(
        len(targets),
        float(np.sqrt(squared)),
        float(np.abs(errors).mean()),
        1 - squared / spread if spread > 0 else float("nan"),
        float(mixture.compute_nll(targets).mean()),
        float(mixture.compute_crps(targets).mean()),
        float(np.sqrt(mixture.compute_variance().mean())),
    )


def measure_interval_coverage(
    mixture: NormalMixture, targets: Doubles, level: float
) -> IntervalCoverage:
    """How often the central interval of each example, between two quantiles, holds its target.

    Args:
      mixture: what predicts.
      targets: (N,).
      level: in (0, 1).
    """
    check_targets(mixture, targets)
    tail = (1 - level) / 2
    low, high = mixture.compute_quantile(tail), mixture.compute_quantile(1 - tail)
    held = int(((low <= targets) & (targets <= high)).sum())
    return IntervalCoverage(
        level,
        held / len(targets),
        *wilson_interval(held, len(targets), level=LEVEL),
        float((high - low).mean()),
    )


def compute_pit(mixture: NormalMixture, targets: Doubles) -> Doubles:
    """(N,) the probability integral transform: even over 0 to 1 where predictions are calibrated.

    Source: A. P. Dawid, "Statistical theory: the prequential approach", JRSS A 147 (1984).
    """
    check_targets(mixture, targets)
    return mixture.compute_cdf(targets)


def compute_numeric_gains(
    mixture: NormalMixture, targets: Doubles, groups: Groups | None = None
) -> list[NumericGain]:
    """What the ensemble saves in squared error, NLL and CRPS against its mean member.

    None of the three can be worse than the members' mean, of no example: each is convex in what
    is averaged (Jensen). Only the size is a finding; a low end below 0 is brought to it.

    Args:
      mixture: at least two members.
      targets: (N,).
      groups: which examples belong together.
    """
    check_targets(mixture, targets)
    each = [mixture.select_members([member]) for member in range(mixture.members)]
    saved = {
        "squared_error": ((targets - mixture.mean) ** 2).mean(axis=0)
        - (targets - mixture.compute_mean()) ** 2,
        "nll": sum(one.compute_nll(targets) for one in each) / len(each)
        - mixture.compute_nll(targets),
        "crps": sum(one.compute_crps(targets) for one in each) / len(each)
        - mixture.compute_crps(targets),
    }
    gains = []
    for metric, differences in saved.items():
        low, high = grouped_mean_interval(np.asarray(differences), groups, LEVEL)
        gains.append(NumericGain(metric, float(np.mean(differences)), max(low, 0.0), high))
    return gains


def check_targets(mixture: NormalMixture, targets: Doubles) -> None:
    """ValueError where targets are not one finite number for each example."""
    if targets.shape != (mixture.examples,):
        raise ValueError(f"{targets.shape} targets for {mixture.examples} examples.")
    if not np.isfinite(targets).all():
        raise ValueError("A target is not a finite number.")
