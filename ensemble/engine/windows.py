"""Convolution 3×3 + bias + relu + 2×2 average pooling, one pooling window at a time, batch last.

This is the form for CPUs. An output pixel is the mean of the four *spots* (p, q) of a pooling
window, and a spot looks at 3×3 pixels, so that a window hangs on 4×4 pixels of its image, its
sixteen *taps* (u, v). Window (s, t) has its tap (u, v) at pixel (2s + u − 1, 2t + v − 1):

        tap (u, v)          spot (p, q) sees the taps (p + i, q + j), i, j = 0, 1, 2:
        · · · ·
        · a b ·             z[p, q] = bias + Σ k[i, j] · tap[p + i, q + j],  over channels too
        · c d ·             y       = mean of relu(z) over the four spots
        · · · ·
    a, b, c, d: the spots' own pixels

The same tap of all windows has to be a few long stretches of memory, which any vector unit can
work through. So an image that k more layers are to pool lies in 4ᵏ *planes*, by row and column
modulo 2ᵏ: plane (r, c) has at its *place* (a, b)

        the pixel (2ᵏa + r − m, 2ᵏb + c − m),  m = 2ᵏ − 1,  and zero where the image has none.

A window is a pixel of the next image, in a plane (r, c) of that at (a, b), and by the two formulas
its tap (u, v) is, where (a, b) moves over a rectangle of that plane, a rectangle of one plane here:

        plane (2r + u, 2c + v) modulo 2ᵏ,  at (a + (2r + u) div 2ᵏ, b + (2c + v) div 2ᵏ)

so that nothing is sorted anew between one layer and the next. 2r + u is at most 2ᵏ + 1, so a plane
has one row and one column of places more than the planes of the next image: S + k and T + k for a
tower whose result has S × T pixels. Some of those are a border of zeros; only the R × Q places
where a plane has pixels are computed, which begin a row or a column later in some planes. With
the batch's b images side by side in each place:

        images                (C, 4ᵏ, R, Q · b), and with their border (C, 4ᵏ, S + k, (T + k) · b)
        taps of the windows   (4, 4) of (C, 4ᵏ⁻¹, R, Q · b), the R and Q of the next image
        z                     (2, 2) of (O, …) by products.py, which multiplies
        y, the next image     (O, …), zero where it has no pixel

For 28 × 28 pixels and two layers: 16 planes of 9 × 9 places; then 4 of 8 × 8, of which 7 × 7 are
computed; then 1 of 7 × 7. The first images have their taps laid out one by one (`laid_out`): they
are small.

The derivative goes the same way back: dz is a quarter of dy where z was positive (kept as four
bits a window), `products` turns it into the taps' and the kernel's, and each tap's is added to
its plane at its place.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ensemble.engine.products import SPOTS, TAPS, Method, Weights, settled


class Grid(NamedTuple):
    """Where the pixels of a tower's images lie, for images of one size, all known beforehand.

    Images at *level* k are those that k more layers are to pool: the first are at level
    `layers`, the result is at level 0.

    Attributes:
      height: of the first images, in pixels.
      width: of the first images, in pixels.
      layers: of the tower.
      batch: images side by side.
    """

    height: int
    width: int
    layers: int
    batch: int

    def size(self, level: int) -> tuple[int, int]:
        """Height and width of the images at a level."""
        return self.height >> self.layers - level, self.width >> self.layers - level

    def places(self, level: int) -> tuple[int, int]:
        """Rows and columns of places of a plane."""
        rows, columns = self.size(0)
        return rows + level, columns + level

    def computed(self, level: int) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """The places that are computed: R and Q, and where they begin in each plane."""
        found = []
        for inside in self._inside(level):
            size = int(inside.sum(1).max())
            last = inside.shape[1] - size
            found.append((size, [min(int(first), last) for first in inside.argmax(1)]))
        (rows, down), (columns, right) = found
        return (rows, columns), [(a, b) for a in down for b in right]

    def inside(self, level: int) -> np.ndarray:
        """Whether the image has the pixel at each computed place: bool (4ᵏ, R, Q)."""
        (rows, columns), starts = self.computed(level)
        down, right = self._inside(level)
        found = []
        for plane, (a, b) in enumerate(starts):
            r, c = divmod(plane, 2**level)
            found.append(down[r, a : a + rows, None] & right[c, b : b + columns])
        return np.array(found)

    def _inside(self, level: int) -> list[np.ndarray]:
        """By row of planes and place whether the image has that row; and its columns, likewise."""
        side, found = 2**level, []
        for length, places in zip(self.size(level), self.places(level), strict=True):
            pixel = side * np.arange(places) + np.arange(side)[:, None] - (side - 1)
            found.append((pixel >= 0) & (pixel < length))
        return found

    def begins(self, level: int, tap: tuple[int, int]) -> list[tuple[int, int, int]]:
        """Of each plane at a level: the plane of the level before, and where in it a tap begins.

        For the windows that are computed; a row's index runs over places and images.
        """
        side, (u, v) = 2 ** (level + 1), tap
        found = []
        for plane, (a, b) in enumerate(self.computed(level)[1]):
            down, row = divmod(2 * (plane // 2**level) + u, side)
            right, column = divmod(2 * (plane % 2**level) + v, side)
            found.append((row * side + column, a + down, (b + right) * self.batch))
        return found


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def conv_relu_pool(
    x: Array, weights: Weights, bias: Array, grid: Grid, level: int, method: Method
) -> Array:
    """average_pool(relu(conv(x, kernel) + bias)), 'SAME' padding, pooling window and stride 2.

    Args:
      x: images at the level before, (C, 4ᵏ⁺¹, R, Q · b); of the first images the taps, one under
        the other, (16 · C, 4ᵏ, R, Q · b) with the R and Q of this level. float32.
      weights: `method.weights` of a kernel (3, 3, C, O).
      bias: (O,).
      grid: where all of it lies.
      level: k, of the result.
      method: how to multiply.

    Returns:
      Images at this level, (O, 4ᵏ, R, Q · b), float32; an odd last row or column of the images
      before is dropped, as `nn.avg_pool` does.
    """
    return _forward(x, weights, bias, grid, level, method)[0]


def _forward(
    x: Array, weights: Weights, bias: Array, grid: Grid, level: int, method: Method
) -> tuple[Array, Any]:
    x = with_border(x, grid, level + 1)
    z = method.forward(taps(x, grid, level), weights[0])
    z = [spot + bias[:, None, None, None] for spot in z]
    y = sum(jnp.maximum(spot, 0) for spot in z) * quarter(grid, level)
    # One byte a window: which of its spots let the gradient through.
    bits = [(spot > 0) * float(1 << n) for n, spot in enumerate(z)]
    positive = sum(bits[1:], bits[0]).astype(jnp.uint8)
    y, positive = settled((y, positive))
    return y, (x, weights[1], positive)


def _backward(
    grid: Grid, level: int, method: Method, residuals: Any, dy: Array
) -> tuple[Array, Any, Array]:
    x, weights, positive = residuals
    dmean = dy * quarter(grid, level)
    dz = [jnp.where(positive & (1 << n) != 0, dmean, 0.0) for n in range(len(SPOTS))]
    dtaps, dweights, dbias = method.backward(taps(x, grid, level), weights, dz)
    return from_taps(dtaps, grid, level), (dweights, None), dbias


conv_relu_pool.defvjp(_forward, _backward)


def quarter(grid: Grid, level: int) -> np.ndarray | np.float32:
    """What makes a mean of four spots' sum, and zero of what is no pixel."""
    inside = np.float32(0.25) * grid.inside(level)
    return np.float32(0.25) if inside.all() else np.repeat(inside, grid.batch, axis=2)


def with_border(x: Array, grid: Grid, level: int) -> Array:
    """Whole planes from the places of them that were computed, and zeros around those."""
    (rows, columns), (_, starts) = grid.places(level), grid.computed(level)
    if level == grid.layers or x.shape[2:] == (rows, columns * grid.batch):
        return x
    whole = jnp.zeros((*x.shape[:2], rows, columns * grid.batch), x.dtype)
    for n, (a, b) in enumerate(starts):
        whole = lax.dynamic_update_slice(whole, x[:, n : n + 1], (0, n, a, b * grid.batch))
    return settled(whole)


def laid_out(x: Array, grid: Grid) -> Array:
    """The taps of first images (chunks, b, H, W, C): (chunks, 16 · C, 4ᴸ⁻¹, R, Q · b)."""
    chunks, batch, height, width, channels = x.shape
    level, zero = grid.layers, jnp.zeros((), x.dtype)
    side, margin, (rows, columns) = 2**level, 2**level - 1, grid.places(level)
    down, right = rows * side - margin - height, columns * side - margin - width
    around = ((0, 0, 0), (0, 0, 0), (margin, down, 0), (margin, right, 0), (0, 0, 0))
    planes = settled(lax.pad(x, zero, around))
    planes = planes.reshape(chunks, batch, rows, side, columns, side, channels)
    planes = planes.transpose(0, 6, 3, 5, 2, 4, 1)
    planes = settled(planes.reshape(chunks, channels, side**2, rows, columns * batch))
    (rows, columns), _ = grid.computed(level - 1)
    size = chunks, channels, 1, rows, columns * batch
    begins = [begin for tap in TAPS for begin in grid.begins(level - 1, tap)]

    def slice_at(begin: Array) -> Array:
        return lax.dynamic_slice(planes, (0, 0, *begin), size)

    slices = jax.vmap(slice_at, out_axes=2)(jnp.array(begins))
    slices = slices.reshape(chunks, channels, len(TAPS), -1, rows, columns * batch)
    return slices.swapaxes(1, 2).reshape(chunks, len(TAPS) * channels, -1, rows, columns * batch)


def taps(x: Array, grid: Grid, level: int) -> list[Array]:
    """The sixteen taps of all windows, each (C, 4ᵏ, R, Q · b), of images with their border."""
    if level + 1 == grid.layers:
        return list(jnp.split(x, len(TAPS)))
    (rows, columns), _ = grid.computed(level)
    width = columns * grid.batch
    found = []
    for tap in TAPS:
        slices = [
            x[:, plane : plane + 1, a : a + rows, b : b + width]
            for plane, a, b in grid.begins(level, tap)
        ]
        found.append(jnp.concatenate(slices, axis=1))
    return found


def from_taps(dtaps: list[Array], grid: Grid, level: int) -> Array:
    """The gradients of the places that were computed: those of the taps, added up there."""
    if level + 1 == grid.layers:
        return jnp.concatenate(dtaps)
    zero, ((rows, columns), starts) = jnp.zeros((), dtaps[0].dtype), grid.computed(level + 1)
    planes: list[list[Array]] = [[] for _ in starts]
    width = columns * grid.batch
    for tap, dtap in zip(TAPS, dtaps, strict=True):
        for n, (plane, row, column) in enumerate(grid.begins(level, tap)):
            down, right = row - starts[plane][0], column - starts[plane][1] * grid.batch
            below, beside = rows - down - dtap.shape[2], width - right - dtap.shape[3]
            around = ((0, 0, 0), (0, 0, 0), (down, below, 0), (right, beside, 0))
            planes[plane].append(lax.pad(dtap[:, n : n + 1], zero, around))
    whole = settled([sum(parts[1:], parts[0]) for parts in planes])
    return settled(jnp.concatenate(whole, axis=1))
