"""How much trainings of other seeds differ on new images, apart from the luck of these images."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri

MIN_RUNS = 3  # of fewer the upper limit is many times the estimate
_LIMIT_LEVEL = 0.95  # of the upper limit, one-sided


@dataclass(frozen=True)
class TrainingVariance:
    """The variance of the accuracy over trainings, on these test images and on new ones.

    Attributes:
      on_images: of the accuracy on these images, in squared shares.
      on_distribution: of the accuracy on the distribution that the images are from; an unbiased
        estimate, which may be negative.
      limit: its upper limit (95 %, one-sided), at least 0.
    """

    on_images: float
    on_distribution: float
    limit: float


def estimate_training_variance(right: ArrayLike) -> TrainingVariance | None:
    """Separate what trainings differ by from the luck of these test images.

    Two trainings of equal accuracy are right on different images, so that on N images their
    accuracies differ all the same. On the distribution their variance is
    N / (N - 1) · (Var(accuracy) - Σᵢ Var(rightᵢ) / N²). The limit takes Var(accuracy) at its upper
    95 % limit, as of K normal values.

    Args:
      right: (K, N), whether each training is right on each image.

    Returns:
      None of fewer than `MIN_RUNS` trainings or two images.

    Source: K. Jordan, "Calibrated chaos: variance between runs of neural network training is
    harmless and inevitable", arXiv:2304.01910 (2023), equation for the distribution-wise variance.
    """
    hits = np.asarray(right, np.float64)
    runs, n = hits.shape
    if runs < MIN_RUNS or n < 2:
        return None
    on_images = float(hits.mean(axis=1).var(ddof=1))
    by_chance = float(hits.var(axis=0, ddof=1).sum()) / n**2
    upper = on_images * (runs - 1) / float(chdtri(runs - 1, _LIMIT_LEVEL))
    scale = n / (n - 1)
    return TrainingVariance(on_images, scale * (on_images - by_chance), max(0.0, scale * (upper - by_chance)))
