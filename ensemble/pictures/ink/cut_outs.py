"""Cut-outs: pictures that end where their ink ends, so that no bare paper goes around it.

What looks for ink takes what lies along the border for a table or a finger, and needs paper on
both sides of a stroke. A picture of two greys whose rarer one reaches its sides is no photo of a
sheet: it is given a margin of its own paper, which is taken off again afterwards. The greys are
told apart by Otsu's threshold ("A threshold selection method from gray-level histograms", 1979).
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

LONGEST = 640  # pixels: what is longer is a photo, or has room for margins of its own
_MIN_BETWEEN_VARIANCE = 0.65  # of all variance lies between the two greys; of a photo in falling light less
_MIN_CONTRAST = 48  # greys that they are apart at least
_INK_COVERAGE = 0.5  # of the picture: ink is the rarer of the two
_COVERAGE_MARGIN = 0.12  # more or less: which is the rarer one says little
_MIN_PIECE_SHARE = 0.002  # of the picture: smaller pieces do not count
# Of a side: what covers more of two is a frame, or the table; of one, the bar of a 7. Where the
# two greys meet in crisp edges it is no shadow either, and a broad pen may cover as much.
_MOST_RIM, _MOST_CRISP = 0.6, 0.8
_MIN_EDGE_STEEPNESS = 0.2  # of their contrast, a pixel: shadows and falling light have up to 0.12
_MIN_SIDES_REACHED = 2  # of four, that ink reaches
_NEAR = 0.08  # of the picture: what comes so near to a side reaches it
_MARGIN_SHARE = 0.2  # of the longer side: the margin


def add_paper_margin(pixels: NDArray[np.uint8], ink: str) -> tuple[NDArray[np.uint8], int]:
    """The picture (H, W, 3) and 0; of a cut-out, with paper around it, and how much of it."""
    if max(pixels.shape[:2]) > LONGEST:
        return pixels, 0
    paper = _find_paper_gray(np.asarray(Image.fromarray(pixels).convert("L")), ink)
    if paper is None:
        return pixels, 0
    wide = max(4, round(_MARGIN_SHARE * max(pixels.shape[:2])))
    return np.pad(pixels, ((wide, wide), (wide, wide), (0, 0)), constant_values=paper), wide


def _find_paper_gray(grey: NDArray[np.uint8], ink: str) -> int | None:
    """The grey of a cut-out's paper; None for a picture that is none.

    Args:
      grey: uint8 (H, W).
      ink: "auto", "dark" or "light".
    """
    if min(grey.shape) < 4:
        return None
    threshold = _otsu_threshold(grey)
    if threshold is None:
        return None
    light = grey > threshold
    ink_is_light = ink == "light" if ink != "auto" else _is_ink_lighter(light)
    inked = light if ink_is_light else ~light
    deep, broad = (1 + round(_NEAR * side) for side in grey.shape)
    sides = inked[:deep], inked[-deep:], inked[:, :broad].T, inked[:, -broad:].T
    touched = [float(side.any(axis=0).mean()) for side in sides]
    second = sorted(touched)[-2]
    if sum(share > 0 for share in touched) < _MIN_SIDES_REACHED or second > _MOST_CRISP:
        return None
    if second > _MOST_RIM and _measure_edge_steepness(grey, light) < _MIN_EDGE_STEEPNESS:
        return None
    return int(np.median(grey[~inked]))


def _is_ink_lighter(light: NDArray[np.bool_]) -> bool:
    """Whether the lighter of two greys, bool (H, W), is the ink: the rarer one.

    A broad pen cut at its ink covers about half: there the ink is what hangs together, and the
    paper what lies in several places around it and in its loops.
    """
    from scipy import ndimage

    share = float(light.mean())
    if abs(share - _INK_COVERAGE) < _COVERAGE_MARGIN:
        pieces = [
            int((np.bincount(ndimage.label(mask)[0].ravel())[1:] > _MIN_PIECE_SHARE * light.size).sum())
            for mask in (light, ~light)
        ]
        if pieces[0] != pieces[1]:
            return pieces[0] < pieces[1]
    return share < _INK_COVERAGE


def _measure_edge_steepness(grey: NDArray[np.uint8], light: NDArray[np.bool_]) -> float:
    from scipy import ndimage

    values = grey.astype(np.float32)
    steps = np.hypot(ndimage.sobel(values, 0), ndimage.sobel(values, 1)) / 8
    meet = light & ~ndimage.binary_erosion(light, border_value=1)
    contrast = float(values[light].mean() - values[~light].mean())
    return float(steps[meet].mean()) / contrast if meet.any() else 0.0


def _otsu_threshold(grey: NDArray[np.uint8]) -> int | None:
    """The grey between a picture's two greys, Otsu's; None if there are not two."""
    counts = np.bincount(grey.ravel(), minlength=256) / grey.size
    levels = np.arange(256)
    below, mean = np.cumsum(counts), np.cumsum(counts * levels)
    whole = mean[-1]
    spread = (whole * below - mean) ** 2 / np.maximum(below * (1 - below), 1e-9)
    variance = float(counts @ (levels - whole) ** 2)
    threshold = int(spread.argmax())
    if variance <= 0 or spread[threshold] < _MIN_BETWEEN_VARIANCE * variance:
        return None
    dark = mean[threshold] / below[threshold]
    light = (whole - mean[threshold]) / max(1 - below[threshold], 1e-9)
    return threshold if light - dark >= _MIN_CONTRAST else None
