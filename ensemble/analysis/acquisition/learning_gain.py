"""What choosing images to label gains over labelling as many at random: two arms, paired by seed.

Each seed has the same first labels, networks and budgets in both arms; what one arm gets right
above the other is averaged over seeds and test images, which are crossed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.crossed_means import CrossedMean, estimate_crossed_mean
from ensemble.analysis.inference.image_groups import Groups, collapse_groups

MIN_SEEDS = 5  # below which nothing is claimed


@dataclass(frozen=True)
class LearningGain:
    """The difference of two learning curves: the arm that chooses less the random arm.

    Attributes:
      rounds: the difference in accuracy after each round but the first, which both share.
      area: the mean difference along the curve, from the first to the last number of labels: the
        area between the curves by the trapezoidal rule, divided by how many labels it spans.
      seeds: of how many seeds.
      images: on how many test images.
    """

    rounds: tuple[CrossedMean, ...]
    area: CrossedMean
    seeds: int
    images: int

    @property
    def sign(self) -> int:
        """1 where choosing is better by the area's interval, −1 where it is worse, else 0.

        The area alone decides: one interval, however many rounds there are.
        """
        return int(self.area.low > 0) - int(self.area.high < 0)

    @property
    def has_enough_seeds(self) -> bool:
        """Whether there are as many seeds as a claim needs."""
        return self.seeds >= MIN_SEEDS


def compute_learning_gain(
    label_counts: NDArray[np.integer],
    chosen: NDArray[np.bool_],
    at_random: NDArray[np.bool_],
    groups: Groups | None = None,
    level: float = 0.95,
) -> LearningGain:
    """The difference of the two arms, with intervals for other seeds and other test images.

    Args:
      label_counts: (R + 1,), how many labels there are before the first round and after each,
        rising.
      chosen: (K, R + 1, N), whether the arm that chooses has each test image right, of K seeds.
      at_random: likewise of the random arm.
      groups: (N,), numbers from 0 of test images that belong together; None where all are apart.
      level: of the intervals, in (0, 1).

    Raises:
      ValueError: fewer than two seeds, no round, or shapes that do not fit.

    Source of the intervals: `estimate_crossed_mean`.
    """
    counts = np.asarray(label_counts, np.float64)
    if chosen.shape != at_random.shape or chosen.ndim != 3 or chosen.shape[1] != len(counts):
        raise ValueError(
            f"Arms of shapes {chosen.shape} and {at_random.shape} with {len(counts)} numbers of labels do not fit."
        )
    seeds, _, images = chosen.shape
    if seeds < 2 or len(counts) < 2 or (np.diff(counts) <= 0).any():
        raise ValueError("A difference of curves needs two seeds, and a round that adds labels.")
    apart = chosen.astype(np.float64) - at_random

    def estimate_mean(values: NDArray[np.float64]) -> CrossedMean:
        if groups is not None:
            values = collapse_groups(values, groups)
        return estimate_crossed_mean(values, bound=1.0, level=level)

    weights = weigh_trapezoids(counts)
    return LearningGain(
        tuple(estimate_mean(apart[:, place]) for place in range(1, len(counts))),
        estimate_mean(np.einsum("r,krn->kn", weights, apart)),
        seeds,
        images,
    )


def weigh_trapezoids(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R,), weights by which a curve's values have their mean along rising positions; sum 1."""
    steps = np.diff(positions)
    weights = np.zeros(len(positions))
    weights[:-1] += steps / 2
    weights[1:] += steps / 2
    return weights / steps.sum()
