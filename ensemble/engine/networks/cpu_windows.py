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

The same tap of all windows has to lie in runs of memory longer than any vector unit is wide.
So an image of H × W pixels that k more layers are to pool lies in 4ᵏ *planes*, by row and column
modulo 2ᵏ: plane (r, c) has at its *place* (a, b)

        the pixel (2ᵏa + r − m, 2ᵏb + c − m),  m = 2ᵏ − 1,  and zero where the image has none.

A window is a pixel (s, t) of the next image, in a plane (r, c) of that one, where k − 1 layers
remain: s = 2ᵏ⁻¹a + r − (2ᵏ⁻¹ − 1). So 2s + u − 1 = 2ᵏa + (2r + u) − m, and its tap (u, v) lies in

        plane (2r + u, 2c + v) modulo 2ᵏ,  at (a + (2r + u) div 2ᵏ, b + (2c + v) div 2ᵏ):

while (a, b) moves over a rectangle, so does the tap, in one plane, and nothing is sorted again
between the layers. 2r + u is at most 2ᵏ + 1, so that the quotient is 0 or 1, and a plane needs one
row and one column of places more than those of the next image: (S + k) × (T + k) where the tower's
result has S × T pixels.

No plane has more than R × Q pixels, R = ⌈H / 2ᵏ⌉ and Q = ⌈W / 2ᵏ⌉, and only so many of its places
are computed. They begin at row 0 where r = m, and else at row 1 if there is room, R < S + k; with
columns alike. The others are a border of zeros; a place that is computed without a pixel is made
zero. With B images side by side in each place:

        first images          (C, 4ᴸ, S + L, (T + L) · B), L layers, out of which `lay_out_taps`
        takes
                              the taps, one by one: they are small
        images                (C, 4ᵏ, R, Q · B), and with their border (C, 4ᵏ, S + k, (T + k) · B)
        taps of the windows   (4, 4) of (C, 4ᵏ⁻¹, R, Q · B), the R and Q of the next image
        z                     (2, 2) of (O, …) by cpu_products.py, which multiplies
        y, the next image     (O, …)

28 × 28 pixels, two layers: 16 planes of 9 × 9 places; 4 of 8 × 8, 7 × 7 of them computed; 1 of
7 × 7. 13 × 11 pixels: 16 of 5 × 4; 4 of 4 × 3, 3 × 3 computed for 6 × 5 pixels; 1 of 3 × 2.

The derivative goes the same way back: dz is a quarter of dy where z was positive (four bits a
window), which becomes the taps' and the kernel's; each tap's is added to its plane at its place.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ensemble.engine.networks.cpu_products import SPOTS, TAPS, ProductMethod, Weights, materialize_arrays


class WindowGrid(NamedTuple):
    """Where the pixels of a tower's images lie, for images of one size, all known beforehand.

    Images at *level* k are those that k more layers are to pool; the result is at level 0.

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

    def image_size(self, level: int) -> tuple[int, int]:
        """Height and width of the images at a level."""
        return self.height >> self.layers - level, self.width >> self.layers - level

    def plane_size(self, level: int) -> tuple[int, int]:
        """Rows and columns of places of a plane, the border included."""
        rows, columns = self.image_size(0)
        return rows + level, columns + level

    def computed_region(self, level: int) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """R and Q, the same for all planes of a level, and the place where each plane's begin."""
        side, spans = 2**level, []
        for pixels, places in zip(self.image_size(level), self.plane_size(level), strict=True):
            size = -(-pixels // side)
            spans.append((size, [min(int(r < side - 1), places - size) for r in range(side)]))
        (rows, down), (columns, right) = spans
        return (rows, columns), [(a, b) for a in down for b in right]

    def pixel_mask(self, level: int) -> np.ndarray:
        """Whether the image has the pixel at each computed place: bool (4ᵏ, R, Q)."""
        side, ((rows, columns), starts), masks = 2**level, self.computed_region(level), []
        height, width = self.image_size(level)
        for plane, (a, b) in enumerate(starts):
            row = side * (a + np.arange(rows)) + plane // side - (side - 1)
            column = side * (b + np.arange(columns)) + plane % side - (side - 1)
            down, right = (row >= 0) & (row < height), (column >= 0) & (column < width)
            masks.append(down[:, None] & right)
        return np.array(masks)

    def tap_origins(self, level: int, tap: tuple[int, int]) -> list[tuple[int, int, int]]:
        """Where the windows of each plane of a level have their tap.

        The plane at level + 1 that holds it, row and column there of the first computed window's;
        columns count images, `batch` to a place.
        """
        side, (u, v) = 2 ** (level + 1), tap
        origins = []
        for plane, (a, b) in enumerate(self.computed_region(level)[1]):
            down, row = divmod(2 * (plane // 2**level) + u, side)
            right, column = divmod(2 * (plane % 2**level) + v, side)
            origins.append((row * side + column, a + down, (b + right) * self.batch))
        return origins


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def conv_relu_pool(
    x: Array, weights: Weights, bias: Array, grid: WindowGrid, level: int, method: ProductMethod
) -> Array:
    """average_pool(relu(conv(x, kernel) + bias)), 'SAME' padding, pooling window and stride 2.

    Args:
      x: images at the level before, (C, 4ᵏ⁺¹, R, Q · B); of the first images the taps, one under
        the other, (16 · C, 4ᵏ, R, Q · B) with the R and Q of this level. float32.
      weights: `method.weights` of a kernel (3, 3, C, O).
      bias: (O,).
      grid: where all of it lies.
      level: k, of the result.
      method: how to multiply.

    Returns:
      Images at this level, (O, 4ᵏ, R, Q · B), float32; an odd last row or column of the images
      before is dropped, as `nn.avg_pool` does.
    """
    return _conv_relu_pool_forward(x, weights, bias=bias, grid=grid, level=level, method=method)[0]


def _conv_relu_pool_forward(
    x: Array, weights: Weights, bias: Array, grid: WindowGrid, level: int, method: ProductMethod
) -> tuple[Array, Any]:
    x = add_plane_border(x, grid, level)
    with jax.named_scope("transforms"):
        z = method.forward(extract_taps(x, grid, level), weights[0])
    z = [spot + bias[:, None, None, None] for spot in z]
    y = sum(jnp.maximum(spot, 0) for spot in z) * compute_pooling_weights(grid, level)
    # One byte a window: which of its spots let the gradient through.
    bits = [(spot > 0) * float(1 << n) for n, spot in enumerate(z)]
    positive = sum(bits[1:], bits[0]).astype(jnp.uint8)
    y, positive = materialize_arrays((y, positive))
    return y, (x, weights[1], positive)


def _conv_relu_pool_backward(
    grid: WindowGrid, level: int, method: ProductMethod, residuals: Any, dy: Array
) -> tuple[Array, Any, Array]:
    (x, weights, positive), dmean = residuals, dy * compute_pooling_weights(grid, level)
    dz = [jnp.where(positive & (1 << n) != 0, dmean, 0.0) for n in range(len(SPOTS))]
    with jax.named_scope("transforms"):
        dtaps, dweights = method.backward(extract_taps(x, grid, level), weights, dz)
    dbias = sum(dz[1:], dz[0]).sum((1, 2, 3))
    return accumulate_tap_gradients(dtaps, grid, level), (dweights, None), dbias


conv_relu_pool.defvjp(_conv_relu_pool_forward, _conv_relu_pool_backward)


def compute_pooling_weights(grid: WindowGrid, level: int) -> np.ndarray | np.float32:
    """A quarter, which makes a mean of four spots' sum; by place, 0 where there is no pixel."""
    inside = np.float32(0.25) * grid.pixel_mask(level)
    return np.float32(0.25) if inside.all() else np.repeat(inside, grid.batch, axis=2)


@jax.named_scope("taps")
def add_plane_border(x: Array, grid: WindowGrid, level: int) -> Array:
    """What `extract_taps` takes from: images in whole planes. The first come as taps."""
    (rows, columns), (computed, starts) = (grid.plane_size(level + 1), grid.computed_region(level + 1))
    if level + 1 == grid.layers or computed == (rows, columns):
        return x
    whole = jnp.zeros((*x.shape[:2], rows, columns * grid.batch), x.dtype)
    for n, (a, b) in enumerate(starts):
        whole = lax.dynamic_update_slice(whole, x[:, n : n + 1], (0, n, a, b * grid.batch))
    return materialize_arrays(whole)


@jax.named_scope("taps")
def extract_taps(x: Array, grid: WindowGrid, level: int) -> list[Array]:
    """The sixteen taps of all windows, each (C, 4ᵏ, R, Q · B), of images with their border."""
    if level + 1 == grid.layers:
        return list(jnp.split(x, len(TAPS)))
    (rows, columns), _ = grid.computed_region(level)
    width, taps = columns * grid.batch, []
    for tap in TAPS:
        slices = [x[:, plane : plane + 1, a : a + rows, b : b + width] for plane, a, b in grid.tap_origins(level, tap)]
        taps.append(jnp.concatenate(slices, axis=1))
    return taps


@jax.named_scope("taps")
def accumulate_tap_gradients(dtaps: list[Array], grid: WindowGrid, level: int) -> Array:
    """The transpose of `add_plane_border` and `extract_taps`: adds up the taps' gradients."""
    if level + 1 == grid.layers:
        return jnp.concatenate(dtaps)
    zero, ((rows, columns), starts) = jnp.zeros((), dtaps[0].dtype), grid.computed_region(level + 1)
    planes: list[list[Array]] = [[] for _ in starts]
    width = columns * grid.batch
    for tap, dtap in zip(TAPS, dtaps, strict=True):
        for n, (plane, row, column) in enumerate(grid.tap_origins(level, tap)):
            # Less than zero where a tap reaches the border: that is cut off, nobody asks for it.
            down, right = row - starts[plane][0], column - starts[plane][1] * grid.batch
            below, beside = rows - down - dtap.shape[2], width - right - dtap.shape[3]
            around = ((0, 0, 0), (0, 0, 0), (down, below, 0), (right, beside, 0))
            planes[plane].append(lax.pad(dtap[:, n : n + 1], zero, around))
    whole = materialize_arrays([sum(parts[1:], parts[0]) for parts in planes])
    return materialize_arrays(jnp.concatenate(whole, axis=1))


@jax.named_scope("taps")
def lay_out_taps(x: Array, grid: WindowGrid) -> Array:
    """The taps of first images (chunks, B, H, W, C): (chunks, 16 · C, 4ᴸ⁻¹, R, Q · B).

    R and Q are those of the first layer's result, at level L − 1.
    """
    chunks, batch, height, width, channels = x.shape
    level, zero = grid.layers, jnp.zeros((), x.dtype)
    side, margin, (rows, columns) = 2**level, 2**level - 1, grid.plane_size(level)
    down, right = rows * side - margin - height, columns * side - margin - width
    around = ((0, 0, 0), (0, 0, 0), (margin, down, 0), (margin, right, 0), (0, 0, 0))
    planes = materialize_arrays(lax.pad(x, zero, around))
    planes = planes.reshape(chunks, batch, rows, side, columns, side, channels)
    planes = planes.transpose(0, 6, 3, 5, 2, 4, 1)
    planes = materialize_arrays(planes.reshape(chunks, channels, side**2, rows, columns * batch))

    (rows, columns), _ = grid.computed_region(level - 1)
    size = rows, columns * batch
    begins = [begin for tap in TAPS for begin in grid.tap_origins(level - 1, tap)]

    def slice_at(begin: Array) -> Array:
        return lax.dynamic_slice(planes, (0, 0, *begin), (chunks, channels, 1, *size))

    slices = jax.vmap(slice_at, out_axes=2)(jnp.array(begins))
    slices = slices.reshape(chunks, channels, len(TAPS), -1, *size)
    return slices.swapaxes(1, 2).reshape(chunks, len(TAPS) * channels, -1, *size)
