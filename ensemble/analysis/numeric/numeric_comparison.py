"""Two ensembles that predict the same numbers, against each other, example by example."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ensemble.analysis.inference.crossed_means import RunVariance, estimate_crossed_mean
from ensemble.analysis.inference.image_groups import Groups, collapse_groups, grouped_mean_interval
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.inference.paired_intervals import mean_p_value
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import ErrorRatio, compare_rmse
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.numeric_quality import LEVEL, check_targets
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble

_JACKKNIFE_PARTS = 10  # members of more are left out several at a time
_EXAMPLES_LIMIT = 10**9  # beyond which a difference is rounding
_POWER_FACTOR = (1.959964 + 0.841621) ** 2  # 5 %, two-sided, and a power of 80 %


@dataclass(frozen=True)
class _NumericDifference:
    """How one ensemble's mean loss differs from another's; below 0 it is the better one.

    Attributes:
      metric: "squared_error", "nll", "crps", "pinball" or "absolute_error".
      first, second: the mean losses.
      difference: the first less the second.
      low, high: its 95 % interval for these trained members and new examples, from paired
        differences. It is of this comparison alone.
      p_value: of the test that there is none, two-sided; of the same method as the interval.
      settings_p: the same for other training seeds too; None if nothing is known about these.
      adjusted_p, adjusted_settings_p: adjusted for all tests that are reported together (Holm).
      examples_needed: how many examples would show a difference of this size with a power of
        80 %; None if it is 0 or too small for any number.
    """

    metric: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float
    settings_p: float | None = None
    adjusted_p: float = 1.0
    adjusted_settings_p: float | None = None
    examples_needed: int | None = None

    @property
    def is_significant(self) -> bool:
        """Whether it is shown on new examples for these trained members."""
        return self.adjusted_p < 1 - LEVEL

    @property
    def is_settings_difference(self) -> bool:
        """Whether it is shown for other training seeds too."""
        settings_p = self.adjusted_settings_p
        return self.is_significant and settings_p is not None and settings_p < 1 - LEVEL


@dataclass(frozen=True)
class NumericComparison:
    """Two ensembles on the same N examples.

    Attributes:
      examples: N.
      ratio: the first RMSE as a share of the second.
      differences: in every loss that both have.
      tests: how many tests the p-values are adjusted for.
    """

    examples: int
    ratio: ErrorRatio
    differences: tuple[_NumericDifference, ...]
    tests: int = 1


def compare_numeric_ensembles(
    first: NumericEnsemble,
    second: NumericEnsemble,
    targets: Doubles,
    groups: Groups | None = None,
    *,
    are_members_independent: bool = False,
) -> NumericComparison:
    """Compare two ensembles in the losses that both have.

    Quantiles and densities, or quantiles of different levels, are not compared by the CRPS, which
    few levels only approximate: densities are judged by the pinball loss of the other's levels.

    Args:
      first: N examples.
      second: the same examples in the same order, with as many members or others.
      targets: (N,).
      groups: (N,), the group of each example; None if examples are independent.
      are_members_independent: whether the members of each share nothing but their settings, so
        that their differences show what other training seeds would change.

    Raises:
      ValueError: the targets do not fit one of them.
    """
    check_targets(first, targets)
    check_targets(second, targets)
    losses, others = _compute_shared_losses(first, second, targets)
    variances = [
        estimate_member_variances(each, targets) if are_members_independent else {} for each in (first, second)
    ]
    differences = []
    for metric, loss in losses.items():
        paired = loss - others[metric]
        collapsed = paired if groups is None else collapse_groups(paired, groups)
        p_value, settings_p = mean_p_value(collapsed), None
        if all(metric in each for each in variances):
            largest = float(np.abs(collapsed - collapsed.mean()).max())
            of_runs = [each[metric] for each in variances]
            crossed = estimate_crossed_mean(collapsed, bound=largest, run_variances=of_runs)
            settings_p = max(p_value, crossed.p)
        mean, spread = float(paired.mean()), float(collapsed.var())
        needed = _POWER_FACTOR * spread / mean**2 if mean else np.inf  # of groups, if there are any
        needed *= len(paired) / len(collapsed)
        differences.append(
            _NumericDifference(
                metric,
                float(loss.mean()),
                float(others[metric].mean()),
                mean,
                *grouped_mean_interval(paired, groups, LEVEL),
                p_value,
                settings_p,
                examples_needed=int(np.ceil(needed)) if needed < _EXAMPLES_LIMIT else None,
            )
        )
    ratio = compare_rmse(losses["squared_error"], others["squared_error"], LEVEL, groups)
    return adjust_comparisons([NumericComparison(len(targets), ratio, tuple(differences))])[0]


def adjust_comparisons(comparisons: Sequence[NumericComparison]) -> list[NumericComparison]:
    """Adjust all p-values for all comparisons and losses that are reported together (Holm)."""
    every = [each for comparison in comparisons for each in comparison.differences]
    adjusted = iter(adjust_p_holm([each.p_value for each in every]).tolist())
    known = [each.settings_p for each in every if each.settings_p is not None]
    settings = iter(adjust_p_holm(known).tolist())
    return [
        replace(
            comparison,
            tests=len(every),
            differences=tuple(
                replace(
                    each,
                    adjusted_p=next(adjusted),
                    adjusted_settings_p=None if each.settings_p is None else next(settings),
                )
                for each in comparison.differences
            ),
        )
        for comparison in comparisons
    ]


def estimate_member_variances(ensemble: NumericEnsemble, targets: Doubles) -> dict[str, RunVariance]:
    """Estimate the variance of each mean loss over other draws of the members (jackknife).

    Members are left out one by one, or in 10 parts if there are more. See
    `ensemble.analysis.members.member_variance` for the formula and its source.

    Args:
      ensemble: M members that share nothing but their settings.
      targets: (N,).

    Returns:
      By loss, without the CRPS of densities; {} for fewer than two members.
    """
    if ensemble.members < 2:
        return {}
    every = np.arange(ensemble.members)
    parts = np.array_split(every, min(ensemble.members, _JACKKNIFE_PARTS))
    figures: dict[str, list[float]] = {}
    for part in parts:
        others = ensemble.select_members(np.setdiff1d(every, part))
        if isinstance(others, NormalMixture):  # whose CRPS takes pairs of members
            squared = (targets - others.compute_mean()) ** 2
            losses = {"squared_error": squared, "nll": others.compute_nll(targets)}
        else:
            losses = others.compute_losses(targets)
        for metric, loss in losses.items():
            figures.setdefault(metric, []).append(float(loss.mean()))
    return {
        metric: RunVariance((len(parts) - 1) * float(np.var(values)), len(parts) - 1)
        for metric, values in figures.items()
    }


def _compute_shared_losses(
    first: NumericEnsemble, second: NumericEnsemble, targets: Doubles
) -> tuple[dict[str, Doubles], dict[str, Doubles]]:
    losses, others = first.compute_losses(targets), second.compute_losses(targets)
    levels = [each.levels for each in (first, second) if isinstance(each, QuantileEnsemble)]
    if levels and not (len(levels) == 2 and np.array_equal(levels[0], levels[1])):
        for own, ensemble in ((losses, first), (others, second)):
            del own["crps"]
            if isinstance(ensemble, NormalMixture):
                quantiles = [ensemble.compute_quantile(float(level)) for level in levels[0]]
                same = QuantileEnsemble(levels[0], np.maximum.accumulate(quantiles)[None])
                own["pinball"] = same.compute_pinball(targets).mean(axis=0)
        if len(levels) == 2:
            del losses["pinball"]
    shared = [name for name in losses if name in others]
    return {name: losses[name] for name in shared}, {name: others[name] for name in shared}
