"""The tower: twice convolution 3×3 + bias + relu + 2×2 average pooling, in three forms.

`apply_lax_layer` is `lax.conv` as Flax's stock layers use it: right everywhere, fast on a GPU.
Inside a compiled loop XLA's CPU backend falls back to a naive, far slower convolution; for CPUs
there is `apply_layers_by_windows`, the method of cpu_windows.py: a batch goes through both layers
in chunks of a few images, so that what one layer leaves for the next is still in the caches.

`apply_im2col_layer` writes the same sums as *patches times matrix* (im2col; Chellapilla, Puri and
Simard 2006), which becomes one batched matrix product when members are mapped over:

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

from ensemble.engine.networks.cpu_products import choose_product_method
from ensemble.engine.networks.cpu_windows import WindowGrid, conv_relu_pool, lay_out_taps

IM2COL_CHUNK_SIZE = 16
# Images that go through both layers together. Winograd's method keeps four times as much at hand
# as the images are large.
WINDOW_CHUNK_SIZES = {"float32": 8, "bfloat16": 32, "bfloat16_winograd": 8, "rounded": 8}
OFFSETS = [(i, j) for i in range(3) for j in range(3)]

Layer = tuple[Array, Array]


def apply_conv_tower(x: Array, layers: Sequence[Layer], form: str, precision: str) -> Array:
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
        return apply_layers_by_windows(x, layers, precision)
    if form == "patches":
        return apply_layers_in_turn(apply_im2col_layer, x, layers, precision)
    if form in ("grouped", "scan"):
        return apply_layers_in_turn(apply_lax_layer, x, layers, precision)
    return lax.platform_dependent(
        x,
        tuple(layers),
        cpu=functools.partial(apply_layers_by_windows, precision=precision),
        default=functools.partial(apply_layers_in_turn, apply_lax_layer, precision=precision),
    )


def apply_layers_in_turn(
    operator: Callable[..., Array], x: Array, layers: Sequence[Layer], precision: str
) -> Array:
    """Each layer on the whole batch."""
    for kernel, bias in layers:
        x = operator(x, kernel, bias, precision)
    return x


def apply_layers_by_windows(x: Array, layers: Sequence[Layer], precision: str) -> Array:
    """All layers on a chunk of images, then the next chunk."""
    count = -(-len(x) // WINDOW_CHUNK_SIZES[precision])
    chunked = split_into_chunks(x, -(-len(x) // count))
    count, batch, height, width, _ = chunked.shape
    grid = WindowGrid(height, width, len(layers), batch)
    (rows, columns), features = grid.image_size(0), len(layers[-1][1])
    if not rows * columns:
        return jnp.zeros((len(x), rows, columns, features))

    methods = [choose_product_method(kernel.shape[2], precision) for kernel, _ in layers]
    with jax.named_scope("weights"):
        weights = [
            method.weights(kernel) for method, (kernel, _) in zip(methods, layers, strict=True)
        ]

    def apply_chunk(x: Array) -> Array:
        for n, (_, bias) in enumerate(layers):
            with jax.named_scope(f"convolution_{n}"):
                x = conv_relu_pool(x, weights[n], bias, grid, len(layers) - 1 - n, methods[n])
        return x

    y = lax.map(apply_chunk, lay_out_taps(chunked, grid))
    y = y.reshape(count, features, rows, columns, batch)
    return y.transpose(0, 4, 2, 3, 1).reshape(-1, rows, columns, features)[: len(x)]


def apply_lax_layer(x: Array, kernel: Array, bias: Array, precision: str = "float32") -> Array:
    """One layer as Flax's stock layers compute it; in bfloat16 its sums come back rounded, too."""
    numbers = ("NHWC", "HWIO", "NHWC")
    x, kernel = x.astype(precision), kernel.astype(precision)
    z = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers)
    return average_pool(jax.nn.relu(z.astype(bias.dtype) + bias))


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def apply_im2col_layer(x: Array, kernel: Array, bias: Array, precision: str = "float32") -> Array:
    """One layer as patches times matrix, with its derivative written out."""
    return im2col_forward(x, kernel, bias, precision)[0]


def im2col_forward(
    x: Array, kernel: Array, bias: Array, precision: str
) -> tuple[Array, tuple[Array, ...]]:
    """The value, and what the derivative needs: x and kernel, and where z was positive."""
    matrix = kernel.reshape(-1, kernel.shape[-1])

    def apply_chunk(x: Array) -> tuple[Array, Array]:
        z = multiply_in_precision(extract_patches(x), matrix, precision) + bias
        return average_pool(jax.nn.relu(z)), z > 0

    y, positive = lax.map(apply_chunk, split_into_chunks(x, min(IM2COL_CHUNK_SIZE, len(x))))
    return y.reshape(-1, *y.shape[2:])[: len(x)], (x, kernel, positive)


def im2col_backward(
    precision: str, residuals: tuple[Array, ...], dy: Array
) -> tuple[Array, Array, Array]:
    """Gradients for (x, kernel, bias), from that of the output."""
    x, kernel, positive = residuals
    matrix = kernel.reshape(-1, kernel.shape[-1])
    size = positive.shape[1]

    def differentiate_chunk(
        sums: tuple[Array, Array], chunk: tuple[Array, ...]
    ) -> tuple[Any, Array]:
        x, positive, dy = chunk
        dz = jnp.where(positive, average_pool_transpose(dy, *x.shape[1:3]), 0).reshape(
            -1, matrix.shape[1]
        )
        dkernel, dbias = sums
        patches = extract_patches(x).reshape(len(dz), -1)
        sums = dkernel + multiply_in_precision(dz.T, patches, precision), dbias + dz.sum(0)
        columns = multiply_in_precision(dz, matrix.T, precision)
        return sums, fold_patches(columns.reshape(*x.shape[:3], 9, x.shape[3]))

    zeros = jnp.zeros_like(matrix.T), jnp.zeros_like(matrix[0])
    (dkernel, dbias), dx = lax.scan(
        differentiate_chunk,
        zeros,
        (split_into_chunks(x, size), positive, split_into_chunks(dy, size)),
    )
    return dx.reshape(-1, *x.shape[1:])[: len(x)], dkernel.T.reshape(kernel.shape), dbias


apply_im2col_layer.defvjp(im2col_forward, im2col_backward)


def multiply_in_precision(a: Array, b: Array, precision: str) -> Array:
    """Matrix product a @ b with factors of that precision, summed in float32."""
    return jnp.matmul(a.astype(precision), b.astype(precision), preferred_element_type=jnp.float32)


def split_into_chunks(x: Array, size: int) -> Array:
    """(B, …) to (chunks, size, …), filled up with zeros, whose gradients are zero too."""
    filled = jnp.pad(x, ((0, -len(x) % size),) + ((0, 0),) * (x.ndim - 1))
    return filled.reshape(-1, size, *x.shape[1:])


def extract_patches(x: Array) -> Array:
    """(B, H, W, I) to (B, H, W, 9·I): each pixel's neighbourhood, row by row, zeros outside."""
    height, width = x.shape[1:3]
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return jnp.concatenate([padded[:, i : i + height, j : j + width] for i, j in OFFSETS], -1)


def fold_patches(columns: Array) -> Array:
    """The transpose of `extract_patches`: (B, H, W, 9, I) to (B, H, W, I)."""
    zero = jnp.zeros((), columns.dtype)
    whole = (0, 0, 0)
    shifts = [(whole, (i - 1, 1 - i, 0), (j - 1, 1 - j, 0), whole) for i, j in OFFSETS]
    parts = [lax.pad(columns[:, :, :, n], zero, shift) for n, shift in enumerate(shifts)]
    return sum(parts[1:], parts[0])


def average_pool(x: Array) -> Array:
    """Mean of each 2×2 block: (B, H, W, C) to (B, H // 2, W // 2, C)."""
    batch, height, width, channels = x.shape
    even = x[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(batch, height // 2, 2, width // 2, 2, channels).mean((2, 4))


def average_pool_transpose(dy: Array, height: int, width: int) -> Array:
    """The transpose of `average_pool`: each of four gets a quarter of the gradient."""
    wide = jnp.repeat(jnp.repeat(dy * 0.25, 2, axis=1), 2, axis=2)
    missing = ((0, 0), (0, height - wide.shape[1]), (0, width - wide.shape[2]), (0, 0))
    return jnp.pad(wide, missing)
