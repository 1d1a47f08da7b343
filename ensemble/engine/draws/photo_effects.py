"""What pen, paper and camera do to an image of handwriting: drawn again for every image.

Images are ink on bare ground: 0 is ground. Colours of an image are changed alike.
"""

import functools

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

_MAX_EROSION = 0.5  # of a pixel on each side of a stroke: a whole one would leave none of many strokes
_MAX_FADE = 0.4  # most that ink loses of its full darkness
_RULED_LINES_PROBABILITY, _CUT_SIDE_PROBABILITY = (0.25, 0.25)  # chance of lines along an axis, and of a cut side
_LINE_DARKNESS_RANGE = 0.2, 0.8  # darkness of a line
_LINE_SPACING_RANGE = 6.0, 28.0  # pixels between two of them
_MAX_CUT_SHARE = 2 / 7  # of the side is cut off at most: as much again as MNIST's margin of 4 pixels


def apply_photo_effects(key: Array, images: Array, amount: ArrayLike) -> Array:
    """Thicker or thinner strokes, paler or darker, with ruled lines and a side cut off.

    Args:
      key: of the batch.
      images: (B, H, W, channels) in [0, 1].
      amount: how much of all of it, from 0, none, to 1: strokes change by up to so many pixels on
        each side (by half of that where they get thinner); chances of lines and cuts grow with it.

    Returns:
      (B, H, W, channels) in [0, 1].
    """
    amount = jnp.asarray(amount, jnp.float32)
    # A column for each thing that is drawn, of every image.
    drawn = lax.optimization_barrier(jax.random.uniform(key, (15, len(images), 1, 1, 1)))
    stroke, tone, fade = drawn[:3]
    images = adjust_tones(change_stroke_width(images, amount * (2 * stroke - 1)), amount * (2 * tone - 1))
    images = images * (1 - _MAX_FADE * amount * fade)
    for axis, (there, apart, first, dark) in ((1, drawn[3:7]), (2, drawn[7:11])):
        lines = build_ruled_lines_mask(images.shape[axis], apart, first)
        dark = jnp.where(
            there < _RULED_LINES_PROBABILITY * amount,
            _LINE_DARKNESS_RANGE[0] + (_LINE_DARKNESS_RANGE[1] - _LINE_DARKNESS_RANGE[0]) * dark,
            0,
        )
        images = jnp.maximum(images, dark * (lines if axis == 1 else jnp.swapaxes(lines, 1, 2)))
    there, side, deep, framed = drawn[11:]
    return cut_off_side(images, there < _CUT_SIDE_PROBABILITY * amount, side, deep, framed < 0.5)


def change_stroke_width(images: Array, pixels: Array) -> Array:
    """Grey dilation by up to one pixel, or by negative numbers erosion by up to `_MAX_EROSION` of one.

    A share of a pixel is that share of the way to the dilated, or eroded, image: see P. Soille,
    "Morphological Image Analysis", chapter 3, for these of grey images, over 3×3 pixels here.
    """
    around = jnp.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    # Behind barriers: each pixel is read by its neighbours, and would be made again for each.
    columns = lax.optimization_barrier(_compute_neighbor_extrema(lax.optimization_barrier(around), 1))
    larger, smaller = (_compute_neighbor_extrema(column, 2)[n] for n, column in enumerate(columns))
    thicker = jnp.maximum(pixels, 0) * (larger - images)
    return images + thicker - _MAX_EROSION * jnp.maximum(-pixels, 0) * (images - smaller)


def _compute_neighbor_extrema(images: Array, axis: int) -> tuple[Array, Array]:
    size = images.shape[axis] - 2
    three = [lax.slice_in_dim(images, n, n + size, axis=axis) for n in range(3)]
    return functools.reduce(jnp.maximum, three), functools.reduce(jnp.minimum, three)


def adjust_tones(images: Array, curve: Array) -> Array:
    """Middle tones darker (`curve` above 0) or paler, ground and full ink as they are.

    A parabola, rising for curves in [-1, 1]: a power would cost many times as much.
    """
    return images + curve * images * (1 - images)


def build_ruled_lines_mask(size: int, apart: Array, first: Array) -> Array:
    """1 on every row that has a line, (B, size, 1, 1); at least one of them has."""
    between = jnp.floor(_LINE_SPACING_RANGE[0] + (_LINE_SPACING_RANGE[1] - _LINE_SPACING_RANGE[0]) * apart)
    at = jnp.floor(first * jnp.minimum(between, size))
    rows = jnp.arange(size, dtype=jnp.float32)[:, None, None]
    return (jnp.mod(rows - at, between) == 0).astype(jnp.float32)


def cut_off_side(images: Array, there: Array, side: Array, deep: Array, framed: Array) -> Array:
    """One of four sides off, where `there`; where `framed` too, with an inked line along it."""
    height, width = images.shape[1:3]
    rows = jnp.arange(height, dtype=jnp.float32)[:, None, None]
    columns = jnp.arange(width, dtype=jnp.float32)[None, :, None]
    which = jnp.floor(4 * side)
    inwards = jnp.where(which < 2, rows, columns)
    length = jnp.where(which < 2, height, width)
    inwards = jnp.where(which % 2 == 0, inwards, length - 1 - inwards)
    off = 1 + jnp.floor(deep * _MAX_CUT_SHARE * length)
    images = jnp.where(there & (inwards < off), 0, images)
    return jnp.where(there & framed & (inwards == off), 1, images)
