"""What a run's members see in the digits of each class, and how far from that something else is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.recognition.reconstruction import compute_subspace_residuals, fit_subspace, normalize_rows

MAX_SUBSPACE_AXES = 30  # of each class's features
_MAX_FEATURE_IMAGES, _MIN_FEATURE_IMAGES, _MAX_FORWARD_PASSES = (
    5000,
    1000,
    24_000,
)  # training images that are shown; to all members together


@dataclass(frozen=True, eq=False)
class ClassSubspaces:
    """By member and class, the plane that the features of training images lie near.

    Attributes:
      means: float32 (M, C, F), of features brought to length 1.
      axes: float32 (M, C, A, F), at right angles, of length 1; of 0 where there are fewer.
    """

    means: NDArray[np.float32]
    axes: NDArray[np.float32]

    @classmethod
    def from_features(cls, features: NDArray[np.float32], labels: Ints, classes: int) -> "ClassSubspaces":
        """From the members' features (M, R, F) of training images with labels (R,)."""
        M, _, F = features.shape
        means = np.zeros((M, classes, F), np.float32)
        axes = np.zeros((M, classes, max(1, min(MAX_SUBSPACE_AXES, F - 1)), F), np.float32)
        for m, own in enumerate(features):
            rows = normalize_rows(own)
            for c in range(classes):
                means[m, c], basis = fit_subspace(rows[labels == c], axes.shape[2])
                axes[m, c, : len(basis)] = basis
        return cls(means, axes)

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """As arrays to be cached; `Features(**arrays)` reads them."""
        return {"means": self.means, "axes": self.axes}

    def compute_distances(self, features: NDArray[np.float32], answers: Ints) -> NDArray[np.float64]:
        """How unlike the class said the members find images, (N,): the mean over members.

        The distance of features, brought to length 1, from the plane of that class.

        Args:
          features: (M, N, F).
          answers: (N,), the ensemble's answers.

        Source: H. Wang, Z. Li, L. Feng and W. Zhang, "ViM: out-of-distribution with virtual-logit
        matching", CVPR 2022 (the residual of principal components), here of each class, as in
        S. Wold, "Pattern recognition by means of disjoint principal components models", 1976.
        """
        total = np.zeros(len(answers))
        for own, means, axes in zip(features, self.means, self.axes, strict=True):
            rows = normalize_rows(own)
            for c in np.unique(answers):
                mine = answers == c
                total[mine] += compute_subspace_residuals(rows[mine], means[c], axes[c])
        return total / len(features)


def compute_free_energy(logits: Floats) -> NDArray[np.float64]:
    """The free energy of images (N,) from the members' logits (M, N, C): their mean over members.

    −ln Σ exp of the logits: high where no class is felt, and where no two members feel the same.

    Source: W. Liu, X. Wang, J. Owens and Y. Li, "Energy-based out-of-distribution detection",
    NeurIPS 2020.
    """
    from scipy.special import logsumexp

    return -np.asarray(logsumexp(np.asarray(logits, np.float64), axis=-1)).mean(axis=0)


def count_feature_images(members: int) -> int:
    return max(_MIN_FEATURE_IMAGES, min(_MAX_FEATURE_IMAGES, _MAX_FORWARD_PASSES // members))
