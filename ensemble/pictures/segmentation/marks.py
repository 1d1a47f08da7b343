"""Marks: ink in, one mark a digit out, each with its box, its line and its 28×28 picture."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.ink.extraction import Ink
from ensemble.pictures.segmentation.clutter import without_clutter
from ensemble.pictures.segmentation.components import Box, Components, around, find_components, join
from ensemble.pictures.segmentation.mnist_form import ink_box, to_mnist
from ensemble.pictures.segmentation.reading_order import reading_order
from ensemble.pictures.segmentation.touching_digits import Decide, split

MAX_MARKS = 100
LARGE = 240  # pixels: what is larger has edges enough without soft ones
AROUND = 0.15  # of a mark's longer side: so far from it the paper is looked at
PAPER = 0.15  # of full ink: bare paper is of one lightness, whatever falls on it, within that
LOOP = 0.004  # of a mark's box: what ink goes around is no smaller
SOFT_EDGES = 2  # pixels around ink in which edges fade


@dataclass(frozen=True, eq=False)
class Mark:
    """One mark, probably a digit.

    Attributes:
      box: left, top, right, bottom in pixels of the full upright original.
      line: from 0, from above.
      image: uint8 (28, 28, 1) as the networks know digits.
      cut: uint8 (h, w) its ink before scaling, 255 where a pixel is all ink.
      piece: number of the piece of ink that it was cut from with others; -1: of its own.
      ground: how much of what is around its ink is no bare paper, in [0, 1].
      loops: how many places its ink goes around, as large as it was.
    """

    box: Box
    line: int
    image: NDArray[np.uint8]
    cut: NDArray[np.uint8]
    piece: int = -1
    ground: float = 0.0
    loops: int = 0


@dataclass(frozen=True, eq=False)
class Piece:
    """The ink of one mark in the working picture.

    Attributes:
      box: of its ink.
      cut: uint8 (h, w), 255 where a pixel is all ink; soft edges may reach beyond the box.
      number: of the piece that it was cut from with others; -1: it is a whole one.
    """

    box: Box
    cut: NDArray[np.uint8]
    number: int = -1


def find_marks(
    ink: Ink, scale: float, decide: Decide | None = None
) -> tuple[tuple[Mark, ...], tuple[str, ...]]:
    """Marks in reading order, at most `MAX_MARKS`, and notes on what was left out.

    Args:
      ink: of the working picture, or of what was cropped from it.
      scale: pixels of the original for one of the working picture.
      decide: as `touching.split` takes it.
    """
    components = find_components(ink.mask, ink.stroke)
    pieces = [piece_of(ink, components, group) for group in join(components)]
    boxes = np.array([piece.box for piece in pieces], np.intp).reshape(-1, 4)
    digits, said = without_clutter(boxes, (ink.mask.shape[1], ink.mask.shape[0]))
    pieces = [piece for piece, keep in zip(pieces, digits, strict=True) if keep]
    notes = list(said)
    if len(pieces) <= MAX_MARKS:
        pieces = [
            digit
            for number, piece in enumerate(pieces)
            for digit in digits_in(piece, decide, number)
        ]
    if len(pieces) > MAX_MARKS:
        notes.append(f"{len(pieces)} marks: the {MAX_MARKS} largest were taken.")
        pieces = sorted(pieces, key=lambda piece: -height(piece.box))[:MAX_MARKS]
    if not pieces:
        return (), ("No ink was found.", *notes)
    order, lines = reading_order(np.array([piece.box for piece in pieces], np.intp))
    return tuple(mark_of(pieces[k], int(lines[k]), ink, scale) for k in order), tuple(notes)


def piece_of(ink: Ink, components: Components, group: list[int]) -> Piece:
    """The components of one digit, cut from the picture, with soft edges where it is small."""
    left, top, right, bottom = components.boxes[group[0]].tolist()
    for k in group[1:]:
        left, top, right, bottom = around((left, top, right, bottom), tuple(components.boxes[k]))
    tall, broad = ink.mask.shape
    soft = SOFT_EDGES if max(right - left, bottom - top) < LARGE else 0
    left, top = max(left - soft, 0), max(top - soft, 0)
    right, bottom = min(right + soft, broad), min(bottom + soft, tall)
    rows, columns = slice(top, bottom), slice(left, right)
    own = components.paint(group, (left, top, right, bottom))
    cut = own.astype(np.uint8) * np.uint8(255)
    if soft:
        cut = soften(own, ink.mask[rows, columns], ink.even[rows, columns], ink.threshold)
    return placed(cut, left, top)


def soften(
    own: NDArray[np.bool_],
    ink: NDArray[np.bool_],
    even: NDArray[np.float32],
    threshold: float,
) -> NDArray[np.uint8]:
    """How much of each pixel a digit covers, from how dark it is: half of it at the threshold.

    Args:
      own: bool (h, w), the digit's ink.
      ink: all ink.
      even: float32 (h, w) in 0..1, paper to full ink.
      threshold: of `even`, above which a pixel is ink.
    """
    from scipy import ndimage

    full = max(float(np.quantile(even[own], 0.7)), threshold + 0.05)
    near = ndimage.binary_dilation(own, np.ones((3, 3), bool)) & ~ink
    outside = np.where(near, (127 / threshold) * even, 0).clip(0, 127)
    inside = 128 + (127 / (full - threshold)) * (even - threshold)
    return np.where(own, inside.clip(128, 255), outside).astype(np.uint8)


def digits_in(piece: Piece, decide: Decide | None, number: int) -> list[Piece]:
    """The digits of a piece, if it is of several that touch; otherwise the piece itself."""
    cuts = split(piece.cut, decide)
    if len(cuts) == 1:
        return [piece]
    inside = ink_box(piece.cut > 127) or (0, 0, 0, 0)
    x, y = piece.box[0] - inside[0], piece.box[1] - inside[1]
    return [placed(cut, x, y, number) for cut in cuts]


def placed(cut: NDArray[np.uint8], x: int, y: int, number: int = -1) -> Piece:
    """A piece whose array begins at pixel (x, y) of the working picture."""
    left, top, right, bottom = ink_box(cut > 127) or (0, 0, 1, 1)
    return Piece((left + x, top + y, right + x, bottom + y), cut, number)


def height(box: Box) -> int:
    """Of a box, in pixels."""
    return box[3] - box[1]


def mark_of(piece: Piece, line: int, ink: Ink, scale: float) -> Mark:
    """A piece as a mark, its box in the original picture."""
    left, top = ink.offset
    west, north, east, south = piece.box
    box = (
        round((west + left) * scale),
        round((north + top) * scale),
        round((east + left) * scale),
        round((south + top) * scale),
    )
    ground = not_paper(ink, piece.box)
    around_in = loops_of(piece.cut)
    return Mark(box, line, to_mnist(piece.cut), piece.cut, piece.number, ground, around_in)


def loops_of(cut: NDArray[np.uint8]) -> int:
    """How many places ink uint8 (h, w) goes around; the grain of a pencil leaves smaller ones."""
    from scipy import ndimage

    left, top, right, bottom = ink_box(cut > 127) or (0, 0, 1, 1)
    ground, count = ndimage.label(~np.pad(cut[top:bottom, left:right] > 127, 1))
    if count < 2:
        return 0
    areas = np.bincount(ground.ravel())[2:]  # 0 is ink, and 1 what is around it
    return int((areas > LOOP * (right - left) * (bottom - top)).sum())


def not_paper(ink: Ink, box: Box) -> float:
    """How much around a mark's ink is neither ink nor bare paper, in [0, 1].

    Ink ends at paper, and what is left between them is the edge of a stroke, which does not count
    here. In a photograph of things there is no paper: what a threshold leaves of an animal is
    beside more of the animal, a little lighter.
    """
    from scipy import ndimage

    left, top, right, bottom = box
    room = max(4, round(ink.stroke), round(AROUND * max(right - left, bottom - top)))
    rows = slice(max(top - room, 0), bottom + room)
    columns = slice(max(left - room, 0), right + room)
    wide = max(2, round(ink.stroke / 4))
    near = ndimage.binary_dilation(ink.mask[rows, columns], iterations=wide)
    beside = ink.even[rows, columns][~near]
    return float((np.abs(beside - np.median(beside)) > PAPER).mean()) if beside.size else 0.0
