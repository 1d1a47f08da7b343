"""Polarity: whether ink is darker or lighter than paper, and how wide strokes may be.

Every answer is tried on a small copy: ink found with it should have sharp edges (shadows have
none), should cover less than the paper and should touch the border less.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.data import light as lights

Grey = NDArray[np.float32]
SHARES = (1 / 20, 1 / 9, 1 / 4, 1 / 2.2)  # of the longest side: squares that the strokes fit into


class Look(NamedTuple):
    """One way to look at a picture, and what it shows on the small copy."""

    light: bool
    side: int
    ground: Grey
    mask: NDArray[np.bool_]
    score: float


def choose(small: Grey, ink: str) -> Look:
    """The way of looking that shows the clearest ink.

    Args:
      small: (h, w) in 0..1.
      ink: "auto", "dark" or "light".
    """
    from scipy import ndimage

    edges = np.hypot(ndimage.sobel(small, 0), ndimage.sobel(small, 1)) / 8
    edges = ndimage.maximum_filter(edges / (ndimage.maximum_filter(small, 3) + lights.FLOOR), 3)
    asked = {"dark": (False,), "light": (True,)}.get(ink, (False, True))
    looks = [look(small, edges, light, share) for light in asked for share in SHARES]
    return max(looks, key=lambda look: look.score)


def look(small: Grey, edges: Grey, light: bool, share: float) -> Look:
    """Looks for ink of one polarity and of strokes narrower than a share of the picture."""
    from scipy import ndimage

    side = max(3, round(share * max(small.shape)) | 1)
    ground = lights.paper(small, side, light)
    away = lights.contrast(small, ground, light)
    mask = away > otsu(away)
    if not mask.any():
        return Look(light, side, ground, mask, 0.0)
    inner = ndimage.binary_erosion(mask, border_value=1)
    rim = mask & ~inner
    strength = edges[rim].sum() / np.sqrt(max(1, rim.sum()))
    covered = mask.mean()
    border = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]]).mean()
    return Look(light, side, ground, mask, float(strength * (1 - covered) ** 2 * (1 - border)))


def otsu(values: Grey) -> float:
    """The threshold that splits values best into two (Otsu 1979)."""
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    if high - low < 1e-6:
        return high
    counts, edges = np.histogram(values, 128, (low, high))
    middles = (edges[1:] + edges[:-1]) / 2
    below = np.cumsum(counts)
    above = below[-1] - below
    moments = np.cumsum(counts * middles)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (moments / below - (moments[-1] - moments) / above) ** 2
    return float(edges[1 + int(np.nanargmax(between[:-1]))])
