"""An ensemble whose members predict quantiles of a number, at levels that all have in common.

The ensemble's quantile is the mean of the members' of that level (Vincent 1912): averaged along
the axis of the number, not of the probability, so that it is no wider than its members for their
disagreement. Nothing is assumed between the levels or beyond them, so that there is no density and
no NLL.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.numeric.normal_mixture import Doubles

_LEVEL_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class QuantileEnsemble:
    """The members' quantiles for each example.

    Attributes:
      levels: (L,), rising, in (0, 1); 0.5 is one of them, or some lie on both sides of it.
      quantiles: (M, L, N), finite, rising along the levels, in the unit of the targets.
    """

    levels: Doubles
    quantiles: Doubles
    form: ClassVar[str] = "quantiles"

    def __post_init__(self) -> None:
        """ValueError where shapes differ, there is nothing, or a number is none that it may be."""
        levels = self.levels
        if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all() or len(levels) < 1:
            raise ValueError("Levels of quantiles have to lie between 0 and 1.")
        if not (np.diff(levels) > 0).all():
            raise ValueError("Levels of quantiles have to rise.")
        if not levels[0] <= 0.5 <= levels[-1]:
            raise ValueError("The level 0.5, or one on either side of it, is needed.")
        if self.quantiles.ndim != 3 or self.quantiles.shape[1] != len(levels):
            raise ValueError(
                f"Quantiles {self.quantiles.shape} have to be (members, levels, examples), with {len(levels)} levels."
            )
        if not self.quantiles.size or not np.isfinite(self.quantiles).all():
            raise ValueError("A quantile is not a finite number.")
        if (np.diff(self.quantiles, axis=1) < 0).any():
            raise ValueError("A quantile lies below one of a lower level.")

    @property
    def members(self) -> int:
        """M."""
        return len(self.quantiles)

    @property
    def examples(self) -> int:
        """N."""
        return self.quantiles.shape[2]

    @property
    def mean(self) -> Doubles:
        """(M, N), each member's median: between two levels along the line that joins them."""
        above = int(np.searchsorted(self.levels, 0.5 - _LEVEL_TOLERANCE))
        if abs(self.levels[above] - 0.5) <= _LEVEL_TOLERANCE:
            return self.quantiles[:, above]
        low, high = self.levels[above - 1], self.levels[above]
        share = (0.5 - low) / (high - low)
        return (1 - share) * self.quantiles[:, above - 1] + share * self.quantiles[:, above]

    def select_members(self, chosen: NDArray[np.integer] | list[int]) -> "QuantileEnsemble":
        """The ensemble of these members alone."""
        return QuantileEnsemble(self.levels, self.quantiles[chosen])

    def select_examples(self, chosen: NDArray[np.generic]) -> "QuantileEnsemble":
        """The same of these examples alone."""
        return QuantileEnsemble(self.levels, self.quantiles[:, :, chosen])

    def compute_mean(self) -> Doubles:
        """(N,) the ensemble's median: the mean of the members'."""
        mean: Doubles = self.mean.mean(axis=0)
        return mean

    def compute_quantiles(self) -> Doubles:
        """(L, N) the ensemble's quantiles."""
        quantiles: Doubles = self.quantiles.mean(axis=0)
        return quantiles

    def compute_epistemic_variance(self) -> Doubles:
        """(N,) the variance of the members' medians, divided by M: their disagreement."""
        epistemic: Doubles = self.mean.var(axis=0)
        return epistemic

    def compute_spread(self) -> Doubles | None:
        """(N,) half the width of the widest central interval; None without a pair of levels."""
        if not self.interval_levels:
            return None
        low, high = self.compute_interval(self.interval_levels[-1])
        return (high - low) / 2

    @property
    def interval_levels(self) -> tuple[float, ...]:
        """The levels of central intervals between two quantiles, rising: 0.1 and 0.9 are 0.8."""
        lows = [float(low) for low in self.levels if low < 0.5 - _LEVEL_TOLERANCE]
        pairs = [low for low in lows if np.abs(self.levels - (1 - low)).min() <= _LEVEL_TOLERANCE]
        return tuple(sorted(round(1 - 2 * low, 9) for low in pairs))

    def compute_interval(self, level: float) -> tuple[Doubles, Doubles]:
        """(N,) the ends of the central interval of one of `interval_levels`."""
        quantiles, tail = self.compute_quantiles(), (1 - level) / 2
        places = [int(np.abs(self.levels - end).argmin()) for end in (tail, 1 - tail)]
        return quantiles[places[0]], quantiles[places[1]]

    def compute_pinball(self, targets: Doubles) -> Doubles:
        """(L, N) the pinball loss of each level, in the targets' unit; least at the true one.

        Source: R. Koenker and G. Bassett, "Regression quantiles", Econometrica 46 (1978).
        """
        excess = targets - self.compute_quantiles()
        levels = self.levels[:, None]
        pinball: Doubles = np.maximum(levels * excess, (levels - 1) * excess)
        return pinball

    def compute_crps(self, targets: Doubles) -> Doubles:
        """(N,) the CRPS as twice the pinball loss, averaged over the levels, in the targets' unit.

        Each level stands for the probabilities that are nearer to it than to another: exact as
        levels become many and dense, an approximation with few.

        Source: F. Laio and S. Tamea, "Verification tools for probabilistic forecasts of continuous
        hydrological variables", Hydrology and Earth System Sciences 11 (2007), equation 7.
        """
        middles = (self.levels[1:] + self.levels[:-1]) / 2
        weights = np.diff(np.concatenate([[0.0], middles, [1.0]]))
        crps: Doubles = 2 * weights @ self.compute_pinball(targets)
        return crps

    def compute_losses(self, targets: Doubles) -> dict[str, Doubles]:
        """(N,) each, by name; see `NormalMixture.compute_losses`."""
        return {
            "squared_error": (targets - self.compute_mean()) ** 2,
            "pinball": self.compute_pinball(targets).mean(axis=0),
            "crps": self.compute_crps(targets),
        }
