"""Convolution 3×3 + bias + relu + 2×2 average pooling: the one operator worth its own code.

Inside a compiled loop XLA's CPU backend falls back to a naive, far slower convolution.
Written as *patches times matrix* (im2col; Chellapilla, Puri and Simard 2006) the same sums
become matrix products, which stay fast in a loop:

    forward     P = patches(x)              (B·H·W, 9·I): each pixel's 3×3 neighbourhood
                z = P @ kernel + bias       (B·H·W, O)
                y = pool(relu(z))           (B, H/2, W/2, O)
    backward    dz = unpool(dy) · [z > 0]
                dkernelᵀ = dzᵀ @ P,  dbias = Σ dz
                dx = fold(dz @ kernelᵀ)     each patch added back where it came from

A batch goes through in chunks of 16 images: the patches of a whole batch (29 MB in the
second layer) would leave the caches, those of a chunk do not. The backward pass
makes the patches again, which is cheaper than to keep them; it keeps only where z was positive.

Elsewhere (GPU, TPU) `lax.conv` is the fast form and is used as it is. Nothing outside
this file knows which of the two runs.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

CHUNK = 16
OFFSETS = [(i, j) for i in range(3) for j in range(3)]


def conv_relu_pool(x: Array, kernel: Array, bias: Array, form: str = "") -> Array:
    """average_pool(relu(conv(x, kernel) + bias)), 'SAME' padding, pooling window and stride 2.

    Args:
      x: images (B, H, W, I), float.
      kernel: (3, 3, I, O), as `flax.linen.Conv` keeps it.
      bias: (O,).
      form: one of trainer.FORMS, or "" for what suits the platform.

    Returns:
      (B, H // 2, W // 2, O); an odd last row or column is dropped, as `nn.avg_pool` does.
    """
    if form in ("grouped", "scan"):
        return by_lax(x, kernel, bias)
    if form in ("patches", "tower"):
        return by_patches(x, kernel, bias)
    return lax.platform_dependent(x, kernel, bias, cpu=by_patches, default=by_lax)


def by_lax(x: Array, kernel: Array, bias: Array) -> Array:
    """The operator as Flax's stock layers compute it."""
    numbers = ("NHWC", "HWIO", "NHWC")
    z = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers) + bias
    return pool(jax.nn.relu(z))


@jax.custom_vjp
def by_patches(x: Array, kernel: Array, bias: Array) -> Array:
    """The operator as patches times matrix, with its derivative written out."""
    return forward(x, kernel, bias)[0]


def forward(x: Array, kernel: Array, bias: Array) -> tuple[Array, tuple[Array, ...]]:
    """The value, and what the derivative needs: x and kernel, and where z was positive."""
    matrix = kernel.reshape(-1, kernel.shape[-1])

    def one_chunk(x: Array) -> tuple[Array, Array]:
        z = patches(x) @ matrix + bias
        return pool(jax.nn.relu(z)), z > 0

    y, positive = lax.map(one_chunk, chunks(x))
    return y.reshape(-1, *y.shape[2:])[: len(x)], (x, kernel, positive)


def backward(residuals: tuple[Array, ...], dy: Array) -> tuple[Array, Array, Array]:
    """Gradients for (x, kernel, bias), from that of the output."""
    x, kernel, positive = residuals
    matrix = kernel.reshape(-1, kernel.shape[-1])

    def one_chunk(sums: tuple[Array, Array], chunk: tuple[Array, ...]) -> tuple[Any, Array]:
        x, positive, dy = chunk
        dz = jnp.where(positive, unpool(dy, *x.shape[1:3]), 0).reshape(-1, matrix.shape[1])
        dkernel, dbias = sums
        sums = dkernel + dz.T @ patches(x).reshape(len(dz), -1), dbias + dz.sum(0)
        return sums, fold((dz @ matrix.T).reshape(*x.shape[:3], 9, x.shape[3]))

    zeros = jnp.zeros_like(matrix.T), jnp.zeros_like(matrix[0])
    (dkernel, dbias), dx = lax.scan(one_chunk, zeros, (chunks(x), positive, chunks(dy)))
    return dx.reshape(-1, *x.shape[1:])[: len(x)], dkernel.T.reshape(kernel.shape), dbias


by_patches.defvjp(forward, backward)


def chunks(x: Array) -> Array:
    """(B, …) to (chunks, 16, …), filled up with zeros, whose gradients are zero too."""
    size = min(CHUNK, len(x))
    filled = jnp.pad(x, ((0, -len(x) % size),) + ((0, 0),) * (x.ndim - 1))
    return filled.reshape(-1, size, *x.shape[1:])


def patches(x: Array) -> Array:
    """(B, H, W, I) to (B, H, W, 9·I): each pixel's neighbourhood, row by row, zeros outside."""
    height, width = x.shape[1:3]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return jnp.concatenate([padded[:, i : i + height, j : j + width] for i, j in OFFSETS], -1)


def fold(columns: Array) -> Array:
    """The transpose of `patches`: (B, H, W, 9, I) to (B, H, W, I)."""
    zero = jnp.zeros((), columns.dtype)
    whole = (0, 0, 0)
    shifts = [(whole, (i - 1, 1 - i, 0), (j - 1, 1 - j, 0), whole) for i, j in OFFSETS]
    return sum(lax.pad(columns[:, :, :, n], zero, shift) for n, shift in enumerate(shifts))  # type: ignore[return-value]


def pool(x: Array) -> Array:
    """Mean of each 2×2 block: (B, H, W, C) to (B, H // 2, W // 2, C)."""
    batch, height, width, channels = x.shape
    even = x[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(batch, height // 2, 2, width // 2, 2, channels).mean((2, 4))


def unpool(dy: Array, height: int, width: int) -> Array:
    """The transpose of `pool`: a quarter of each gradient to the four it was the mean of."""
    wide = jnp.repeat(jnp.repeat(dy * 0.25, 2, axis=1), 2, axis=2)
    missing = ((0, 0), (0, height - wide.shape[1]), (0, width - wide.shape[2]), (0, 0))
    return jnp.pad(wide, missing)
