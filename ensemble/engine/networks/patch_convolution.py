"""Convolutions as *patches times matrix* (im2col; Chellapilla, Puri and Simard 2006).

    P = patches(x)       (B, H', W', kh·kw·C): what each output sees of the image
    z = P @ kernel       (B, H', W', O)

With members mapped over it becomes one matrix product for all of them, where a stock convolution
becomes one in groups, which a GPU does slowly: `python -m benchmarks.speed.gpu` compares them.
What is kept for the gradients is kh·kw times as large as the images.
"""

import jax.numpy as jnp
from jax import Array, lax

from ensemble.engine.networks.stock_convolution import DIMENSION_NUMBERS, ConvolutionWindow

# A GPU's matrix units want so many factors to a sum, or a multiple, in bfloat16.
_FACTOR_MULTIPLE = 8


def convolve_by_patches(x: Array, kernel: Array, window: ConvolutionWindow) -> Array:
    """The convolution, in the precision of its arguments; of several groups as `lax` does it.

    Args:
      x: images (B, H, W, C).
      kernel: (kh, kw, C, O).
      window: how it moves.

    Returns:
      (B, H', W', O).
    """
    if window.groups > 1:
        return lax.conv_general_dilated(
            x,
            kernel,
            window.strides,
            window.padding,
            rhs_dilation=window.dilation,
            dimension_numbers=DIMENSION_NUMBERS,
            feature_group_count=window.groups,
            precision=window.precision,
        )
    patches = _extract_patches(x, (kernel.shape[0], kernel.shape[1]), window)
    matrix = kernel.reshape(-1, kernel.shape[-1])
    missing = -len(matrix) % _FACTOR_MULTIPLE
    if missing:
        matrix = jnp.pad(matrix, ((0, missing), (0, 0)))
        patches = jnp.pad(patches, ((0, 0), (0, 0), (0, 0), (0, missing)))
    return jnp.matmul(patches, matrix, precision=window.precision)


def _extract_patches(x: Array, size: tuple[int, int], window: ConvolutionWindow) -> Array:
    """(B, H, W, C) to (B, H', W', kh·kw·C): what each output sees, row by row."""
    around = [(low, high, 0) for low, high in window.padding]
    x = lax.pad(x, jnp.zeros((), x.dtype), ((0, 0, 0), *around, (0, 0, 0)))
    for axis in (2, 1):  # Columns, then rows of columns: a row's first place comes first.
        reach = (size[axis - 1] - 1) * window.dilation[axis - 1] + 1
        last, stride = x.shape[axis] - reach, window.strides[axis - 1]
        begins = [n * window.dilation[axis - 1] for n in range(size[axis - 1])]
        parts = [lax.slice_in_dim(x, at, at + last + 1, stride, axis) for at in begins]
        x = jnp.concatenate(parts, -1)
    return x
