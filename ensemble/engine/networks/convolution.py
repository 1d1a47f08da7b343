"""The tower: twice convolution 3×3 + bias + relu + 2×2 average pooling, in three forms.

`by_lax` is `lax.conv` as Flax's stock layers use it: right everywhere, fast on a GPU. Inside a
compiled loop XLA's CPU backend falls back to a naive, far slower convolution; for CPUs there is
`by_windows`, the method of cpu_windows.py: a batch goes through both layers in chunks of a few
images, so that what one layer leaves for the next is still in the caches.

`by_patches` writes the same sums as *patches times matrix* (im2col; Chellapilla, Puri and Simard
2006), which becomes one batched matrix product when members are mapped over:

    forward     P = patches(x)              (B·H·W, 9·I): each pixel's 3×3 neighbourhood
                z = P @ kernel + bias       (B·H·W, O)
                y = pool(relu(z))           (B, H/2, W/2, O)
    backward    dz = unpool(dy) · [z > 0]
                dkernelᵀ = dzᵀ @ P,  dbias = Σ dz
                dx = fold(dz @ kernelᵀ)     each patch added back where it came from

Nothing outside this file knows which of them runs.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from ensemble.engine.networks.cpu_products import method_for
from ensemble.engine.networks.cpu_windows import Grid, conv_relu_pool, laid_out

CHUNK = 16
# Images that go through both layers together. Winograd's method keeps four times as much at hand
# as the images are large.
CHUNK_OF_WINDOWS = {"float32": 8, "bfloat16": 32, "bfloat16_winograd": 8, "rounded": 8}
OFFSETS = [(i, j) for i in range(3) for j in range(3)]

Layer = tuple[Array, Array]


def conv_tower(x: Array, layers: Sequence[Layer], form: str, precision: str) -> Array:
    """average_pool(relu(conv(x, kernel) + bias)) for one layer after the other.

    Convolutions have 'SAME' padding, pooling has window and stride 2; an odd last row or column
    is dropped, as `nn.avg_pool` does.

    Args:
      x: images (B, H, W, I), float32.
      layers: kernel (3, 3, I, O), as `flax.linen.Conv` keeps it, and bias (O,), of each layer.
      form: one of programs.FORMS, or "" for what suits the platform.
      precision: of the factors in products, "float32" or "bfloat16", in the tower also
        "bfloat16_winograd" and "rounded" (cpu_products.py); sums are float32.

    Returns:
      (B, H // 2^L, W // 2^L, O of the last layer) for L layers.
    """
    if form == "tower":
        return by_windows(x, layers, precision)
    if form == "patches":
        return one_by_one(by_patches, x, layers, precision)
    if form in ("grouped", "scan"):
        return one_by_one(by_lax, x, layers, precision)
    return lax.platform_dependent(
        x,
        tuple(layers),
        cpu=functools.partial(by_windows, precision=precision),
        default=functools.partial(one_by_one, by_lax, precision=precision),
    )


def one_by_one(
    operator: Callable[..., Array], x: Array, layers: Sequence[Layer], precision: str
) -> Array:
    """Each layer on the whole batch."""
    for kernel, bias in layers:
        x = operator(x, kernel, bias, precision)
    return x


def by_windows(x: Array, layers: Sequence[Layer], precision: str) -> Array:
    """All layers on a chunk of images, then the next chunk."""
    count = -(-len(x) // CHUNK_OF_WINDOWS[precision])
    chunked = chunks(x, -(-len(x) // count))
    count, batch, height, width, _ = chunked.shape
    grid = Grid(height, width, len(layers), batch)
    (rows, columns), features = grid.size(0), len(layers[-1][1])
    if not rows * columns:
        return jnp.zeros((len(x), rows, columns, features))

    methods = [method_for(kernel.shape[2], precision) for kernel, _ in layers]
    with jax.named_scope("weights"):
        weights = [
            method.weights(kernel) for method, (kernel, _) in zip(methods, layers, strict=True)
        ]

    def one_chunk(x: Array) -> Array:
        for n, (_, bias) in enumerate(layers):
            with jax.named_scope(f"convolution_{n}"):
                x = conv_relu_pool(x, weights[n], bias, grid, len(layers) - 1 - n, methods[n])
        return x

    y = lax.map(one_chunk, laid_out(chunked, grid))
    y = y.reshape(count, features, rows, columns, batch)
    return y.transpose(0, 4, 2, 3, 1).reshape(-1, rows, columns, features)[: len(x)]


def by_lax(x: Array, kernel: Array, bias: Array, precision: str = "float32") -> Array:
    """One layer as Flax's stock layers compute it; in bfloat16 its sums come back rounded, too."""
    numbers = ("NHWC", "HWIO", "NHWC")
    x, kernel = x.astype(precision), kernel.astype(precision)
    z = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)
    return pool(jax.nn.relu(z.astype(bias.dtype) + bias))


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def by_patches(x: Array, kernel: Array, bias: Array, precision: str = "float32") -> Array:
    """One layer as patches times matrix, with its derivative written out."""
    return forward(x, kernel, bias, precision)[0]


def forward(
    x: Array, kernel: Array, bias: Array, precision: str
) -> tuple[Array, tuple[Array, ...]]:
    """The value, and what the derivative needs: x and kernel, and where z was positive."""
    matrix = kernel.reshape(-1, kernel.shape[-1])

    def one_chunk(x: Array) -> tuple[Array, Array]:
        z = product(patches(x), matrix, precision) + bias
        return pool(jax.nn.relu(z)), z > 0

    y, positive = lax.map(one_chunk, chunks(x, min(CHUNK, len(x))))
    return y.reshape(-1, *y.shape[2:])[: len(x)], (x, kernel, positive)


def backward(precision: str, residuals: tuple[Array, ...], dy: Array) -> tuple[Array, Array, Array]:
    """Gradients for (x, kernel, bias), from that of the output."""
    x, kernel, positive = residuals
    matrix = kernel.reshape(-1, kernel.shape[-1])
    size = positive.shape[1]

    def one_chunk(sums: tuple[Array, Array], chunk: tuple[Array, ...]) -> tuple[Any, Array]:
        x, positive, dy = chunk
        dz = jnp.where(positive, unpool(dy, *x.shape[1:3]), 0).reshape(-1, matrix.shape[1])
        dkernel, dbias = sums
        seen = patches(x).reshape(len(dz), -1)
        sums = dkernel + product(dz.T, seen, precision), dbias + dz.sum(0)
        columns = product(dz, matrix.T, precision)
        return sums, fold(columns.reshape(*x.shape[:3], 9, x.shape[3]))

    zeros = jnp.zeros_like(matrix.T), jnp.zeros_like(matrix[0])
    (dkernel, dbias), dx = lax.scan(one_chunk, zeros, (chunks(x, size), positive, chunks(dy, size)))
    return dx.reshape(-1, *x.shape[1:])[: len(x)], dkernel.T.reshape(kernel.shape), dbias


by_patches.defvjp(forward, backward)


def product(a: Array, b: Array, precision: str) -> Array:
    """Matrix product a @ b with factors of that precision, summed in float32."""
    return jnp.matmul(a.astype(precision), b.astype(precision), preferred_element_type=jnp.float32)


def chunks(x: Array, size: int) -> Array:
    """(B, …) to (chunks, size, …), filled up with zeros, whose gradients are zero too."""
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
    parts = [lax.pad(columns[:, :, :, n], zero, shift) for n, shift in enumerate(shifts)]
    return sum(parts[1:], parts[0])


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
