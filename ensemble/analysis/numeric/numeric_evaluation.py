"""Everything that is said of an ensemble that predicts numbers, computed once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.numeric.conformal_intervals import ConformalIntervals, measure_conformal_intervals
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_committees import NumericCommittee, compute_numeric_committees
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble, split_members
from ensemble.analysis.numeric.numeric_quality import (
    IntervalCoverage,
    NumericGain,
    NumericQuality,
    compute_numeric_gains,
    measure_interval_coverage,
    measure_numeric_quality,
)
from ensemble.analysis.numeric.point_ensemble import PointEnsemble

MAIN_LEVEL = 0.9  # of the intervals that sentences are about
MIN_CONFORMAL_EXAMPLES = 40  # half of them calibrate, and have to reach the level


@dataclass(frozen=True)
class NumericEvaluation:
    """An ensemble of M members on N examples.

    Attributes:
      ensemble: its figures.
      members: each member's, M of them.
      member_names: M.
      form: what members predict: "normal" distributions, "quantiles", or "points".
      aleatoric, epistemic: the mean over examples of the two parts of the predicted variance, in
        the square of the targets' unit; the first is None where members are no normal
        distributions, and the second is then the variance of their medians or numbers.
      coverage: of the central intervals of the levels that the members tell; () of none.
      conformal: of `MAIN_LEVEL`, by halves of the examples; None where there are too few.
      gains: over a member drawn at random; () of one member.
      committees: of every size, 1 to M.
    """

    ensemble: NumericQuality
    members: tuple[NumericQuality, ...]
    member_names: tuple[str, ...]
    aleatoric: float | None
    epistemic: float
    coverage: tuple[IntervalCoverage, ...]
    conformal: ConformalIntervals | None
    gains: tuple[NumericGain, ...]
    committees: tuple[NumericCommittee, ...]
    form: str = "normal"

    @property
    def main_coverage(self) -> IntervalCoverage | None:
        """That of `MAIN_LEVEL`, or of the level nearest to it; None without any."""
        return min(self.coverage, key=lambda each: abs(each.level - MAIN_LEVEL), default=None)

    def as_json(self) -> dict[str, Any]:
        """All figures, as the command prints them."""
        return asdict(self)


def evaluate_numbers(
    mixture: NumericEnsemble,
    targets: Doubles,
    member_names: Sequence[str],
    groups: Groups | None = None,
    *,
    in_time_order: bool = False,
) -> NumericEvaluation:
    """Compute all figures of an ensemble on targets (N,), with examples in `groups` (N,), or none.

    Examples in time order have conformal intervals that adapt after each of them.

    Raises:
      ValueError: the targets do not fit.
    """
    return NumericEvaluation(
        ensemble=measure_numeric_quality(mixture, targets),
        members=tuple(measure_numeric_quality(member, targets) for member in split_members(mixture)),
        member_names=tuple(member_names),
        aleatoric=float(mixture.compute_aleatoric_variance().mean()) if isinstance(mixture, NormalMixture) else None,
        epistemic=float(mixture.compute_epistemic_variance().mean()),
        coverage=()
        if isinstance(mixture, PointEnsemble)
        else tuple(measure_interval_coverage(mixture, targets, level, groups) for level in mixture.interval_levels),
        conformal=measure_conformal_intervals(mixture, targets, MAIN_LEVEL, groups=groups, in_time_order=in_time_order)
        if mixture.examples >= MIN_CONFORMAL_EXAMPLES
        else None,
        gains=tuple(compute_numeric_gains(mixture, targets, groups)) if mixture.members > 1 else (),
        committees=tuple(compute_numeric_committees(mixture, targets)),
        form=mixture.form,
    )
