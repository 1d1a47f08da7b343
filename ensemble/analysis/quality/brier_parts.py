"""The Brier score taken apart: is it lost by wrong confidence, or by not telling images apart?"""

from dataclasses import dataclass

import numpy as np

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.calibration import BINS

BLOCK_SIZE = 1 << 20
_MAX_NUMBERS = 50_000_000  # of all members together; of more only the ensemble is taken apart


@dataclass(frozen=True)
class BrierParts:
    """Brier score = reliability − resolution + uncertainty.

    Attributes:
      reliability: how far probabilities are from how often they come true; less is better. An
        estimate without the part that chance makes, which may be a little below 0.
      resolution: how much what comes true differs between what is told apart; more is better.
      uncertainty: of the labels themselves, whatever is said of them.
    """

    reliability: float
    resolution: float
    uncertainty: float

    @property
    def score(self) -> float:
        """The Brier score, in [0, 2]."""
        return self.reliability - self.resolution + self.uncertainty


def decompose_brier_score(probabilities: Floats, labels: Ints, bins: int = BINS) -> BrierParts:
    """The parts of the mean Brier score, summed over classes.

    Of each class the examples are put into bins of equal width by its probability. What
    probabilities differ by within a bin counts as resolution, so that the parts add up exactly.

    Args:
      probabilities: (N, C), each row a distribution.
      labels: (N,), class numbers in [0, C); N at least 2.
      bins: B, at least 1.

    Raises:
      ValueError: there are fewer than two examples.

    Source: A. H. Murphy, "A new vector partition of the probability score", Journal of Applied
    Meteorology 12 (1973), 595-600; D. B. Stephenson, C. A. S. Coelho and I. T. Jolliffe, "Two extra
    components in the Brier score decomposition", Weather and Forecasting 23 (2008), 752-757 (within
    bins); C. A. T. Ferro and T. E. Fricker, "A bias-corrected decomposition of the Brier score",
    Quarterly Journal of the Royal Meteorological Society 138 (2012), 1954-1960.
    """
    n, classes = probabilities.shape
    if n < 2:
        raise ValueError("The parts of a Brier score need at least two examples.")
    edges, cells = np.linspace(0, 1, bins + 1)[1:-1], classes * bins
    counts, sums, hits, score = np.zeros(cells), np.zeros(cells), np.zeros(cells), 0.0
    for rows in iterate_blocks(n, classes, BLOCK_SIZE):
        part, own = probabilities[rows].astype(np.float64), labels[rows]
        places = np.searchsorted(edges, part, side="left") + np.arange(classes) * bins
        counts += np.bincount(places.ravel(), minlength=cells)
        sums += np.bincount(places.ravel(), part.ravel(), minlength=cells)
        lines = np.arange(len(part))
        hits += np.bincount(places[lines, own], minlength=cells)
        part[lines, own] -= 1
        score += float(np.einsum("nc,nc->", part, part))
    filled = np.maximum(counts, 1)
    said, true = sums / filled, hits / filled
    shares = np.bincount(labels, minlength=classes) / n
    spread = float((shares * (1 - shares)).sum())
    # What the few examples of a bin alone make its share differ by; of one example what they would
    # if its probability were right.
    several = counts / np.maximum(counts - 1, 1) * true * (1 - true)
    chance = float(np.where(counts == 1, said * (1 - said), several).sum()) / n
    reliability = float((counts * (said - true) ** 2).sum()) / n - chance
    uncertainty = spread * n / (n - 1)
    return BrierParts(reliability, reliability + uncertainty - score / n, uncertainty)


def decompose_ensemble_brier(predictions: EnsemblePredictions) -> tuple[BrierParts, BrierParts | None]:
    """The ensemble's parts, and the mean of its members'.

    The latter is None of one member, and of more than `_MAX_NUMBERS` probabilities.
    """
    ensemble = decompose_brier_score(predictions.averaged, predictions.labels)
    if predictions.members == 1 or predictions.probabilities.size > _MAX_NUMBERS:
        return ensemble, None
    each = [decompose_brier_score(member, predictions.labels) for member in predictions.probabilities]
    means = (
        float(np.mean([getattr(parts, name) for parts in each]))
        for name in ("reliability", "resolution", "uncertainty")
    )
    return ensemble, BrierParts(*means)
