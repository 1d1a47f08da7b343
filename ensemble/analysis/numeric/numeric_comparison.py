"""Two ensembles that predict the same numbers, against each other, example by example."""

from dataclasses import dataclass

from ensemble.analysis.inference.image_groups import grouped_mean_interval
from ensemble.analysis.inference.paired_intervals import mean_p_value
from ensemble.analysis.numeric.normal_mixture import Doubles
from ensemble.analysis.numeric.numeric_diagnosis import ErrorRatio, compare_rmse
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.numeric_quality import LEVEL, check_targets


@dataclass(frozen=True)
class NumericDifference:
    """How one ensemble's mean loss differs from another's; below 0 it is the better one.

    Attributes:
      metric: "squared_error", "nll", "crps", "pinball" or "absolute_error".
      first, second: the mean losses.
      difference: the first less the second.
      low, high: the 95 % interval of it, of paired differences.
      p_value: that there is none, two-sided.
    """

    metric: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class NumericComparison:
    """Two ensembles on the same N examples.

    Attributes:
      examples: N.
      ratio: the first RMSE as a share of the second.
      differences: in every loss that both have.
    """

    examples: int
    ratio: ErrorRatio
    differences: tuple[NumericDifference, ...]


def compare_numeric_ensembles(
    first: NumericEnsemble, second: NumericEnsemble, targets: Doubles
) -> NumericComparison:
    """The first ensemble against the second, in what both tell.

    Args:
      first: N examples.
      second: the same examples in the same order; as many members or others.
      targets: (N,).

    Raises:
      ValueError: the targets do not fit one of them.
    """
    check_targets(first, targets)
    check_targets(second, targets)
    losses, others = first.compute_losses(targets), second.compute_losses(targets)
    differences = []
    for metric in (name for name in losses if name in others):
        paired = losses[metric] - others[metric]
        low, high = grouped_mean_interval(paired, None, LEVEL)
        differences.append(
            NumericDifference(
                metric,
                float(losses[metric].mean()),
                float(others[metric].mean()),
                float(paired.mean()),
                low,
                high,
                mean_p_value(paired),
            )
        )
    ratio = compare_rmse(losses["squared_error"], others["squared_error"])
    return NumericComparison(len(targets), ratio, tuple(differences))
