"""The test images nearest to a mark, as pictures and in the members' features."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.recognition.reconstruction import normalize_rows


@dataclass(frozen=True, eq=False)
class NearestNeighbors:
    """The K test images nearest to a mark, the nearest first.

    Attributes:
      numbers: (K,), which of the test set they are.
      images: uint8 (K, H, W, channels).
      labels: (K,), what they are.
      votes: (M, K), what each member says of them.
      distances: (K,), in [0, 2], see `compute_feature_distances`.
    """

    numbers: Ints
    images: NDArray[np.uint8]
    labels: Ints
    votes: Ints
    distances: Floats


def find_nearest_pictures(picture: Floats, known_pictures: Floats, count: int) -> NDArray[np.int64]:
    """The numbers of the known pictures (R, F) nearest to a picture (F,), rising."""
    distances = (known_pictures**2).sum(axis=1) - 2 * known_pictures @ picture
    if count >= len(known_pictures):
        return np.arange(len(known_pictures))
    return np.sort(np.argpartition(distances, count)[:count])


def compute_feature_distances(features: Floats, known_features: Floats) -> NDArray[np.float64]:
    """How far known images are from one image to the members: (R,), in [0, 2].

    The mean over members of the Euclidean distance between features brought to length 1.

    Args:
      features: (M, F), the members' features of the image.
      known_features: (M, R, F), of the known images.

    Source: Y. Sun and others, "Out-of-distribution detection with deep nearest neighbors",
    ICML 2022.
    """
    total = np.zeros(known_features.shape[1])
    for own_features, member_features in zip(features, known_features, strict=True):
        total += np.linalg.norm(normalize_rows(member_features) - normalize_rows(own_features), axis=-1)
    return total / len(features)
