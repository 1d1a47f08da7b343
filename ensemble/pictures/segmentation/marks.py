"""Marks: ink in, one mark a digit out, each with its box, its line and its 28×28 picture."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.pictures.ink.extraction import Ink
from ensemble.pictures.segmentation.clutter import exclude_clutter
from ensemble.pictures.segmentation.components import (
    Box,
    ConnectedComponents,
    compute_union_box,
    find_connected_components,
    group_components,
)
from ensemble.pictures.segmentation.mnist_form import convert_to_mnist, find_ink_box
from ensemble.pictures.segmentation.outlines import fill_outline
from ensemble.pictures.segmentation.reading_order import determine_reading_order
from ensemble.pictures.segmentation.touching_digits import ClassifyDigits, split_touching_digits

MAX_MARKS = 100
_MAX_SOFT_SIDE = 240  # pixels: what is larger has edges enough without soft ones
_SURROUND_SHARE = 0.15  # of a mark's longer side: so far from it the paper is looked at
_PAPER_TOLERANCE = 0.15  # of full ink: bare paper is of one lightness, whatever falls on it, within that
_MIN_LOOP_SHARE = 0.004  # of a mark's box: what ink goes around is no smaller
_SOFT_EDGES = 2  # pixels around ink in which edges fade


@dataclass(frozen=True, eq=False)
class Mark:
    """One mark, probably a digit.

    Attributes:
      box: left, top, right, bottom in pixels of the full upright original.
      line: from 0, from above.
      image: uint8 (28, 28, 1) as the networks know digits.
      cut: uint8 (h, w) its ink before scaling, 255 where a pixel is all ink.
      piece: number of the piece of ink that it was cut from with others; -1: of its own.
      non_paper_share: how much of what is around its ink is no bare paper, in [0, 1].
      loops: how many places its ink goes around, as large as it was.
    """

    box: Box
    line: int
    image: NDArray[np.uint8]
    cut: NDArray[np.uint8]
    piece: int = -1
    non_paper_share: float = 0.0
    loops: int = 0


@dataclass(frozen=True, eq=False)
class _InkPiece:
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
    ink: Ink, scale: float, decide: ClassifyDigits | None = None
) -> tuple[tuple[Mark, ...], tuple[str, ...]]:
    """Marks in reading order, at most `MAX_MARKS`, and notes on what was left out.

    Args:
      ink: of the working picture, or of what was cropped from it.
      scale: pixels of the original for one of the working picture.
      decide: as `split_touching_digits` takes it.
    """
    components = find_connected_components(ink.mask, ink.stroke)
    notes = list(_describe_surroundings(ink))
    pieces = [_extract_ink_piece(ink, components, group) for group in group_components(components)]
    solid = [fill_outline(piece.cut) for piece in pieces]
    outlines = sum(new is not piece.cut for new, piece in zip(solid, pieces, strict=True))
    if outlines:
        notes.append(f"Filled: {outlines} mark{'s' * (outlines > 1)} drawn as an outline.")
        pieces = [replace(piece, cut=new) for new, piece in zip(solid, pieces, strict=True)]
    boxes = np.array([piece.box for piece in pieces], np.intp).reshape(-1, 4)
    digits, clutter_notes = exclude_clutter(boxes, (ink.mask.shape[1], ink.mask.shape[0]))
    pieces = [piece for piece, keep in zip(pieces, digits, strict=True) if keep]
    notes += clutter_notes
    if len(pieces) <= MAX_MARKS:
        pieces = [digit for number, piece in enumerate(pieces) for digit in _split_ink_piece(piece, decide, number)]
    if len(pieces) > MAX_MARKS:
        notes.append(f"{len(pieces)} marks: the {MAX_MARKS} largest were read.")
        pieces = sorted(pieces, key=lambda piece: piece.box[1] - piece.box[3])[:MAX_MARKS]
    if not pieces:
        return (), ("No ink was found.", *notes)
    order, lines = determine_reading_order(np.array([piece.box for piece in pieces], np.intp))
    return tuple(_build_mark(pieces[k], int(lines[k]), ink, scale) for k in order), tuple(notes)


def _describe_surroundings(ink: Ink) -> tuple[str, ...]:
    notes = []
    if ink.patches:
        where = "a patch" if ink.patches == 1 else f"{ink.patches} patches"
        notes.append(f"Read on {where} of another lightness than the page.")
    if ink.frames:
        what = "box" if ink.frames == 1 else "boxes"
        notes.append(f"Left out: {ink.frames} printed {what} around ink.")
    return tuple(notes)


def _extract_ink_piece(ink: Ink, components: ConnectedComponents, group: list[int]) -> _InkPiece:
    left, top, right, bottom = components.boxes[group[0]].tolist()
    for k in group[1:]:
        left, top, right, bottom = compute_union_box((left, top, right, bottom), tuple(components.boxes[k]))
    tall, broad = ink.mask.shape
    soft = _SOFT_EDGES if max(right - left, bottom - top) < _MAX_SOFT_SIDE else 0
    left, top = max(left - soft, 0), max(top - soft, 0)
    right, bottom = min(right + soft, broad), min(bottom + soft, tall)
    rows, columns = slice(top, bottom), slice(left, right)
    own = components.paint_mask(group, (left, top, right, bottom))
    cut = own.astype(np.uint8) * np.uint8(255)
    if soft:
        cut = _soften_edges(own, ink.mask[rows, columns], ink.even[rows, columns], ink.threshold)
    return _create_ink_piece(cut, left, top)


def _soften_edges(
    own: NDArray[np.bool_], ink: NDArray[np.bool_], even: NDArray[np.float32], threshold: float
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


def _split_ink_piece(piece: _InkPiece, decide: ClassifyDigits | None, number: int) -> list[_InkPiece]:
    """The digits of a piece, if it is of several that touch; otherwise the piece itself."""
    cuts = split_touching_digits(piece.cut, decide)
    if len(cuts) == 1:
        return [piece]
    inside = find_ink_box(piece.cut > 127) or (0, 0, 0, 0)
    x, y = piece.box[0] - inside[0], piece.box[1] - inside[1]
    return [_create_ink_piece(cut, x, y, number) for cut in cuts]


def _create_ink_piece(cut: NDArray[np.uint8], x: int, y: int, number: int = -1) -> _InkPiece:
    """A piece whose array begins at pixel (x, y) of the working picture."""
    left, top, right, bottom = find_ink_box(cut > 127) or (0, 0, 1, 1)
    return _InkPiece((left + x, top + y, right + x, bottom + y), cut, number)


def _build_mark(piece: _InkPiece, line: int, ink: Ink, scale: float) -> Mark:
    left, top = ink.offset
    west, north, east, south = piece.box
    box = (
        round((west + left) * scale),
        round((north + top) * scale),
        round((east + left) * scale),
        round((south + top) * scale),
    )
    ground = _measure_non_paper(ink, piece.box)
    around_in = _count_loops(piece.cut)
    return Mark(
        box=box,
        line=line,
        image=convert_to_mnist(piece.cut),
        cut=piece.cut,
        piece=piece.number,
        non_paper_share=ground,
        loops=around_in,
    )


def _count_loops(cut: NDArray[np.uint8]) -> int:
    """How many places ink uint8 (h, w) goes around; the grain of a pencil leaves smaller ones."""
    from scipy import ndimage

    left, top, right, bottom = find_ink_box(cut > 127) or (0, 0, 1, 1)
    ground, count = ndimage.label(~np.pad(cut[top:bottom, left:right] > 127, 1))
    if count < 2:
        return 0
    areas = np.bincount(ground.ravel())[2:]  # 0 is ink, and 1 what is around it
    return int((areas > _MIN_LOOP_SHARE * (right - left) * (bottom - top)).sum())


def _measure_non_paper(ink: Ink, box: Box) -> float:
    """How much around a mark's ink is neither ink nor bare paper, in [0, 1].

    Ink ends at paper, and what is left between them is the edge of a stroke, which does not count
    here. In a photograph of things there is no paper: what a threshold leaves of an animal is
    beside more of the animal, a little lighter.
    """
    from scipy import ndimage

    left, top, right, bottom = box
    room = max(4, round(ink.stroke), round(_SURROUND_SHARE * max(right - left, bottom - top)))
    rows = slice(max(top - room, 0), bottom + room)
    columns = slice(max(left - room, 0), right + room)
    wide = max(2, round(ink.stroke / 4))
    near = ndimage.binary_dilation(ink.mask[rows, columns], iterations=wide)
    beside = ink.even[rows, columns][~near]
    return float((np.abs(beside - np.median(beside)) > _PAPER_TOLERANCE).mean()) if beside.size else 0.0
