"""Stock convolutions inside a compiled loop on a CPU, as fast as outside it.

XLA's CPU backend gives a convolution to its fast library only where the axes stand in one order,
images (B, H, W, C) and kernel (kh, kw, I, O). The pass that brings others into it
(ConvCanonicalization, XLA of JAX 0.10) looks at what lies outside loops only. What `nn.Conv` does
forward is in that order already, but its two gradients, as JAX derives them, are not: in a loop
they fell to a naive kernel, 20 to 30 times slower. Here they are written in the order itself:

    dx       dy, with zeros between where there are strides, convolved with the kernel turned by
             half a circle, inputs for outputs
    dkernel  x as images (I, H, W, B), convolved with dy as a kernel (H', W', B, O)

The sums are the same, in the same order as outside a loop: see `python -m
benchmarks.training.layouts`. In groups (depthwise convolutions among them) dkernel is one product
for each of the kernel's places instead. What is not of images in two dimensions stays as it is.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import Array, lax

Pair = tuple[int, int]
DIMENSION_NUMBERS = ("NHWC", "HWIO", "NHWC")


class ConvolutionWindow(NamedTuple):
    """How a kernel moves over images, by axis: height, width.

    Attributes:
      strides: pixels from one output to the next.
      padding: zeros before and after.
      dilation: pixels from one of the kernel's places to the next.
      groups: the channels fall into so many, each with outputs of its own.
      precision: as `lax.conv_general_dilated` takes it.
    """

    strides: Pair
    padding: tuple[Pair, Pair]
    dilation: Pair
    groups: int
    precision: Any


_WindowConvolution = Callable[[Array, Array, ConvolutionWindow], Array]


def use_fast_convolutions() -> contextlib.AbstractContextManager[None]:
    """In here, what is traced of `nn.Conv` is as fast in a compiled loop on a CPU as outside."""
    return use_convolution(_convolve_window)


@contextlib.contextmanager
def use_convolution(convolve_window: _WindowConvolution) -> Iterator[None]:
    """In here, what is traced of `nn.Conv` on images is done by another function."""
    convolve = functools.partial(_convolve_images, convolve_window)

    def replace_convolution(call: Callable[..., Any], args: Any, kwargs: Any, context: Any) -> Any:
        layer = context.module
        stock = isinstance(layer, nn.Conv) and context.method_name == "__call__"
        if not stock or layer.conv_general_dilated or layer.conv_general_dilated_cls:
            return call(*args, **kwargs)
        # Flax's modules are frozen; this one is as it was when the call is over.
        object.__setattr__(layer, "conv_general_dilated", convolve)
        try:
            return call(*args, **kwargs)
        finally:
            object.__setattr__(layer, "conv_general_dilated", None)

    with nn.intercept_methods(replace_convolution):
        yield


def _convolve_images(
    convolve_window: _WindowConvolution,
    x: Array,
    kernel: Array,
    strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = DIMENSION_NUMBERS,
    feature_group_count: int = 1,
    **options: Any,
) -> Array:
    """`lax.conv_general_dilated`, of images in two dimensions by another function.

    Args:
      convolve_window: does it where all is as it does it.
      x: images (B, H, W, C).
      kernel: (kh, kw, C / groups, O).
      strides: by axis, as all that follows: see `ConvolutionWindow`.
      padding: "SAME", "VALID" or pairs.
      lhs_dilation: other than 1, nothing is changed.
      rhs_dilation: the kernel's.
      dimension_numbers: other than `DIMENSION_NUMBERS`, nothing is changed.
      feature_group_count: groups.
      options: "precision"; with others, nothing is changed.

    Returns:
      (B, H', W', O).
    """
    numbers = lax.conv_dimension_numbers(x.shape, kernel.shape, dimension_numbers)
    usual = x.ndim == 4 and numbers == lax.conv_dimension_numbers(x.shape, kernel.shape, DIMENSION_NUMBERS)
    if not usual or set(lhs_dilation or ()) - {1} or set(options) - {"precision"} or not x.size:
        return lax.conv_general_dilated(
            x, kernel, strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, **options
        )
    dilation, across = rhs_dilation or (1, 1), (strides[0], strides[1])
    if isinstance(padding, str):
        reach = [(n - 1) * d + 1 for n, d in zip(kernel.shape, dilation, strict=False)]
        padding = lax.padtype_to_pads(x.shape[1:3], reach, strides, padding)
    padding = tuple((int(low), int(high)) for low, high in padding)
    window = ConvolutionWindow(
        across, padding, (dilation[0], dilation[1]), feature_group_count, options.get("precision")
    )
    return convolve_window(x, kernel, window)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _convolve_window(x: Array, kernel: Array, window: ConvolutionWindow) -> Array:
    return lax.conv_general_dilated(
        x,
        kernel,
        window.strides,
        window.padding,
        None,
        window.dilation,
        DIMENSION_NUMBERS,
        window.groups,
        precision=window.precision,
    )


def _convolve_window_forward(x: Array, kernel: Array, window: ConvolutionWindow) -> tuple[Array, tuple[Array, Array]]:
    return _convolve_window(x, kernel, window), (x, kernel)


def _convolve_window_backward(
    window: ConvolutionWindow, residuals: tuple[Array, Array], dy: Array
) -> tuple[Array, Array]:
    x, kernel = residuals
    of_kernel = _compute_grouped_kernel_gradients if window.groups > 1 else _compute_kernel_gradients
    return _compute_image_gradients(x, kernel, dy, window), of_kernel(x, kernel, dy, window)


_convolve_window.defvjp(_convolve_window_forward, _convolve_window_backward)


def _compute_image_gradients(x: Array, kernel: Array, dy: Array, window: ConvolutionWindow) -> Array:
    """Gradients (B, H, W, C) of images: what each output's gives back to the pixels it saw."""
    padding = []
    for axis, (low, _) in enumerate(window.padding):
        size, outputs = x.shape[1 + axis], dy.shape[1 + axis]
        reach = (kernel.shape[axis] - 1) * window.dilation[axis]
        span = (outputs - 1) * window.strides[axis] + 1
        padding.append((reach - low, size + low - span))
    height, width, inputs, outputs = kernel.shape
    turned = kernel[::-1, ::-1].reshape(height, width, inputs, window.groups, -1)
    turned = turned.transpose(0, 1, 4, 3, 2).reshape(height, width, -1, window.groups * inputs)
    return lax.conv_general_dilated(
        dy,
        turned,
        (1, 1),
        padding,
        window.strides,
        window.dilation,
        DIMENSION_NUMBERS,
        window.groups,
        precision=window.precision,
    )


def _compute_kernel_gradients(x: Array, kernel: Array, dy: Array, window: ConvolutionWindow) -> Array:
    """Gradients (kh, kw, C, O) of a kernel, as one convolution; of one group."""
    padding = []
    for axis, (low, _) in enumerate(window.padding):
        size, outputs = x.shape[1 + axis], dy.shape[1 + axis]
        reach = (kernel.shape[axis] - 1) * window.dilation[axis]
        high = reach + (outputs - 1) * window.strides[axis] + 1 - size - low
        # A stride may leave the last pixels unseen.
        x = lax.slice_in_dim(x, 0, size + min(high, 0), axis=1 + axis)
        padding.append((low, max(high, 0)))
    gradients = lax.conv_general_dilated(
        x.transpose(3, 1, 2, 0),
        dy.transpose(1, 2, 0, 3),
        window.dilation,
        padding,
        None,
        window.strides,
        DIMENSION_NUMBERS,
        precision=window.precision,
    )
    return gradients.transpose(1, 2, 0, 3)


def _compute_grouped_kernel_gradients(x: Array, kernel: Array, dy: Array, window: ConvolutionWindow) -> Array:
    """Gradients (kh, kw, C / groups, O) of a kernel, by one product for each of its places."""
    zero = jnp.zeros((), x.dtype)
    around = [(low, high, 0) for low, high in window.padding]
    x = lax.pad(x, zero, ((0, 0, 0), *around, (0, 0, 0)))
    x = x.reshape(*x.shape[:3], window.groups, -1)
    dy = dy.reshape(*dy.shape[:3], window.groups, -1)
    gradients = []
    for place in [(i, j) for i in range(kernel.shape[0]) for j in range(kernel.shape[1])]:
        begins = [n * d for n, d in zip(place, window.dilation, strict=True)]
        rows, columns = (
            slice(begin, begin + (outputs - 1) * stride + 1, stride)
            for begin, outputs, stride in zip(begins, dy.shape[1:3], window.strides, strict=True)
        )
        inputs = x[:, rows, columns]
        gradients.append(jnp.einsum("bhwgi,bhwgo->igo", inputs, dy, precision=window.precision))
    return jnp.stack(gradients).reshape(kernel.shape)
