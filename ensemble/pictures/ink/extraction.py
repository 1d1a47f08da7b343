"""Ink: which pixels of a photo or drawing a pen has left, and how much of it.

The steps: the mix of channels in which ink stands out (`light`), its polarity and the paper's
light (`polarity`, `light`), a threshold with hysteresis that has to stand clear of the paper's
own noise.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from ensemble.errors import ImageError
from ensemble.pictures.ink import cut_outs, frames, patches, polarity, ruled_lines, specks
from ensemble.pictures.ink import illumination as lights

_ANALYSIS_SIDE = 320  # longest side of the copy on which paper and polarity are found
_HIGH_THRESHOLD_FACTOR = 1.35  # times the threshold: what the surest pixel of a stroke has
_NOISE_FACTOR = 4.0  # deviations of the paper around it that ink is clear by
_MOST_GRAIN = 0.75  # of the core: chalk's own grain must not hide it
_GLOBAL_NOISE_FACTOR = 5.0  # the same for the whole picture's ink
_LOW_THRESHOLD_FACTOR = 0.5  # of the threshold: what a stroke may have between its surer places
_FRAGMENTATION_FACTOR = 2.5  # times as many components as there are with that: the stroke has come apart
_MAX_INK_GROWTH = 1.8  # times as much ink: with more it was paper
_MIN_RULED_SIDE = 220  # pixels, with its margin: smaller cut-outs have no printed lines
_INKS = ("auto", "dark", "light")
_FITS = ("crop", "whole")


@dataclass(frozen=True)
class PictureOptions:
    """What a person has decided about a picture; all automatic at first.

    Attributes:
      ink: "auto", "dark" or "light": which side of the paper ink is on.
      threshold: -1..1; 0 is automatic, higher asks for more contrast and so finds less ink.
      crop: (left, top, right, bottom) as shares of the upright picture in 0..1, or None.
      fit: of a picture that is one image: "crop", its middle in the networks' proportions, or
        "whole", all of it.

    Raises:
      ImageError: one of them is out of its range.
    """

    ink: str = "auto"
    threshold: float = 0.0
    crop: tuple[float, float, float, float] | None = None
    fit: str = "crop"

    def __post_init__(self) -> None:
        if self.ink not in _INKS:
            raise ImageError(f"Ink is one of {', '.join(_INKS)}, not {self.ink!r}.")
        if self.fit not in _FITS:
            raise ImageError(f"The fit is one of {', '.join(_FITS)}, not {self.fit!r}.")
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
      frames: how many frames around ink were removed.
      patches: how many rectangles of another lightness were made one with the page.
    """

    grey: NDArray[np.float32]
    even: NDArray[np.float32]
    mask: NDArray[np.bool_]
    light: bool
    threshold: float
    stroke: float
    lines: int = 0
    offset: tuple[int, int] = (0, 0)
    frames: int = 0
    patches: int = 0


def find_ink(pixels: NDArray[np.uint8], choices: PictureOptions = PictureOptions()) -> Ink:
    """Finds the ink in an upright picture uint8 (H, W, 3)."""
    left, top, right, bottom = compute_crop_box(pixels.shape[:2], choices.crop)
    part = np.ascontiguousarray(pixels[top:bottom, left:right])
    flattened = 0
    if choices.ink == "auto":
        part, flattened = patches.flatten_patches(part)
    part, wide = cut_outs.add_paper_margin(part, choices.ink)
    ink = _extract_ink(part, choices, ruled=not wide or max(part.shape) > _MIN_RULED_SIDE)
    own = slice(wide, -wide or None)
    grey, even = ink.grey[own, own], ink.even[own, own]
    return replace(ink, grey=grey, even=even, mask=ink.mask[own, own], patches=flattened, offset=(left, top))


def _extract_ink(pixels: NDArray[np.uint8], choices: PictureOptions, *, ruled: bool = True) -> Ink:
    """The ink of all of an upright picture uint8 (H, W, 3); printed lines are looked for if asked.

    In a small cut-out a digit's own side is as long and as straight as a printed line.
    """
    image = Image.fromarray(pixels)
    factor = max(1, -(-max(image.size) // _ANALYSIS_SIDE))
    weights = lights.compute_channel_weights(np.asarray(image.reduce(factor)))
    toned = lights.mix_to_gray(image, weights)
    look, copy = polarity.find_drawing_polarity(np.asarray(toned), choices.ink), 1.0
    if look is None:
        small = np.asarray(lights.create_analysis_copy(toned, _ANALYSIS_SIDE), np.float32) / np.float32(255)
        copy = max(small.shape) / max(image.size)
        look = polarity.choose_polarity(small, choices.ink, copy)
    # Pencil and chalk leave grains, and sensors noise: less than a stroke wide, they blur away.
    stroke = look.stroke
    wide = stroke / copy
    if wide > 8:  # a stroke of two pixels on the small copy may be thinner in truth
        radius = min(3.0, wide / 10) if stroke > 2.5 else 0.7
        toned = toned.filter(ImageFilter.BoxBlur(radius))
    grey = np.asarray(toned, np.float32) / np.float32(255)
    away = lights.compute_paper_contrast(grey, lights.enlarge_to_shape(look.paper, grey.shape), look.light)
    ruled = ruled and (look.side > 0 or _is_ink_spanning(away))
    along, across = _remove_printed_lines(away) if ruled else ([], [])
    if look.score < 0 and choices.threshold >= 0:  # nothing but soft shadows
        away[:] = 0
    even, mask, threshold = _threshold_above_noise(away, choices.threshold)
    for line in along:
        ruled_lines.mend_strokes(mask, line)
    for line in across:
        ruled_lines.mend_strokes(mask.T, line)
    framed = frames.remove_frames(mask, even)
    mask, stroke = specks.remove_specks(mask)
    count = len(along) + len(across)
    return Ink(
        grey=grey,
        even=even,
        mask=mask,
        light=look.light,
        threshold=threshold,
        stroke=stroke,
        lines=count,
        frames=framed,
    )


def _is_ink_spanning(away: NDArray[np.float32]) -> bool:
    ink = away > lights.MIN_INK_CONTRAST
    return max(ink.any(axis=0).mean(), ink.any(axis=1).mean()) >= ruled_lines.PARTIAL_SPAN_SHARE


def _remove_printed_lines(away: NDArray[np.float32]) -> tuple[list[ruled_lines.RuledLine], list[ruled_lines.RuledLine]]:
    """Erases printed lines from contrasts (H, W), in place; those along rows and along columns."""
    along = ruled_lines.find_ruled_lines(away)
    across = ruled_lines.find_ruled_lines(away.T)
    for line in along:
        ruled_lines.erase_ruled_line(away, line)
    for line in across:
        ruled_lines.erase_ruled_line(away.T, line)
    return along, across


def compute_crop_box(
    shape: tuple[int, ...], crop: tuple[float, float, float, float] | None
) -> tuple[int, int, int, int]:
    """Left, top, right, bottom in pixels of a picture (H, W); at least one pixel."""
    height, width = shape[0], shape[1]
    if crop is None:
        return 0, 0, width, height
    left, top = int(crop[0] * width), int(crop[1] * height)
    right, bottom = -int(-crop[2] * width // 1), -int(-crop[3] * height // 1)
    return left, top, max(right, left + 1), max(bottom, top + 1)


def _threshold_above_noise(
    away: NDArray[np.float32], wish: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_], float]:
    """Contrast brought to 0 paper .. 1 ink, the ink in it, and the threshold that it is above.

    Args:
      away: float32 (H, W), contrast with the paper.
      wish: -1..1, as in `PictureOptions`.
    """
    factor = 2.0**wish
    threshold = lights.THRESHOLD * factor
    noise, level = _estimate_noise_map(away, lights.estimate_core_contrast(away, lights.MIN_INK_CONTRAST)[0])
    # Who asks for more ink on a sheet that seems blank is shown also what hardly stands out.
    for ease in (1.0, min(1.0, factor**2)):
        core, paper = lights.estimate_core_contrast(
            away, ease * max(_GLOBAL_NOISE_FACTOR * float(np.median(noise)), lights.MIN_INK_CONTRAST)
        )
        if core:
            break
    else:
        return np.zeros_like(away), np.zeros(away.shape, bool), threshold
    even = ((away - paper) / core).clip(0, 1).astype(np.float32)
    grain = np.minimum(factor * (level - paper + _NOISE_FACTOR * noise) / core, _MOST_GRAIN).astype(np.float32)
    low: NDArray[np.float32] | float = threshold
    if grain.max() > threshold:
        low = np.maximum(lights.enlarge_to_shape(grain.clip(0, 1), away.shape), np.float32(threshold))
    sure = even > min(0.95, _HIGH_THRESHOLD_FACTOR * threshold)
    mask, components = specks.apply_hysteresis_threshold(even > low, sure)
    if components >= _FRAGMENTATION_FACTOR:
        # Grainy pencil and chalk come apart at pale places. Where a lower threshold finds far
        # fewer components with little more ink, these belong together.
        whole, fewer = specks.apply_hysteresis_threshold(even > _LOW_THRESHOLD_FACTOR * low, sure)
        if components >= _FRAGMENTATION_FACTOR * fewer and whole.sum() < _MAX_INK_GROWTH * mask.sum():
            mask = whole
    return even, mask, threshold


def _estimate_noise_map(away: NDArray[np.float32], core: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Deviation of the paper's or the table's own grain around each place, and its level.

    Both on a coarse grid (h, w).

    Fine grain is told by the median difference of pixels near each other: most of a place's
    pixels lie on no edge of ink, also where ink covers all of it. Coarse grain is told by the
    side of the paper's level on which there is no ink.
    """
    step = max(1, max(away.shape) // 500)
    sample = np.pad(away[::step, ::step], ((0, 2), (0, 2)), "edge")
    here = sample[:-2, :-2]
    apart = np.abs(sample[2:, :-2] - here) + np.abs(sample[:-2, 2:] - here)
    # The sum of two such differences of normal noise has a median of 2.1 deviations.
    fine = _compute_tile_quantiles(apart, 0.5) / np.float32(2.1)
    level = _compute_tile_quantiles(here, 0.5)
    coarse = level - np.maximum(_compute_tile_quantiles(here, 0.16), 0)  # below 0 lies the foot of a shadow
    paper = level < 0.3 * core
    return np.maximum(fine, np.where(paper, coarse, 0)), np.where(paper, level.clip(0), 0)


def _compute_tile_quantiles(values: NDArray[np.float32], share: float) -> NDArray[np.float32]:
    """The quantile of values (H, W) in each of a grid of tiles (h, w) 24 pixels wide or more."""
    rows, columns = (max(1, side // 24) for side in values.shape)
    deep, broad = values.shape[0] // rows, values.shape[1] // columns
    tiles = values[: rows * deep, : columns * broad].reshape(rows, deep, columns, broad)
    listed = tiles.transpose(0, 2, 1, 3).reshape(rows, columns, -1)
    listed = listed[..., :: 1 + listed.shape[2] // 200]
    place = int(share * listed.shape[2])
    return np.partition(listed, place, axis=2)[..., place]
