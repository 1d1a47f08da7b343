"""The tower: twice convolution 3×3 + bias + relu + 2×2 average pooling, in three forms.

`apply_lax_layer` is `lax.conv` as Flax's stock layers use it: right everywhere. Inside a compiled
loop XLA's CPU backend falls back to a naive, far slower convolution; for CPUs there is
`apply_layers_by_windows`, the method of cpu_windows.py: a batch goes through both layers in chunks
of a few images, so that what one layer leaves for the next is still in the caches. For a GPU there
is `apply_im2col_layer`, the method of patch_convolution.py.

Nothing outside this file knows which of them runs.
"""

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import Array, lax

from ensemble.engine.networks.cpu_products import choose_product_method
from ensemble.engine.networks.cpu_windows import WindowGrid, conv_relu_pool, lay_out_taps
from ensemble.engine.networks.patch_convolution import convolve_by_patches
from ensemble.engine.networks.stock_convolution import ConvolutionWindow

# Images that go through both layers together. Winograd's method keeps four times as much at hand
# as the images are large.
_WINDOW_CHUNK_SIZES = {"float32": 8, "bfloat16": 32, "bfloat16_winograd": 8, "rounded": 8}

_Layer = tuple[Array, Array]


def apply_conv_tower(x: Array, layers: Sequence[_Layer], form: str, precision: str) -> Array:
    """average_pool(relu(conv(x, kernel) + bias)) for one layer after the other.

    Convolutions have 'SAME' padding, pooling has window and stride 2; an odd last row or column
    is dropped, as `nn.avg_pool` does.

    Args:
      x: images (B, H, W, I), float32.
      layers: kernel (3, 3, I, O), as `flax.linen.Conv` keeps it, and bias (O,), of each layer.
      form: one of `EXECUTIONS` in member_programs.py, or "" for what suits the platform.
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


def apply_layers_in_turn(operator: Callable[..., Array], x: Array, layers: Sequence[_Layer], precision: str) -> Array:
    for kernel, bias in layers:
        x = operator(x, kernel, bias, precision)
    return x


def apply_layers_by_windows(x: Array, layers: Sequence[_Layer], precision: str) -> Array:
    count = -(-len(x) // _WINDOW_CHUNK_SIZES[precision])
    chunked = _split_into_chunks(x, -(-len(x) // count))
    count, batch, height, width, _ = chunked.shape
    grid = WindowGrid(height, width, len(layers), batch)
    (rows, columns), features = grid.image_size(0), len(layers[-1][1])
    if not rows * columns:
        return jnp.zeros((len(x), rows, columns, features))

    methods = [choose_product_method(kernel.shape[2], precision) for kernel, _ in layers]
    with jax.named_scope("weights"):
        weights = [method.weights(kernel) for method, (kernel, _) in zip(methods, layers, strict=True)]

    def apply_chunk(x: Array) -> Array:
        for n, (_, bias) in enumerate(layers):
            with jax.named_scope(f"convolution_{n}"):
                x = conv_relu_pool(x, weights[n], bias=bias, grid=grid, level=len(layers) - 1 - n, method=methods[n])
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


def apply_im2col_layer(x: Array, kernel: Array, bias: Array, precision: str = "float32") -> Array:
    """The same with the convolution as patches times matrix (patch_convolution.py)."""
    window = ConvolutionWindow((1, 1), ((1, 1), (1, 1)), (1, 1), 1, None)
    z = convolve_by_patches(x.astype(precision), kernel.astype(precision), window)
    return average_pool(jax.nn.relu(z.astype(bias.dtype) + bias))


def _split_into_chunks(x: Array, size: int) -> Array:
    """(B, …) to (chunks, size, …), filled up with zeros, whose gradients are zero too."""
    filled = jnp.pad(x, ((0, -len(x) % size),) + ((0, 0),) * (x.ndim - 1))
    return filled.reshape(-1, size, *x.shape[1:])


def average_pool(x: Array) -> Array:
    """Mean of each 2×2 block: (B, H, W, C) to (B, H // 2, W // 2, C)."""
    batch, height, width, channels = x.shape
    even = x[:, : height // 2 * 2, : width // 2 * 2]
    return even.reshape(batch, height // 2, 2, width // 2, 2, channels).mean((2, 4))
