"""Points in a plane whose distances are as near as can be to given ones, and how far they are not.

No chance is in it: the same distances give the same points.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_DIMENSIONS = 2
_TIE_TOLERANCE = 1e-9  # relative; of entries as large as each other the first decides a sign
ROUNDING = 1e-12  # of the largest eigenvalue: what is smaller is rounding


@dataclass(frozen=True, eq=False)
class ClassicalScaling:
    """P points in a plane.

    Attributes:
      points: (P, 2), around 0, the longer axis first; in the unit of the distances.
      stress: Kruskal's stress-1 of the points' distances against the given ones, at the scale that
        suits both best, in [0, 1]; 0 where the plane holds all proportions.
      shown_share: the share of the squared distances to the centre that the plane holds, in [0, 1].
      negative_share: the share of all eigenvalues, by size, that are negative: above 0 where the
        distances are those of no points in any space.
    """

    points: Doubles
    stress: float
    shown_share: float
    negative_share: float


def scale_distances(squared: Doubles) -> ClassicalScaling:
    """Points in a plane by classical scaling.

    B = −½ J D J with J = I − 1/P is double-centred; its two largest eigenvalues λ and their
    eigenvectors v give the coordinates √λ v. A negative eigenvalue has no coordinate and counts as
    0. Of each axis the entry that is largest in size is positive.

    Args:
      squared: (P, P), squared distances, at least 0, symmetric, 0 on the diagonal; P at least 1.

    Raises:
      ValueError: it is not such a matrix.

    Source: W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17
    (1952), 401-419; J. C. Gower, "Some distance properties of latent root and vector methods used
    in multivariate analysis", Biometrika 53 (1966), 325-338.
    """
    squared = np.asarray(squared, np.float64)
    if squared.ndim != 2 or squared.shape[0] != squared.shape[1] or not len(squared):
        raise ValueError(f"Distances of shape {squared.shape} are not (P, P).")
    if not np.isfinite(squared).all() or (squared < 0).any() or np.diag(squared).any():
        raise ValueError("Distances are finite, at least 0, and 0 on the diagonal.")
    if not np.allclose(squared, squared.T):
        raise ValueError("Distances are the same both ways.")
    means = squared.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (squared - means - means[:, None] + means.mean()))
    sizes = np.abs(values)
    values = np.where(sizes > ROUNDING * max(sizes.max(), np.finfo(float).tiny), values, 0.0)
    points = np.zeros((len(squared), _DIMENSIONS))
    kept = min(_DIMENSIONS, len(squared))
    longest = vectors[:, ::-1][:, :kept] * np.sqrt(np.maximum(values[::-1][:kept], 0.0))
    points[:, :kept] = _orient_axes(longest)
    positive = np.maximum(values, 0.0)
    total, whole = positive.sum(), np.abs(values).sum()
    return ClassicalScaling(
        points=points,
        stress=measure_stress(np.sqrt(squared), points),
        shown_share=float(positive[::-1][:_DIMENSIONS].sum() / total) if total else 1.0,
        negative_share=float(np.maximum(-values, 0.0).sum() / whole) if whole else 0.0,
    )


def _orient_axes(points: Doubles) -> Doubles:
    """(P, A), each axis turned so that its entry largest in size, the first of equals, is positive.

    An eigenvector's sign is arbitrary: without this a map could come out mirrored elsewhere.
    """
    sizes = np.abs(points)
    first = (sizes >= sizes.max(axis=0) * (1 - _TIE_TOLERANCE)).argmax(axis=0)
    decisive = points[first, np.arange(points.shape[1])]
    return np.asarray(points * np.where(decisive < 0, -1.0, 1.0))


def measure_stress(distances: Doubles, points: Doubles) -> float:
    """Kruskal's stress-1: √(Σ (d − b δ)² / Σ d²) over pairs, at the b that makes it least.

    d is the distance of two points and δ the given one; it is √(1 − r²) with r the congruence of
    both, so that the scale of neither counts.

    Args:
      distances: (P, P), δ.
      points: (P, A).

    Returns:
      In [0, 1]: 0 where all proportions are kept, or where all distances are 0.

    Source: J. B. Kruskal, "Multidimensional scaling by optimizing goodness of fit to a nonmetric
    hypothesis", Psychometrika 29 (1964), 1-27; there b δ is any monotone function of δ, here its
    multiple (ratio scaling).
    """
    pairs = np.triu_indices(len(points), 1)
    given = distances[pairs]
    drawn = np.sqrt(((points[pairs[0]] - points[pairs[1]]) ** 2).sum(axis=1))
    if not given.any():
        return 0.0
    if not drawn.any():
        return 1.0
    congruence = (drawn @ given) ** 2 / ((drawn @ drawn) * (given @ given))
    return float(np.sqrt(max(0.0, 1.0 - congruence)))
