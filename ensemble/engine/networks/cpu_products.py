"""The products of a convolution with its windows: by Winograd's algorithm, or directly.

Both take a window's sixteen taps (cpu_windows.py) to its four spots, and gradients back:

    z[p, q] = Σ_{i, j} kᵀ[i, j] · tap[p + i, q + j]          (O, N) from (C, N), i, j = 0, 1, 2

N stands for three axes: planes, rows, and places of a row with their images.

`_direct_forward`: all at once, Z = K · T with T the taps one under the other (16·C, N) and K a
matrix (4·O, 16·C) that holds each weight four times and zeros between. 16/9 of the multiplications,
in one large product: what matrix units (AMX) like, and bfloat16 is rounded only once. Images of one
channel, too, are multiplied so: they leave nothing to save.

`_winograd_forward`: F(2×2, 3×3) (Winograd 1980; Lavin and Gray, "Fast Algorithms for Convolutional
Neural Networks", CVPR 2016). In one dimension, two outputs of a filter of three weights over four
inputs take four multiplications, not six:

    V = B·t = (t0 − t2, t1 + t2, t2 − t1, t1 − t3)        U = G·k = (k0, (k0 + k1 + k2)/2,
    z = A·(U ∘ V) = (m0 + m1 + m2, m1 − m2 − m3)                     (k0 − k1 + k2)/2, k2)

In two dimensions along rows, then along columns: sixteen products of (O, C) with (C, N) in place
of thirty-six. Sums and differences of neighbours do the rest, and the backward pass is the same
with every matrix transposed. Rounding is a few units in the last place of float32.

In bfloat16 there are three ways, of which forms/bfloat16_planning.py measures the fastest.
"bfloat16" is `_direct_forward`, each factor rounded once: fastest on matrix units (AMX).
"bfloat16_winograd" is `_winograd_forward` with transforms in float32, where only the factors of the
sixteen products are rounded: sums of up to four taps, so that a layer's result is less exact than
`_direct_forward`'s, by less than a factor of four; for units without matrices (AVX512-BF16). In
"rounded" taps, weights and gradients are rounded to bfloat16 and then taken through
`_winograd_forward` in float32, whose own rounding is far below bfloat16's: what a layer gives is
what `_direct_forward` gives, but for float32's last places; where nothing multiplies bfloat16, or
not quickly.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

TAPS = [(u, v) for u in range(4) for v in range(4)]
SPOTS = [(p, q) for p in range(2) for q in range(2)]

G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32)
B = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
A = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])
# In two dimensions, a row of weights in {-1, 0, 1} for each output: (16, 16) and (4, 16).
B2, A2 = np.kron(B, B), np.kron(A, A)
# Which weight stands between a spot and a tap: (4, 16, 9) of zeros and ones.
_WEIGHT_PLACEMENT = np.array(
    [[[(p + i, q + j) == tap for i in range(3) for j in range(3)] for tap in TAPS] for p, q in SPOTS], np.float32
)

Weights = tuple[Any, Any]
_FactorFunction = Callable[[Array], Array]
_ForwardFunction = Callable[[list[Array], Array], list[Array]]
_BackwardFunction = Callable[[list[Array], Any, list[Array]], tuple[list[Array], Array]]


class ProductMethod(NamedTuple):
    """How a layer multiplies.

    Attributes:
      weights: of a kernel (3, 3, C, O), what `forward` takes of it, and what `backward` does:
        the same again, transposed, and with no gradient of its own. Made once, for many windows.
      forward: 16 taps (C, N) and its weights to 4 spots (O, N).
      backward: taps, its weights and the gradients of the spots to those of the taps and of
        `forward`'s weights.
    """

    weights: Callable[[Array], Weights]
    forward: _ForwardFunction
    backward: _BackwardFunction


@functools.cache
def choose_product_method(channels: int, precision: str) -> ProductMethod:
    """How to multiply with so many input channels, in a precision of `_FACTOR_ROUNDING`."""
    factor = _FACTOR_ROUNDING[precision]
    if channels > 1 and precision != "bfloat16":
        # What is rounded before the transforms, and what in the products after them.
        early, late = (_leave_unrounded, factor) if precision == "bfloat16_winograd" else (factor, _leave_unrounded)
        return ProductMethod(
            functools.partial(_transform_winograd_kernel, early=early, late=late),
            functools.partial(_winograd_forward, early=early, late=late),
            functools.partial(_winograd_backward, early=early, late=late),
        )
    return ProductMethod(
        _expand_direct_kernel,
        functools.partial(_direct_forward, factor=factor if channels > 1 else _FACTOR_ROUNDING["float32"]),
        functools.partial(_direct_backward, factor=factor, by_spot=channels == 1),
    )


@jax.custom_jvp
def _round_to_bfloat16(x: Array) -> Array:
    """To the nearest number that bfloat16 has, in float32; its derivative is not rounded."""
    return lax.reduce_precision(x, exponent_bits=8, mantissa_bits=7)


_round_to_bfloat16.defjvps(lambda tangent, value, x: tangent)


def _leave_unrounded(x: Array) -> Array:
    return x


# What is done to a factor before it is multiplied.
_FACTOR_ROUNDING: dict[str, _FactorFunction] = {
    "float32": _leave_unrounded,
    "bfloat16": lambda x: x.astype(jnp.bfloat16),
    "bfloat16_winograd": lambda x: x.astype(jnp.bfloat16),
    "rounded": _round_to_bfloat16,
}


def _transform_winograd_kernel(kernel: Array, early: _FactorFunction, late: _FactorFunction) -> Weights:
    """U of a kernel: (16, O, C), and 16 of (C, O), which are factors already."""
    u = jnp.einsum("ai,bj,ijco->aboc", G, G, early(kernel)).reshape(16, *kernel.shape[:1:-1])
    return u, materialize_arrays([late(lax.stop_gradient(matrix).T) for matrix in u])


def _winograd_forward(taps: list[Array], u: Array, early: _FactorFunction, late: _FactorFunction) -> list[Array]:
    v = materialize_arrays([late(matrix) for matrix in combine_signed(B2, [early(tap) for tap in taps])])
    m = materialize_arrays([multiply_matrices(late(u[n]), matrix) for n, matrix in enumerate(v)])
    return combine_signed(A2, m)


def _winograd_backward(
    taps: list[Array], u: list[Array], dz: list[Array], early: _FactorFunction, late: _FactorFunction
) -> tuple[list[Array], Array]:
    """The transpose of `_winograd_forward`, matrix by matrix."""
    v = materialize_arrays([late(matrix) for matrix in combine_signed(B2, [early(tap) for tap in taps])])
    dm = materialize_arrays([late(matrix) for matrix in combine_signed(A2.T, [early(spot) for spot in dz])])
    du = materialize_arrays(jnp.stack([multiply_transposed(d, matrix) for d, matrix in zip(dm, v, strict=True)]))
    dv = materialize_arrays([multiply_matrices(matrix, d) for matrix, d in zip(u, dm, strict=True)])
    return combine_signed(B2.T, dv), du


def _expand_direct_kernel(kernel: Array) -> Weights:
    """K of a kernel, each weight four times and zeros between: (4 · O, 16 · C), and transposed."""
    channels, features = kernel.shape[2:]
    flat = kernel.reshape(9, channels, features)
    k = jnp.einsum("atw,wco->aotc", _WEIGHT_PLACEMENT, flat).reshape(4 * features, 16 * channels)
    # Built again: XLA's products with a transposed left factor are the slow ones.
    back = jnp.einsum("atw,wco->tcao", _WEIGHT_PLACEMENT, lax.stop_gradient(flat))
    return k, materialize_arrays(back.reshape(16 * channels, 4 * features))


def _direct_forward(taps: list[Array], k: Array, factor: _FactorFunction) -> list[Array]:
    z = materialize_arrays(multiply_matrices(factor(k), _stack_factors(taps, factor)))
    return jnp.split(z, len(SPOTS))


def _direct_backward(
    taps: list[Array], k: Array, dz: list[Array], factor: _FactorFunction, by_spot: bool
) -> tuple[list[Array], Array]:
    """The transpose of `_direct_forward`; dK in one product, or, `by_spot`, in four.

    Images of one channel are mostly the first, and only adversarial training asks for their
    gradients. Without those, four products save the copy that puts the dz one under the other.
    """
    dz = materialize_arrays(dz) if by_spot else dz
    factors, dzs = _stack_factors(taps, factor), _stack_factors(dz, factor)
    dtaps = materialize_arrays(multiply_matrices(factor(k), dzs))
    spots = [factor(spot) for spot in dz] if by_spot else [dzs]
    dk = materialize_arrays(jnp.concatenate([multiply_transposed(spot, factors) for spot in spots]))
    return jnp.split(dtaps, len(TAPS)), dk


def combine_signed(weights: np.ndarray, arrays: Sequence[Array]) -> list[Array]:
    """Sums and differences: for each row of weights in {-1, 0, 1}, Σ weight · array."""
    sums = []
    for row in weights:
        (first, sign), *more = [(array, w) for array, w in zip(arrays, row, strict=True) if w]
        total = first if sign > 0 else -first
        for array, w in more:
            total = total + array if w > 0 else total - array
        sums.append(total)
    return sums


def _stack_factors(arrays: list[Array], factor: _FactorFunction) -> Array:
    return materialize_arrays(jnp.concatenate([factor(array) for array in arrays]))


def multiply_matrices(a: Array, b: Array) -> Array:
    """Matrix product a · b of (O, C) and (C, …), summed in float32."""
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)


def multiply_transposed(a: Array, b: Array) -> Array:
    """Matrix product a · bᵀ over all axes but the first, summed in float32."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    return lax.dot_general(a, b, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)


def build_dense_product(precision: str) -> Callable[..., Array] | None:
    """`dot_general` for `nn.Dense`: None for the usual one, or one that rounds its factors."""
    if precision == "float32":
        return None

    def dot_general(x: Array, weights: Array, dimensions: Any, **options: Any) -> Array:
        return _multiply_rounded(x, weights, precision)

    return dot_general


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _multiply_rounded(x: Array, weights: Array, precision: str) -> Array:
    """Product of x (B, I) and weights (I, O), factors rounded, in the derivative as well."""
    factor = _FACTOR_ROUNDING[precision]
    return multiply_matrices(factor(x), factor(weights))


def _rounded_forward(x: Array, weights: Array, precision: str) -> tuple[Array, Any]:
    factor = _FACTOR_ROUNDING[precision]
    x, weights = materialize_arrays((factor(x), factor(weights)))
    return multiply_matrices(x, weights), (x, weights)


def _rounded_backward(precision: str, residuals: Any, dy: Array) -> tuple[Array, Array]:
    x, weights = residuals
    dy = materialize_arrays(_FACTOR_ROUNDING[precision](dy))
    return multiply_transposed(dy, weights), multiply_matrices(materialize_arrays(x.T), dy)


_multiply_rounded.defvjp(_rounded_forward, _rounded_backward)


def materialize_arrays(arrays: Any) -> Any:
    """The same arrays behind a barrier: computed once and written to memory before they are used.

    Without it XLA fuses them into every loop that reads them, and computes each sum and each copy
    again there. It drops such barriers unless machine/jax_settings.py tells it not to; the numbers
    are the same then, only later.
    """
    return lax.optimization_barrier(arrays)
