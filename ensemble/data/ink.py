"""Ink: which pixels of a photo or drawing a pen has left, and how much of it.

The steps: the mix of channels in which ink stands out (`light`), its polarity and the paper's
light (`polarity`, `light`), a threshold with hysteresis that has to stand clear of the paper's
own noise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.data import light as lights
from ensemble.data import lines, polarity, specks
from ensemble.errors import ImageError

SMALL = 320  # longest side of the copy on which paper and polarity are found
SURE = 1.35  # times the threshold: what the surest pixel of a stroke has
NOISE = 4.0  # deviations of the paper around it that ink is clear by
CLEAR = 5.0  # the same for the whole picture's ink
INKS = ("auto", "dark", "light")


@dataclass(frozen=True)
class Choices:
    """What a person has decided about a picture; all automatic at first.

    Attributes:
      ink: "auto", "dark" or "light": which side of the paper ink is on.
      threshold: -1..1; 0 is automatic, higher asks for more contrast and so finds less ink.
      crop: (left, top, right, bottom) as shares of the upright picture in 0..1, or None.

    Raises:
      ImageError: one of them is out of its range.
    """

    ink: str = "auto"
    threshold: float = 0.0
    crop: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        if self.ink not in INKS:
            raise ImageError(f"Ink is one of {', '.join(INKS)}, not {self.ink!r}.")
        if not -1 <= self.threshold <= 1:
            raise ImageError("The threshold has to lie between -1 and 1.")
        if self.crop is not None:
            left, top, right, bottom = self.crop
            if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
                raise ImageError("A crop needs 0 ≤ left < right ≤ 1 and 0 ≤ top < bottom ≤ 1.")


@dataclass(frozen=True, eq=False)
class Ink:
    """The ink of a picture, or of its crop.

    Attributes:
      grey: float32 (H, W) in 0..1, the mix of channels that was looked at.
      even: float32 (H, W) in 0..1, light evened: 0 paper, 1 the core of a clear stroke.
      mask: bool (H, W), ink without specks and ruled lines.
      light: whether ink is lighter than paper.
      threshold: of `even`, above which a pixel is ink.
      stroke: typical width of a stroke in pixels; 0 where there is no ink.
      lines: how many ruled lines were removed.
      offset: (left, top) of the crop in pixels of the picture.
    """

    grey: NDArray[np.float32]
    even: NDArray[np.float32]
    mask: NDArray[np.bool_]
    light: bool
    threshold: float
    stroke: float
    lines: int = 0
    offset: tuple[int, int] = (0, 0)


def find_ink(pixels: NDArray[np.uint8], choices: Choices = Choices()) -> Ink:
    """Finds the ink in an upright picture uint8 (H, W, 3)."""
    left, top, right, bottom = crop_box(pixels.shape[:2], choices.crop)
    image = Image.fromarray(np.ascontiguousarray(pixels[top:bottom, left:right]))
    factor = max(1, -(-max(image.size) // SMALL))
    weights = lights.mix(np.asarray(image.reduce(factor)))
    toned = lights.to_grey(image, weights)
    grey = np.asarray(toned, np.float32) / np.float32(255)
    small = np.asarray(toned.reduce(factor), np.float32) / np.float32(255)
    look = polarity.choose(small, choices.ink)
    away = lights.contrast(grey, lights.enlarge(look.ground, grey.shape), look.light)
    along, across = take_out(away)
    even, mask, threshold = above_noise(away, choices.threshold)
    for line in along:
        lines.mend(mask, line)
    for line in across:
        lines.mend(mask.T, line)
    mask, stroke = specks.clean(mask)
    count = len(along) + len(across)
    return Ink(grey, even, mask, look.light, threshold, stroke, count, (left, top))


def take_out(away: NDArray[np.float32]) -> tuple[list[lines.Line], list[lines.Line]]:
    """Erases printed lines from contrasts (H, W), in place; those along rows and along columns."""
    along = lines.find_lines(away)
    across = lines.find_lines(np.ascontiguousarray(away.T))
    for line in along:
        lines.erase(away, line)
    for line in across:
        lines.erase(away.T, line)
    return along, across


def crop_box(
    shape: tuple[int, ...], crop: tuple[float, float, float, float] | None
) -> tuple[int, int, int, int]:
    """Left, top, right, bottom in pixels of a picture (H, W); at least one pixel."""
    height, width = shape[0], shape[1]
    if crop is None:
        return 0, 0, width, height
    left, top = int(crop[0] * width), int(crop[1] * height)
    right, bottom = -int(-crop[2] * width // 1), -int(-crop[3] * height // 1)
    return left, top, max(right, left + 1), max(bottom, top + 1)


def above_noise(
    away: NDArray[np.float32], wish: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_], float]:
    """Contrast brought to 0 paper .. 1 ink, the ink in it, and the threshold that it is above.

    Args:
      away: float32 (H, W), contrast with the paper.
      wish: -1..1, as in `Choices`.
    """
    factor = 2.0**wish
    threshold = lights.THRESHOLD * factor
    noise = noise_map(away)
    # Who asks for more ink on a sheet that seems blank is shown also what hardly stands out.
    for ease in (1.0, min(1.0, factor**2)):
        core, paper = lights.clear_core(
            away, ease * max(CLEAR * float(np.median(noise)), lights.LEAST)
        )
        if core:
            break
    else:
        return np.zeros_like(away), np.zeros(away.shape, bool), threshold
    even = ((away - paper) / core).clip(0, 1).astype(np.float32)
    least = lights.enlarge((NOISE * factor * noise / core).astype(np.float32), away.shape)
    low = np.maximum(threshold, least)
    return even, hysteresis(even, low, min(0.95, SURE * threshold)), threshold


def noise_map(away: NDArray[np.float32]) -> NDArray[np.float32]:
    """Deviation of the paper's or table's own grain around each place, on a coarse grid (h, w).

    Told by the median difference of pixels near each other: most of a place's pixels lie on no
    edge of ink, also where ink covers all of it.
    """
    step = max(1, max(away.shape) // 500)
    sample = np.pad(
        away[::step, ::step], ((0, 2), (0, 2)), "reflect" if min(away.shape) > 3 * step else "edge"
    )
    apart = np.abs(sample[2:, :-2] - sample[:-2, :-2]) + np.abs(sample[:-2, 2:] - sample[:-2, :-2])
    rows, columns = (max(1, side // 24) for side in apart.shape)
    deep, broad = apart.shape[0] // rows, apart.shape[1] // columns
    tiles = apart[: rows * deep, : columns * broad].reshape(rows, deep, columns, broad)
    tiles = tiles.transpose(0, 2, 1, 3).reshape(rows, columns, -1)
    middle = tiles.shape[2] // 2
    # The sum of two such differences of normal noise has a median of 2.1 deviations.
    return np.partition(tiles, middle, axis=2)[..., middle] / np.float32(2.1)


def hysteresis(
    even: NDArray[np.float32], low: NDArray[np.float32], high: float
) -> NDArray[np.bool_]:
    """Pixels above `low` that hang together with one above `high` too (Canny 1986)."""
    from scipy import ndimage

    labels, count = ndimage.label(even > low, np.ones((3, 3), np.uint8))
    sure = np.zeros(count + 1, bool)
    sure[labels[even > np.maximum(low, high)]] = True
    sure[0] = False
    return sure[labels]
