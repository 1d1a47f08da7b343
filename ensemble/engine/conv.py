"""Convolution 3×3 + bias + relu + 2×2 average pooling: the one operator worth its own code.

Inside a compiled loop XLA's CPU backend falls back to a naive convolution, about 28
times slower than outside it. Written as *patches times matrix* (im2col; Chellapilla, Puri
and Simard 2006) the same sums become matrix products, which stay fast in a loop:

    forward     P = patches(x)              (B·H·W, 9·I): each pixel's 3×3 neighbourhood
                z = P @ kernel + bias       (B·H·W, O)
                y = pool(relu(z))           (B, H/2, W/2, O)
    backward    dz = unpool(dy) · [z > 0]
                dkernel = Pᵀ @ dz,  dbias = Σ dz
                dx = fold(dz @ kernelᵀ)     each patch added back where it came from

Elsewhere (GPU, TPU) `lax.conv` is the fast form and is used as it is. Nothing outside
this file knows which of the two runs.
"""

import jax
import jax.numpy as jnp
from jax import Array, lax

OFFSETS = [(i, j) for i in range(3) for j in range(3)]


def conv_relu_pool(x: Array, kernel: Array, bias: Array) -> Array:
    """average_pool(relu(conv(x, kernel) + bias)), 'SAME' padding, pooling window and stride 2.

    Args:
      x: images (B, H, W, I), float.
      kernel: (3, 3, I, O), as `flax.linen.Conv` keeps it.
      bias: (O,).

    Returns:
      (B, H // 2, W // 2, O); an odd last row or column is dropped, as `nn.avg_pool` does.
    """
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
    """The value, and what the derivative needs: patches, positive places, kernel, a shape."""
    height, width = x.shape[1:3]
    columns = patches(x)
    z = columns @ kernel.reshape(-1, kernel.shape[-1]) + bias
    return pool(jax.nn.relu(z)), (columns, z > 0, kernel, jnp.zeros((height, width, 0)))


def backward(residuals: tuple[Array, ...], dy: Array) -> tuple[Array, Array, Array]:
    """Gradients for (x, kernel, bias), from that of the output."""
    columns, positive, kernel, shape = residuals
    inputs, outputs = kernel.shape[2:]
    batch, (height, width) = dy.shape[0], shape.shape[:2]
    dz = jnp.where(positive, unpool(dy, height, width), 0)
    flat = dz.reshape(-1, outputs)
    dkernel = (columns.reshape(-1, 9 * inputs).T @ flat).reshape(kernel.shape)
    dcolumns = flat @ kernel.reshape(9 * inputs, outputs).T
    dx = fold(dcolumns.reshape(batch, height, width, 9, inputs))
    return dx, dkernel, flat.sum(0)


by_patches.defvjp(forward, backward)


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
