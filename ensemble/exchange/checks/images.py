"""The examples' images, brought to uint8 (N, H, W, channels) from what frameworks keep them as."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import MOST_SIDE
from ensemble.files.image_levels import (
    BYTE_LEVELS,
    LevelRange,
    describe_levels,
    describe_range_problem,
    format_level,
    scale_to_bytes,
)

SHAPE_HINT = "give (examples, height, width) or (examples, height, width, channels), 1 or 3 channels"
_Pieces = Callable[[], Iterator[NDArray[Any]]]


def convert_images_to_uint8(
    shape: tuple[int, ...], pieces: _Pieces, examples: int
) -> tuple[NDArray[np.uint8], list[str]]:
    """Images as uint8, and what was done to them.

    Args:
      shape: of the array in the file.
      pieces: its numbers in C order, flat (K,), again with each call: they are looked through
        once for their range, and once to be kept.
      examples: N.

    Returns:
      uint8 (N, H, W, 1 or 3), and a sentence for each thing that was assumed.

    Raises:
      PredictionsError: another shape or number, or numbers that are no brightness.
    """
    form, channels_first = _parse_image_shape(shape, examples)
    scale, notes = _choose_image_scale(pieces)
    pixels = np.empty(int(np.prod(form)), np.uint8)
    at = 0
    for piece in pieces():
        pixels[at : at + len(piece)] = scale_to_bytes(piece, scale)
        at += len(piece)
    images = pixels.reshape(form)
    if channels_first:
        images = np.ascontiguousarray(images.transpose(0, 2, 3, 1))
        notes.append("`images` had its channels before height and width; they were moved to the end.")
    return images, notes


def convert_array_to_images(images: ArrayLike, shape: Sequence[int]) -> tuple[NDArray[np.uint8], list[str]]:
    """Images as a network of this shape takes them, and what was assumed of their numbers.

    Args:
      images: (N, H, W) or (N, H, W, channels), whole numbers or floats from 0, by `files.image_levels`.
      shape: (H, W, channels) of the images that the run learnt.

    Returns:
      uint8 (N, H, W, channels), and a sentence for each thing that was assumed.

    Raises:
      PredictionsError: they are no images, or of another size.
    """
    try:
        array = np.asarray(images)
    except ValueError as error:
        raise PredictionsError("`images` are of different sizes: resize them to one, and give one array.") from error
    if array.dtype.kind not in "biuf":
        raise PredictionsError(f"`images` are not numbers: {SHAPE_HINT}.")
    flat = array.reshape(-1)
    pixels, notes = convert_images_to_uint8(array.shape, lambda: iter((flat,)), len(array) if array.ndim else 0)
    if pixels.shape[1:] != tuple(shape):
        raise PredictionsError(
            f"`images` are {_describe_image_shape(pixels.shape[1:])}, and the run learnt images "
            f"of {_describe_image_shape(shape)}: bring them to that form."
        )
    return pixels, notes


def _describe_image_shape(shape: Sequence[int]) -> str:
    """Height, width and colour in words: "28×28 pixels, grey"."""
    return f"{shape[0]}×{shape[1]} pixels, {'grey' if shape[2] == 1 else 'in colour'}"


def _parse_image_shape(shape: tuple[int, ...], examples: int) -> tuple[tuple[int, ...], bool]:
    if not shape or shape[0] != examples:
        raise PredictionsError(
            f"`images` has the shape {shape}, but there are {examples:,} labels: give one image "
            "for each, in their order, or leave `images` out."
        )
    if len(shape) == 3:
        shape = (*shape, 1)
    if len(shape) != 4 or 0 in shape:
        raise PredictionsError(f"`images` has the shape {shape}: {SHAPE_HINT}.")
    last, first = shape[3] in (1, 3), shape[1] in (1, 3)
    if not last and not first:
        channels = f"`images` has {shape[3]} channels (its shape is {shape})"
        raise PredictionsError(f"{channels}: {SHAPE_HINT}, [..., :3] without transparency.")
    sides = shape[1:3] if last else shape[2:]
    if max(sides) > MOST_SIDE:
        raise PredictionsError(f"`images` are {sides[0]:,}×{sides[1]:,} pixels: resize them to {MOST_SIDE:,} at most.")
    return shape, not last


def _choose_image_scale(pieces: _Pieces) -> tuple[float | None, list[str]]:
    """What to multiply the numbers with, None where they are uint8 as they stand."""
    found = LevelRange()
    for piece in pieces():
        if piece.dtype == np.uint8:
            return None, []
        if piece.dtype.kind not in "biuf":
            raise PredictionsError(f"`images` are not numbers: {SHAPE_HINT}.")
        if piece.dtype.kind == "f" and not np.isfinite(piece).all():
            raise PredictionsError("`images` hold NaN or infinite numbers: correct these first, or leave `images` out.")
        found.add(piece)
    if problem := describe_range_problem(found):
        raise PredictionsError(f"`images` {problem}, or leave `images` out.")
    white = found.levels[1]
    if white == BYTE_LEVELS[1]:
        return (None, []) if found.whole else (1.0, ["`images` were rounded to whole numbers from 0 to 255."])
    note = (
        f"`images` run from {format_level(found.low)} to {format_level(found.high)}: {describe_levels(found.levels)}."
    )
    return 255 / white, ["`images` ranged from 0 to 1 and were scaled to 0 to 255." if white == 1 else note]
