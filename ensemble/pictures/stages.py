"""Stages: what a picture went through on its way to the marks, small, in pictures and words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.pictures.files.opening import Picture
from ensemble.pictures.ink.extraction import Ink
from ensemble.pictures.segmentation.marks import Mark
from ensemble.pictures.segmentation.mnist_form import SIZE

LONGEST = 512  # pixels of a stage's longer side
ACROSS = 10  # marks beside each other in the last stage

Name = Literal["original", "grey", "even", "ink", "marks", "part", "image"]


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage.

    Attributes:
      name: which one.
      title: a word or two for people.
      image: uint8 (h, w) or (h, w, 3), no side longer than `LONGEST`.
      says: a sentence with figures on what was done.
    """

    name: Name
    title: str
    image: NDArray[np.uint8]
    says: str


def make_stages(picture: Picture, ink: Ink | None, marks: tuple[Mark, ...]) -> tuple[Stage, ...]:
    """The stages from the picture as it came to the marks as the networks get them.

    Args:
      picture: what came in.
      ink: where its ink is; None if it was taken as it is: then there are two stages only.
      marks: in reading order.
    """
    width, height = picture.size
    first = Stage("original", "Picture", small(picture.pixels), f"{width} × {height} pixels.")
    last = Stage("marks", "Digits", side_by_side(marks), say_marks(marks, ink is None))
    if ink is None:
        return first, last
    grey = Stage("grey", "Grey", small(in_bytes(ink.grey)), "Where ink and paper differ most.")
    even = Stage("even", "Even light", small(in_bytes(1 - ink.even)), say_even(ink))
    found = Stage("ink", "Ink", small(in_bytes(1.0 - ink.mask)), say_ink(ink))
    return first, grey, even, found, last


def small(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image, averaged down to `LONGEST` pixels where it is larger."""
    height, width = image.shape[:2]
    factor = LONGEST / max(height, width)
    if factor >= 1:
        return image
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BOX, reducing_gap=2.0))


def in_bytes(shares: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Shares in 0..1 as bytes."""
    return np.rint(np.clip(shares, 0, 1) * 255).astype(np.uint8)


def side_by_side(marks: tuple[Mark, ...]) -> NDArray[np.uint8]:
    """The marks in rows of `ACROSS`, enlarged without smoothing as far as `LONGEST` allows."""
    if not marks:
        return np.zeros((SIZE, SIZE), np.uint8)
    across = min(ACROSS, len(marks))
    down = -(-len(marks) // across)
    sheet = np.zeros((down * across, SIZE, SIZE), np.uint8)
    sheet[: len(marks)] = [mark.image[:, :, 0] for mark in marks]
    rows = sheet.reshape(down, across, SIZE, SIZE).transpose(0, 2, 1, 3)
    flat = rows.reshape(down * SIZE, across * SIZE)
    times = max(1, min(8, LONGEST // max(flat.shape)))
    return flat.repeat(times, axis=0).repeat(times, axis=1)


def say_even(ink: Ink) -> str:
    """How the light was evened."""
    tone = "lighter" if ink.light else "darker"
    return f"Shadows taken out; ink is {tone} than the paper."


def say_ink(ink: Ink) -> str:
    """What counts as ink, in figures."""
    share = 100 * float(ink.mask.mean())
    lines = {0: "", 1: "; 1 ruled line left out"}.get(
        ink.lines, f"; {ink.lines} ruled lines left out"
    )
    return f"Ink on {share:.1f} % of the picture{lines}; stroke {ink.stroke:.0f} px."


def say_marks(marks: tuple[Mark, ...], as_it_is: bool) -> str:
    """How many digits there are, on how many lines."""
    count, lines = len(marks), len({mark.line for mark in marks})
    if as_it_is and count == 1:
        return "Already 28 × 28, white on black: taken as it is."
    if not count:
        return "No ink, no digits."
    what = "1 digit" if count == 1 else f"{count} marks on {lines} line{'s' if lines > 1 else ''}"
    return f"{what}, each brought to 28 × 28 with its strokes as wide as MNIST's."
