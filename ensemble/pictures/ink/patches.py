"""Patches: rectangles of another lightness that ink is written on, made one with the page.

A cell of a form that is printed grey, a label, a digit that somebody has pasted into a white page:
what looks for ink sees the patch stand out from the page more than the ink stands out from the
patch. On a page that is even around its border such a rectangle is seen by its straight sides. Its
own ground, a plane where light falls off across it, is then brought to the page's colour, and light
ink on a light page made dark, so that one threshold serves both.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_ANALYSIS_SIDE = 240  # pixels: the longest side of the copy on which patches are looked for
_MIN_PICTURE_SIDE = 48  # pixels: smaller pictures have no room for a patch and a page
_DARK_PAGE = 128  # greys: a page that is darker is a table, or a board
_MAX_PAGE_NOISE = 5.0  # greys that the page's border may vary by: beyond, a camera saw it
_MIN_PATCH_CONTRAST = 9.0  # greys that a patch differs from the page by
_MIN_PATCH_SIDE = 0.1  # of the picture's side: what is smaller is no patch, but a mark
_MIN_PATCH_CELLS = 8  # pixels of the copy: and no narrower
_FULL_ROW_SHARE = 0.97  # of a row that is patch, from which on all of it is
_MAX_LEAN_SHARE = 0.08  # of a side that a patch may lean by
_MIN_RECTANGULARITY = 0.9  # of its box that a patch covers, with what is written on it
_MIN_GROUND_SHARE = 0.55  # of a patch that is of its own lightness
MIN_INK_CONTRAST = 22.0  # greys that ink differs from a patch's ground by
_INK_SHARES = 0.002, 0.4  # of the patch: with less ink it is a solid shape, with more ink no ground
_MIN_ONE_SIDED = 0.85  # of a patch's ink is darker, or lighter, than its ground
_MAX_HOLE_FILL, _MAX_HOLE_SHARE = (
    0.75,
    0.15,
)  # of its own box, of the patch: ink that fills more of both is the hole of a printed 0


class _Patch(NamedTuple):
    """A rectangle of another lightness than the page.

    Attributes:
      box: left, top, right, bottom in pixels of the picture.
      inner: the same of the part of it in which all is patch, also where it leans.
      plane: (3, 3), for each channel what its ground's colour is made of: a level, and how much it
        rises from the left to the right and from the top to the bottom of the picture.
      dark_ink: whether its ink is darker than its ground.
    """

    box: tuple[int, int, int, int]
    inner: tuple[int, int, int, int]
    plane: NDArray[np.float64]
    dark_ink: bool


def flatten_patches(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], int]:
    """The picture uint8 (H, W, 3) with its patches brought to the page's colour, and how many."""
    if min(pixels.shape[:2]) < _MIN_PICTURE_SIDE:
        return pixels, 0
    factor = max(1, -(-max(pixels.shape[:2]) // _ANALYSIS_SIDE))
    small = np.asarray(Image.fromarray(pixels).reduce(factor), np.float64)
    border = np.concatenate([small[0], small[-1], small[:, 0], small[:, -1]])
    page = np.median(border, axis=0)
    apart = np.abs(small - page).max(axis=2)
    noise = float(np.median(np.abs(border - page).max(axis=1)))
    if noise > _MAX_PAGE_NOISE:
        return pixels, 0
    patches = _find_patches(small, apart > max(_MIN_PATCH_CONTRAST, 4 * noise), pixels.shape[:2])
    if page.mean() < _DARK_PAGE:  # a sheet of paper on a table is no patch
        patches = [patch for patch in patches if not patch.dark_ink]
    if not patches:
        return pixels, 0
    flat = pixels.copy()
    for patch in patches:
        _paint_patch(flat, patch, page, factor)
    return flat, len(patches)


def _find_patches(small: NDArray[np.float64], apart: NDArray[np.bool_], shape: tuple[int, int]) -> list[_Patch]:
    """The patches of a picture.

    Args:
      small: (h, w, 3), a reduced copy.
      apart: bool (h, w), what differs from the page.
      shape: (H, W) of the picture.
    """
    from scipy import ndimage

    filled = ndimage.binary_fill_holes(apart)
    # A line that runs up to a patch does not belong to it.
    labels, _ = ndimage.label(ndimage.binary_opening(filled, np.ones((3, 3))))
    patches = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
        sides = rows.stop - rows.start, columns.stop - columns.start
        small_side = sides[0] < _MIN_PATCH_SIDE * len(labels) or min(sides) < _MIN_PATCH_CELLS
        if small_side or sides[1] < _MIN_PATCH_SIDE * labels.shape[1]:
            continue
        if sides[0] >= labels.shape[0] - 2 and sides[1] >= labels.shape[1] - 2:
            continue
        own = labels[rows, columns] == number
        if own.mean() < _MIN_RECTANGULARITY:
            continue
        inner = _find_inner_rectangle(own)
        patch = inner and _measure_patch(small, apart, (rows, columns), inner, shape)
        if patch:
            patches.append(patch)
    return patches


def _find_inner_rectangle(own: NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    """Top, bottom, left and right within which a patch that leans fills all; None if it leans much.

    Args:
      own: bool (h, w), the patch in its box.
    """
    limits = [0, own.shape[0], 0, own.shape[1]]
    for side, (view, whole) in enumerate(
        ((own, len(own)), (own[::-1], len(own)), (own.T, own.shape[1]), (own.T[::-1], own.shape[1]))
    ):
        full = view.mean(axis=1) >= _FULL_ROW_SHARE
        lost = int(full.argmax())
        if not full.any() or lost > _MAX_LEAN_SHARE * whole + 1:
            return None
        limits[side] = whole - lost if side % 2 else lost
    top, bottom, left, right = limits
    return top, bottom, left, right


def _measure_patch(
    small: NDArray[np.float64],
    apart: NDArray[np.bool_],
    place: tuple[slice, slice],
    limits: tuple[int, int, int, int],
    shape: tuple[int, int],
) -> _Patch | None:
    """A rectangle's ground and ink; None if it is solid, or has no ground of its own.

    Args:
      small: (h, w, 3), a reduced copy.
      apart: bool (h, w), what differs from the page.
      place: the rows and the columns of the patch's box.
      limits: top, bottom, left and right within it, inside which all is patch.
      shape: (H, W) of the picture.
    """
    rows, columns = place
    top, bottom, left, right = limits
    inner = (
        slice(rows.start + top + 1, rows.start + bottom - 1),
        slice(columns.start + left + 1, columns.start + right - 1),
    )
    values = small[inner]
    y, x = np.mgrid[inner]
    terms = np.stack([np.ones(y.size), (x.ravel() + 0.5) / small.shape[1], (y.ravel() + 0.5) / small.shape[0]])
    flat = values.reshape(-1, 3)
    grey = flat.mean(axis=1)
    ground = np.abs(grey - np.median(grey)) < MIN_INK_CONTRAST
    for _ in range(3):
        if ground.mean() < _MIN_GROUND_SHARE:
            return None
        plane = np.linalg.lstsq(terms[:, ground].T, flat[ground], rcond=None)[0]
        off = (flat - terms.T @ plane).mean(axis=1)
        ground = np.abs(off) < MIN_INK_CONTRAST
    if ground.mean() < _MIN_GROUND_SHARE or (apart[inner].ravel() & ground).sum() < 0.9 * ground.sum():
        return None
    spread = float(np.median(np.abs(off[ground])))
    ink = np.abs(off) > max(MIN_INK_CONTRAST, 5 * spread)
    dark = float((off[ink] < 0).mean()) if ink.any() else 0.5
    if not _INK_SHARES[0] <= ink.mean() <= _INK_SHARES[1] or max(dark, 1 - dark) < _MIN_ONE_SIDED:
        return None
    shown = ink.reshape(values.shape[:2])
    high, wide = (int(np.ptp(np.flatnonzero(shown.any(axis=axis)))) + 1 for axis in (1, 0))
    if ink.sum() > _MAX_HOLE_FILL * high * wide and high * wide > _MAX_HOLE_SHARE * ink.size:
        return None
    by_row, by_column = shape[0] / small.shape[0], shape[1] / small.shape[1]
    outer, own = (
        (
            round(across.start * by_column),
            round(down.start * by_row),
            round(across.stop * by_column),
            round(down.stop * by_row),
        )
        for down, across in (place, (_grow_slice(inner[0]), _grow_slice(inner[1])))
    )
    return _Patch(outer, own, plane.T, dark > 0.5)


def _grow_slice(inside: slice) -> slice:
    return slice(inside.start - 1, inside.stop + 1)


def _paint_patch(pixels: NDArray[np.uint8], patch: _Patch, page: NDArray[np.float64], factor: int) -> None:
    """Brings a patch to the page's colour, in place, its edges with it.

    Args:
      pixels: uint8 (H, W, 3).
      patch: which one.
      page: (3,) the page's colour.
      factor: pixels for one of the copy on which the patch was found.
    """
    left, top, right, bottom = patch.box
    own_left, own_top, own_right, own_bottom = patch.inner
    height, width = pixels.shape[:2]
    rim = factor + 2  # so far a soft edge may reach, and the copy be off
    outer = slice(max(top - rim, 0), bottom + rim), slice(max(left - rim, 0), right + rim)
    top = top if top <= 1 else own_top + rim
    left = left if left <= 1 else own_left + rim
    bottom = bottom if bottom >= height - 1 else own_bottom - rim
    right = right if right >= width - 1 else own_right - rim
    if top >= bottom or left >= right:
        return
    own = pixels[top:bottom, left:right].astype(np.float32)
    across = (np.arange(left, right, dtype=np.float32) + 0.5) / width
    down = (np.arange(top, bottom, dtype=np.float32) + 0.5) / height
    level, rise_x, rise_y = (patch.plane[:, term].astype(np.float32) for term in range(3))
    own -= level + rise_x * across[None, :, None] + rise_y * down[:, None, None]
    if not patch.dark_ink and page.mean() >= _DARK_PAGE:
        own *= -1  # a light page has no room for what is lighter
    own += page.astype(np.float32)
    pixels[outer] = np.rint(page).astype(np.uint8)
    pixels[top:bottom, left:right] = np.rint(own.clip(0, 255)).astype(np.uint8)
