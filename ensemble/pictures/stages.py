"""Stages: what a picture went through on its way to the marks, small, in pictures and words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.pictures.files.picture import Picture
from ensemble.pictures.ink.extraction import Ink
from ensemble.pictures.segmentation.marks import Mark
from ensemble.pictures.segmentation.mnist_form import MNIST_SIDE

MAX_STAGE_SIDE = 512  # pixels of a stage's longer side
_MARKS_PER_ROW = 10  # marks beside each other in the last stage

Name = Literal["original", "grey", "even", "ink", "marks", "part", "image"]


@dataclass(frozen=True, eq=False)
class PreparationStage:
    """One stage.

    Attributes:
      name: which one.
      title: a word or two for people.
      image: uint8 (h, w) or (h, w, 3), no side longer than `MAX_STAGE_SIDE`.
      description: a sentence with figures on what was done.
    """

    name: Name
    title: str
    image: NDArray[np.uint8]
    description: str


def build_mark_stages(picture: Picture, ink: Ink | None, marks: tuple[Mark, ...]) -> tuple[PreparationStage, ...]:
    """The stages from the picture as it came to the marks as the networks get them.

    Args:
      picture: what came in.
      ink: where its ink is; None if it was left unchanged: then there are two stages only.
      marks: in reading order.
    """
    width, height = picture.size
    first = PreparationStage("original", "Picture", shrink_image(picture.pixels), f"{width} × {height} pixels.")
    last = PreparationStage("marks", "Digits", _tile_marks(marks), _describe_marks(marks, ink is None))
    if ink is None:
        return first, last
    grey = PreparationStage(
        "grey", "Grey", shrink_image(_convert_shares_to_bytes(ink.grey)), "The channel where ink and paper differ most."
    )
    even = PreparationStage(
        "even", "Even light", shrink_image(_convert_shares_to_bytes(1 - ink.even)), _describe_even_light(ink)
    )
    preparation_stage = PreparationStage(
        "ink", "Ink", shrink_image(_convert_shares_to_bytes(1.0 - ink.mask)), describe_ink(ink)
    )
    return first, grey, even, preparation_stage, last


def shrink_image(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image, averaged down to `MAX_STAGE_SIDE` pixels where it is larger."""
    height, width = image.shape[:2]
    factor = MAX_STAGE_SIDE / max(height, width)
    if factor >= 1:
        return image
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BOX, reducing_gap=2.0))


def _convert_shares_to_bytes(shares: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Shares in 0..1 as bytes."""
    return np.rint(np.clip(shares, 0, 1) * 255).astype(np.uint8)


def _tile_marks(marks: tuple[Mark, ...]) -> NDArray[np.uint8]:
    """The marks in rows of `_MARKS_PER_ROW`, enlarged as far as `MAX_STAGE_SIDE` allows."""
    if not marks:
        return np.zeros((MNIST_SIDE, MNIST_SIDE), np.uint8)
    across = min(_MARKS_PER_ROW, len(marks))
    down = -(-len(marks) // across)
    sheet = np.zeros((down * across, MNIST_SIDE, MNIST_SIDE), np.uint8)
    sheet[: len(marks)] = [mark.image[:, :, 0] for mark in marks]
    rows = sheet.reshape(down, across, MNIST_SIDE, MNIST_SIDE).transpose(0, 2, 1, 3)
    flat = rows.reshape(down * MNIST_SIDE, across * MNIST_SIDE)
    times = max(1, min(8, MAX_STAGE_SIDE // max(flat.shape)))
    return flat.repeat(times, axis=0).repeat(times, axis=1)


def _describe_even_light(ink: Ink) -> str:
    tone = "lighter" if ink.light else "darker"
    return f"Shadows removed; ink is {tone} than the paper."


def describe_ink(ink: Ink) -> str:
    share = 100 * float(ink.mask.mean())
    lines = {0: "", 1: "; 1 ruled line left out"}.get(ink.lines, f"; {ink.lines} ruled lines left out")
    return f"Ink on {share:.1f} % of the picture{lines}; stroke {ink.stroke:.0f} px."


def _describe_marks(marks: tuple[Mark, ...], as_it_is: bool) -> str:
    count, lines = len(marks), len({mark.line for mark in marks})
    if as_it_is and count == 1:
        return "Already 28 × 28, white on black: left unchanged."
    if not count:
        return "No ink, so no digits."
    what = "1 digit" if count == 1 else f"{count} marks on {lines} line{'s' if lines > 1 else ''}"
    return f"{what}, each scaled to 28 × 28 with strokes as wide as MNIST's."
