"""An ensemble whose members predict a number each, and nothing of how sure they are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.numeric.normal_mixture import Doubles


@dataclass(frozen=True, eq=False)
class PointEnsemble:
    """The members' numbers for each example.

    Attributes:
      mean: (M, N), of each member for each example, finite, in the unit of the targets.
    """

    mean: Doubles
    form: ClassVar[str] = "points"

    def __post_init__(self) -> None:
        """ValueError where there is nothing, or a number is none."""
        if self.mean.ndim != 2 or not self.mean.size:
            raise ValueError(f"Predictions {self.mean.shape} have to be (members, examples).")
        if not np.isfinite(self.mean).all():
            raise ValueError("A prediction is not a finite number.")

    @property
    def members(self) -> int:
        """M."""
        return len(self.mean)

    @property
    def examples(self) -> int:
        """N."""
        return self.mean.shape[1]

    def select_members(self, chosen: NDArray[np.integer] | list[int]) -> "PointEnsemble":
        """The ensemble of these members alone."""
        return PointEnsemble(self.mean[chosen])

    def select_examples(self, chosen: NDArray[np.generic]) -> "PointEnsemble":
        """The same of these examples alone."""
        return PointEnsemble(self.mean[:, chosen])

    def compute_mean(self) -> Doubles:
        """(N,) the mean of the members."""
        mean: Doubles = self.mean.mean(axis=0)
        return mean

    def compute_epistemic_variance(self) -> Doubles:
        """(N,) the variance of the members' numbers, divided by M: their disagreement."""
        epistemic: Doubles = self.mean.var(axis=0)
        return epistemic

    def compute_spread(self) -> Doubles | None:
        """(N,) the standard deviation of the members' numbers; None of one member.

        Their disagreement alone: the noise of the targets is not in it.
        """
        return np.sqrt(self.compute_epistemic_variance()) if self.members > 1 else None

    @property
    def interval_levels(self) -> tuple[float, ...]:
        """None: a number without a spread has no intervals."""
        return ()

    def compute_losses(self, targets: Doubles) -> dict[str, Doubles]:
        """(N,) each, by name; see `NormalMixture.compute_losses`."""
        mean = self.compute_mean()
        return {"squared_error": (targets - mean) ** 2, "absolute_error": np.abs(targets - mean)}
