"""How good an ensemble of fewer of these members would be, on average over all such committees."""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture, compute_absolute_mean
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.numeric_quality import check_targets


@dataclass(frozen=True)
class NumericCommittee:
    """Committees of one size, the mean over all of them, of all examples.

    Attributes:
      members: k.
      squared_error: of the committee's mean, in the square of the targets' unit.
      crps: in that unit; None where members are no normal distributions.
    """

    members: int
    squared_error: float
    crps: float | None


def compute_numeric_committees(mixture: NumericEnsemble, targets: Doubles) -> list[NumericCommittee]:
    """The mean committee of every size from 1 to M, exactly: no committee is drawn.

    Both scores are quadratic in what is averaged. Of a committee of k members drawn without
    replacement the expected squared error is the ensemble's squared error plus the variance of
    the committee's mean, S²/k · (1 − k/M) with S² the members' variance (divided by M − 1); the
    expected CRPS is that of its parts: mean E|X − y| − ½ (within / k + between · (k − 1) / k),
    with `NormalMixture.pair_spreads`.

    Args:
      mixture: M members.
      targets: (N,).
    """
    check_targets(mixture, targets)
    total = mixture.members
    ensemble_error = float(((targets - mixture.compute_mean()) ** 2).mean())
    spread = float(mixture.mean.var(axis=0, ddof=1).mean()) if total > 1 else 0.0
    crps = _compute_committee_crps(mixture, targets) if isinstance(mixture, NormalMixture) else None
    return [
        NumericCommittee(size, ensemble_error + spread / size * (1 - size / total), crps[size - 1] if crps else None)
        for size in range(1, total + 1)
    ]


def _compute_committee_crps(mixture: NormalMixture, targets: Doubles) -> list[float]:
    distance = np.mean(
        [
            compute_absolute_mean(targets - mean, variance).mean()
            for mean, variance in zip(mixture.mean, mixture.variance, strict=True)
        ]
    )
    within, between = (float(part.mean()) for part in mixture.pair_spreads)
    return [
        float(distance - (within / size + between * (size - 1) / size) / 2) for size in range(1, mixture.members + 1)
    ]
