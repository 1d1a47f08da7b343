"""Marks: ink in, one mark a digit out, each with its box, its line and its 28×28 picture."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.data.ink import Ink
from ensemble.data.parts import Box, Parts, around, find_parts, join
from ensemble.data.reading_order import reading_order
from ensemble.data.shape import to_mnist

MAX_MARKS = 100
TINY = 0.3  # of the line's digits: what is lower and narrower is a dot, a comma or dirt


@dataclass(frozen=True, eq=False)
class Mark:
    """One mark, probably a digit.

    Attributes:
      box: left, top, right, bottom in pixels of the full upright original.
      line: from 0, from above.
      image: uint8 (28, 28, 1) as the networks know digits.
      cut: uint8 (h, w) its ink before scaling, 255 where a pixel is all ink.
    """

    box: Box
    line: int
    image: NDArray[np.uint8]
    cut: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Piece:
    """The ink of one mark in the working picture: its box, and how much of each pixel is ink."""

    box: Box
    cover: NDArray[np.float32]


def find_marks(ink: Ink, scale: float) -> tuple[tuple[Mark, ...], tuple[str, ...]]:
    """Marks in reading order, at most `MAX_MARKS`, and notes on what was left out.

    Args:
      ink: of the working picture, or of what was cropped from it.
      scale: pixels of the original for one of the working picture.
    """
    parts = find_parts(ink.mask, ink.stroke)
    pieces = [piece_of(ink, parts, group) for group in join(parts)]
    pieces, dots = without_dots(pieces)
    notes = []
    if dots:
        notes.append(
            f"{dots} {'dot' if dots == 1 else 'dots'} left out: too small beside the rest."
        )
    if len(pieces) > MAX_MARKS:
        notes.append(f"{len(pieces)} marks: the {MAX_MARKS} largest were taken.")
        pieces = sorted(pieces, key=lambda piece: -height(piece.box))[:MAX_MARKS]
    if not pieces:
        return (), ("No ink was found.", *notes)
    order, lines = reading_order(np.array([piece.box for piece in pieces], np.intp))
    return tuple(mark_of(pieces[k], int(lines[k]), ink, scale) for k in order), tuple(notes)


def piece_of(ink: Ink, parts: Parts, group: list[int]) -> Piece:
    """The parts of one digit, cut from the picture with their soft edges."""
    left, top, right, bottom = parts.boxes[group[0]].tolist()
    for k in group[1:]:
        left, top, right, bottom = around((left, top, right, bottom), tuple(parts.boxes[k]))
    rows, columns = slice(top, bottom), slice(left, right)
    labels = parts.labels[rows, columns]
    own = (
        np.isin(labels, parts.numbers[group])
        if len(group) > 1
        else labels == parts.numbers[group[0]]
    )
    return Piece((left, top, right, bottom), own.astype(np.float32))


def without_dots(pieces: list[Piece]) -> tuple[list[Piece], int]:
    """Leaves out what is tiny beside the others, unless that is all there is; and how many."""
    if not pieces:
        return [], 0
    heights = np.array([height(piece.box) for piece in pieces], float)
    usual = np.sort(heights)[::-1][
        np.searchsorted(np.cumsum(np.sort(heights)[::-1]), heights.sum() / 2)
    ]
    kept = [
        piece
        for piece in pieces
        if max(height(piece.box), piece.box[2] - piece.box[0]) >= TINY * usual
    ]
    return kept, len(pieces) - len(kept)


def height(box: Box) -> int:
    """Of a box, in pixels."""
    return box[3] - box[1]


def mark_of(piece: Piece, line: int, ink: Ink, scale: float) -> Mark:
    """A piece as a mark, its box in the original picture."""
    left, top = ink.offset
    moved = (piece.box[0] + left, piece.box[1] + top, piece.box[2] + left, piece.box[3] + top)
    box = tuple(round(edge * scale) for edge in moved)
    cut = np.rint(piece.cover * 255).astype(np.uint8)
    return Mark(box, line, to_mnist(piece.cover), cut)  # type: ignore[arg-type]
