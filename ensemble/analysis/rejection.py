"""Not a digit, or not one I know: how strange an image is, and from where on it is turned away."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.averaging import Floats

TAIL = 0.1


@dataclass(frozen=True, eq=False)
class Rarity:
    """How rare a value is among held-out digits, in natural units of surprise.

    Attributes:
      ranked: (N,), the held-out digits' values, rising.
    """

    ranked: NDArray[np.float64]

    @classmethod
    def of(cls, values: Floats) -> "Rarity":
        """From the values of held-out digits, (N,); a high value is a strange one."""
        return cls(np.sort(np.asarray(values, np.float64)))

    def __call__(self, values: Floats) -> NDArray[np.float64]:
        """−ln p, where p is the share of held-out digits that are at least so strange.

        Beyond the strangest tenth the tail is taken for exponential, so that what is far
        outside does not look like the strangest digit.

        Args:
          values: (K,).
        """
        count = len(self.ranked)
        start = int(np.ceil((1 - TAIL) * count)) - 1
        edge = self.ranked[start]
        scale = max(float((self.ranked[start:] - edge).mean()), 1e-12)
        at_least = count - np.searchsorted(self.ranked, values, side="left")
        inside = -np.log((at_least + 1) / (count + 1))
        return np.where(values > edge, -np.log(TAIL) + (values - edge) / scale, inside)


def distances_to_nearest(
    features: Floats, reference: Floats, count: int = 5
) -> NDArray[np.float32]:
    """How far each image lies from its nearest known digits: mean over members of the distance.

    Args:
      features: (M, N, F) of the images.
      reference: (M, R, F) of known digits.
      count: which neighbour's distance, from 1.

    Returns:
      (N,), between features brought to length 1: in [0, 2].

    Source: Y. Sun and others, "Out-of-distribution detection with deep nearest neighbors",
    ICML 2022.
    """
    total = np.zeros(features.shape[1], np.float32)
    for one, known in zip(features, reference, strict=True):
        squared = 2 - 2 * unit(one) @ unit(known).T
        nearest = np.partition(squared, count - 1, axis=1)[:, count - 1]
        total += np.sqrt(np.maximum(nearest, 0))
    return total / len(features)


def unit(features: Floats) -> NDArray[np.float32]:
    """Each row brought to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(features, axis=-1, keepdims=True)
    return np.asarray(features / np.maximum(lengths, 1e-12), np.float32)
