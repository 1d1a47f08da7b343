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

Images lie as (C, H, W, b), the batch last. Split by odd and even rows and columns into four
*planes*, with the zeros around the image included, all windows' taps (u, v) are one plane from
some place on: a slice of memory without gaps, long enough for any vector unit.

    planes     (2, 2) of (C, (S + 1) · (T + 1) · b)      S = H // 2, T = W // 2 windows
    taps       (4, 4) of (C, S · (T + 1) · b)            a slice each; the last column of windows
                                                         is one too many, and is dropped in the end
    z          (2, 2) of (O, S · (T + 1) · b)            by products.py, which multiplies
    y          (O, S, T, b)

The derivative goes the same way back: dz is a quarter of dy where z was positive (kept as four
bits a window), `products` turns it into the taps' and the kernel's, and each tap's is added to
its plane at its place.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from ensemble.engine.products import SPOTS, TAPS, products_for, settled


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def conv_relu_pool_batch_last(x: Array, kernel: Array, bias: Array, precision: str) -> Array:
    """average_pool(relu(conv(x, kernel) + bias)), 'SAME' padding, pooling window and stride 2.

    Args:
      x: images (C, H, W, b), float32.
      kernel: (3, 3, C, O).
      bias: (O,).
      precision: of the factors in products: "float32" or "bfloat16".

    Returns:
      (O, H // 2, W // 2, b), float32; an odd last row or column is dropped, as `nn.avg_pool` does.
    """
    return _forward(x, kernel, bias, precision)[0]


def _forward(x: Array, kernel: Array, bias: Array, precision: str) -> tuple[Array, Any]:
    (_, height, width, batch), features = x.shape, len(bias)
    forward, _ = products_for(len(x), precision)
    z = [spot + bias[:, None] for spot in forward(taps(x), kernel)]
    y = sum(jnp.maximum(spot, 0) for spot in z) * 0.25
    # One byte a window: which of its spots let the gradient through.
    bits = [(spot > 0) * float(1 << n) for n, spot in enumerate(z)]
    positive = sum(bits[1:], bits[0]).astype(jnp.uint8)
    y, positive = settled((y, positive))
    y = y.reshape(features, height // 2, width // 2 + 1, batch)[:, :, : width // 2]
    return y, (x, kernel, positive)


def _backward(precision: str, residuals: Any, dy: Array) -> tuple[Array, Array, Array]:
    x, kernel, positive = residuals
    _, backward = products_for(len(x), precision)
    # No gradient comes from the column of windows that was dropped.
    wide = settled(jnp.pad(dy * 0.25, ((0, 0), (0, 0), (0, 1), (0, 0))).reshape(len(dy), -1))
    dz = [jnp.where(positive & (1 << n) != 0, wide, 0.0) for n in range(len(SPOTS))]
    dtaps, dkernel, dbias = backward(taps(x), kernel, dz)
    return from_taps(dtaps, x.shape), dkernel, dbias


conv_relu_pool_batch_last.defvjp(_forward, _backward)


def taps(x: Array) -> list[Array]:
    """The sixteen taps of all windows, each (C, S · (T + 1) · b), of images (C, H, W, b)."""
    (channels, height, width, batch) = x.shape
    rows, columns = height // 2, width // 2
    around = ((0, 0), (1, 2 * rows + 1 - height), (1, 2 * columns + 1 - width), (0, 0))
    paired = jnp.pad(x, around).reshape(channels, rows + 1, 2, columns + 1, 2, batch)
    # The last slice reaches one window over the end.
    over = ((0, 0), (0, batch))
    planes = settled([jnp.pad(paired[:, :, p, :, q].reshape(channels, -1), over) for p, q in SPOTS])
    length = rows * (columns + 1) * batch
    return [
        lax.slice_in_dim(planes[2 * (u % 2) + v % 2], start, start + length, axis=1)
        for (u, v), start in zip(TAPS, starts(columns, batch), strict=True)
    ]


def from_taps(dtaps: list[Array], shape: tuple[int, ...]) -> Array:
    """The transpose of `taps`: their gradients, added up where the taps came from, (C, H, W, b)."""
    channels, height, width, batch = shape
    rows, columns = height // 2, width // 2
    begins, reach = starts(columns, batch), (columns + 2) * batch
    zero = jnp.zeros((), dtaps[0].dtype)
    planes = []
    for p, q in SPOTS:
        of_plane = [n for n, (u, v) in enumerate(TAPS) if (u % 2, v % 2) == (p, q)]
        placed = [
            lax.pad(dtaps[n], zero, ((0, 0, 0), (begins[n], reach - begins[n], 0)))
            for n in of_plane
        ]
        whole = sum(placed[1:], placed[0])[:, :-batch]
        planes.append(whole.reshape(channels, rows + 1, columns + 1, batch))
    paired = jnp.stack(settled(planes)).reshape(2, 2, channels, rows + 1, columns + 1, batch)
    padded = paired.transpose(2, 3, 0, 4, 1, 5).reshape(
        channels, 2 * rows + 2, 2 * columns + 2, batch
    )
    # Without the zeros around; nothing hangs on the last row of an image of one row.
    inside = padded[:, 1 : height + 1, 1 : width + 1]
    missing = [(0, want - have) for want, have in zip(shape, inside.shape, strict=True)]
    return jnp.pad(inside, missing)


def starts(columns: int, batch: int) -> list[int]:
    """Where in its plane each tap's slice begins."""
    return [(u // 2 * (columns + 1) + v // 2) * batch for u, v in TAPS]
