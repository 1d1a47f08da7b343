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

The same tap of all windows has to be a slice of memory without gaps, long enough for any vector
unit. So an image that k more layers are to pool lies in 4ᵏ *planes*, by row and column modulo 2ᵏ:
plane (r, c) has at its *place* (a, b)

        the pixel (2ᵏa + r − m, 2ᵏb + c − m),  m = 2ᵏ − 1,  and zero where the image has none.

All planes, of all layers, have as many places in a row. A window is a pixel of the next image,
in a plane (r, c) of that at (a, b), and by the two formulas its tap (u, v) is, where (a, b) moves
over the whole plane, one plane of this image from some place on:

        plane (2r + u, 2c + v) modulo 2ᵏ,  at (a + (2r + u) div 2ᵏ, b + (2c + v) div 2ᵏ)

so that nothing is moved between one layer and the next. With S × T pixels for the result,
W pixels in a row of the first image and L layers:

        places in a row       ⌈W / 2ᴸ⌉ + 1    one more than pixels: what runs over the end of a row
                                              must not come upon another row's first pixel
        places of a plane     (S − 1) · row + T  and  row + 1 more for each layer still to come
        images, planes        (C, 4ᵏ · places · b)
        taps                  (4, 4) of (C, 4ᵏ⁻¹ · places of the next · b)
        z                     (2, 2) of (O, …) by products.py, which multiplies
        y                     (O, …): the planes of the next image; zero where that has no pixel

The first images have their taps laid out one by one (`laid_out`): they are small.

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

    @property
    def columns(self) -> int:
        """Places in a row."""
        return -(-self.width // 2**self.layers) + 1

    def size(self, level: int) -> tuple[int, int]:
        """Height and width of the images at a level."""
        return self.height >> self.layers - level, self.width >> self.layers - level

    def places(self, level: int) -> int:
        """Places of a plane."""
        rows, columns = self.size(0)
        return (rows - 1) * self.columns + columns + level * (self.columns + 1)

    def pixels(self, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of the pixel at each place of each plane, int (4ᵏ · places,)."""
        side, margin = 2**level, 2**level - 1
        plane, place = np.divmod(np.arange(side**2 * self.places(level)), self.places(level))
        row, column = np.divmod(place, self.columns)
        return side * row + plane // side - margin, side * column + plane % side - margin

    def inside(self, level: int) -> np.ndarray:
        """Whether the image has that pixel: bool (4ᵏ · places,)."""
        (height, width), (row, column) = self.size(level), self.pixels(level)
        return (row >= 0) & (row < height) & (column >= 0) & (column < width)

    def starts(self, level: int, tap: tuple[int, int]) -> list[tuple[int, int]]:
        """Of each plane at a level: the plane of the level before, and where in it a tap begins."""
        side, (u, v) = 2 ** (level + 1), tap
        found = []
        for plane in range(4**level):
            down, row = divmod(2 * (plane // 2**level) + u, side)
            right, column = divmod(2 * (plane % 2**level) + v, side)
            found.append((row * side + column, (down * self.columns + right) * self.batch))
        return found


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def conv_relu_pool(
    x: Array, weights: Weights, bias: Array, grid: Grid, level: int, method: Method
) -> Array:
    """average_pool(relu(conv(x, kernel) + bias)), 'SAME' padding, pooling window and stride 2.

    Args:
      x: images at the level before, (C, 4ᵏ⁺¹ · places · b); of the first images the taps,
        (16 · C, 4ᵏ · places · b), one (C, …) under the other. float32.
      weights: `method.weights` of a kernel (3, 3, C, O).
      bias: (O,).
      grid: where all of it lies.
      level: k, of the result.
      method: how to multiply.

    Returns:
      Images at this level, (O, 4ᵏ · places · b), float32; an odd last row or column of the images
      before is dropped, as `nn.avg_pool` does.
    """
    return _forward(x, weights, bias, grid, level, method)[0]


def _forward(
    x: Array, weights: Weights, bias: Array, grid: Grid, level: int, method: Method
) -> tuple[Array, Any]:
    z = [spot + bias[:, None] for spot in method.forward(taps(x, grid, level), weights[0])]
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


def quarter(grid: Grid, level: int) -> np.ndarray:
    """What makes a mean of four spots' sum, and nothing of what is no pixel: (4ᵏ · places · b,)."""
    return np.repeat(np.float32(0.25) * grid.inside(level), grid.batch)


def laid_out(x: Array, grid: Grid) -> Array:
    """The taps of first images (chunks, b, H, W, C): (chunks, 16 · C, 4ᴸ⁻¹ · places · b)."""
    chunks, batch, height, width, channels = x.shape
    level, zero = grid.layers, jnp.zeros((), x.dtype)
    side, margin = 2**level, 2**level - 1
    rows = -(-grid.places(level) // grid.columns)
    down, right = rows * side - margin - height, grid.columns * side - margin - width
    around = ((0, 0, 0), (0, 0, 0), (margin, down, 0), (margin, right, 0), (0, 0, 0))
    planes = lax.pad(x, zero, around).reshape(
        chunks, batch, rows, side, grid.columns, side, channels
    )
    planes = settled(planes.transpose(0, 6, 3, 5, 2, 4, 1).reshape(chunks, channels, -1))
    plane, length = rows * grid.columns * batch, grid.places(level - 1) * batch
    begins = [n * plane + at for tap in TAPS for n, at in grid.starts(level - 1, tap)]

    def slice_at(begin: Array) -> Array:
        return lax.dynamic_slice_in_dim(planes, begin, length, axis=2)

    slices = jax.vmap(slice_at, out_axes=2)(jnp.array(begins))
    slices = slices.reshape(chunks, channels, len(TAPS), -1)
    return slices.swapaxes(1, 2).reshape(chunks, len(TAPS) * channels, -1)


def taps(x: Array, grid: Grid, level: int) -> list[Array]:
    """The sixteen taps of all windows, each (C, 4ᵏ · places · b)."""
    if level + 1 == grid.layers:
        return list(jnp.split(x, len(TAPS)))
    before, length = grid.places(level + 1) * grid.batch, grid.places(level) * grid.batch
    found = []
    for tap in TAPS:
        begins = [plane * before + start for plane, start in grid.starts(level, tap)]
        slices = [lax.slice_in_dim(x, begin, begin + length, axis=1) for begin in begins]
        found.append(jnp.concatenate(slices, axis=1) if level else slices[0])
    return found


def from_taps(dtaps: list[Array], grid: Grid, level: int) -> Array:
    """The transpose of `taps`: their gradients, added up where the taps came from."""
    if level + 1 == grid.layers:
        return jnp.concatenate(dtaps)
    before, length = grid.places(level + 1) * grid.batch, grid.places(level) * grid.batch
    zero = jnp.zeros((), dtaps[0].dtype)
    planes: list[list[Array]] = [[] for _ in range(4 ** (level + 1))]
    for tap, dtap in zip(TAPS, dtaps, strict=True):
        for n, (plane, start) in enumerate(grid.starts(level, tap)):
            part = lax.slice_in_dim(dtap, n * length, (n + 1) * length, axis=1)
            around = ((0, 0, 0), (start, before - length - start, 0))
            planes[plane].append(lax.pad(part, zero, around))
    return jnp.concatenate(settled([sum(parts[1:], parts[0]) for parts in planes]), axis=1)
