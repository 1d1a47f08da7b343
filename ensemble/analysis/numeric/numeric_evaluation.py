"""Everything that is said of an ensemble that predicts numbers, computed once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ensemble.analysis.numeric.conformal_intervals import (
    ConformalIntervals,
    measure_conformal_intervals,
)
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_committees import (
    NumericCommittee,
    compute_numeric_committees,
)
from ensemble.analysis.numeric.numeric_quality import (
    INTERVAL_LEVELS,
    IntervalCoverage,
    NumericGain,
    NumericQuality,
    compute_numeric_gains,
    measure_interval_coverage,
    measure_numeric_quality,
)

MAIN_LEVEL = 0.9  # of the intervals that sentences are about
MIN_CONFORMAL_EXAMPLES = 40  # half of them calibrate, and have to reach the level


@dataclass(frozen=True)
class NumericEvaluation:
    """An ensemble of M members on N examples.

    Attributes:
      ensemble: its figures.
      members: each member's, M of them.
      member_names: M.
      aleatoric, epistemic: the mean over examples of the two parts of the predicted variance, in
        the square of the targets' unit.
      coverage: of the central intervals of `INTERVAL_LEVELS`.
      conformal: of `MAIN_LEVEL`, by halves of the examples; None where there are too few.
      gains: over a member drawn at random; () of one member.
      committees: of every size, 1 to M.
    """

    ensemble: NumericQuality
    members: tuple[NumericQuality, ...]
    member_names: tuple[str, ...]
    aleatoric: float
    epistemic: float
    coverage: tuple[IntervalCoverage, ...]
    conformal: ConformalIntervals | None
    gains: tuple[NumericGain, ...]
    committees: tuple[NumericCommittee, ...]

    @property
    def main_coverage(self) -> IntervalCoverage:
        """That of `MAIN_LEVEL`."""
        return next(each for each in self.coverage if each.level == MAIN_LEVEL)

    def as_json(self) -> dict[str, Any]:
        """All figures, as the command prints them."""
        return asdict(self)


def evaluate_numbers(
    mixture: NormalMixture, targets: Doubles, member_names: Sequence[str]
) -> NumericEvaluation:
    """All figures of a mixture on targets (N,).

    Raises:
      ValueError: the targets do not fit.
    """
    each = [mixture.select_members([member]) for member in range(mixture.members)]
    return NumericEvaluation(
        measure_numeric_quality(mixture, targets),
        tuple(measure_numeric_quality(member, targets) for member in each),
        tuple(member_names),
        float(mixture.compute_aleatoric_variance().mean()),
        float(mixture.compute_epistemic_variance().mean()),
        tuple(measure_interval_coverage(mixture, targets, level) for level in INTERVAL_LEVELS),
        measure_conformal_intervals(mixture, targets, MAIN_LEVEL)
        if mixture.examples >= MIN_CONFORMAL_EXAMPLES
        else None,
        tuple(compute_numeric_gains(mixture, targets)) if mixture.members > 1 else (),
        tuple(compute_numeric_committees(mixture, targets)),
    )
