"""The products of a convolution with its windows: by Winograd's algorithm, directly, or as sums.

All three take a window's sixteen taps (windows.py) to its four spots, and gradients back:

    z[p, q] = Σ_{i, j} kᵀ[i, j] · tap[p + i, q + j]          (O, N) from (C, N), i, j = 0, 1, 2

`directly`: all at once, Z = K · T with T the taps one under the other (16·C, N) and K a matrix
(4·O, 16·C) that holds each weight four times and zeros between. 16/9 of the multiplications, in
one large product: what matrix units (AMX) like, and bfloat16 is rounded only once.

`winograd`: F(2×2, 3×3) (Winograd 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural
Networks", CVPR 2016). In one dimension, two outputs of a filter of three weights over four inputs
take four multiplications, not six:

    V = B·t = (t0 − t2, t1 + t2, t2 − t1, t1 − t3)        U = G·k = (k0, (k0 + k1 + k2)/2,
    z = A·(U ∘ V) = (m0 + m1 + m2, m1 − m2 − m3)                     (k0 − k1 + k2)/2, k2)

In two dimensions along rows, then along columns: sixteen products of (O, C) with (C, N) in place
of thirty-six. Sums and differences of neighbours do the rest, and the backward pass is the same
with every matrix transposed. Rounding is a few units in the last place of float32; in bfloat16 the
differences would lose digits, so there it is not used.

`as_sums`: one channel makes no product worth the name; nine multiplications and additions.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

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
WHERE = np.array(
    [
        [[(p + i, q + j) == tap for i in range(3) for j in range(3)] for tap in TAPS]
        for p, q in SPOTS
    ],
    np.float32,
)

Forward = Callable[[list[Array], Array], list[Array]]
Backward = Callable[[list[Array], Array, list[Array]], tuple[list[Array], Array, Array]]


def products_for(channels: int, precision: str) -> tuple[Forward, Backward]:
    """(forward, backward) for so many input channels.

    forward(taps, kernel): 16 of (C, N) and (3, 3, C, O) to 4 of (O, N).
    backward(taps, kernel, dz): to the gradients of the taps, of the kernel, and Σ dz (O,).
    """
    factors = jnp.dtype(precision)

    def backward(taps: list[Array], kernel: Array, dz: list[Array]) -> Any:
        return directly_backward(taps, kernel, dz, factors)

    if channels == 1:
        return as_sums, backward
    if factors == jnp.float32:
        return winograd, winograd_backward
    return lambda taps, kernel: directly(taps, kernel, factors), backward


def winograd(taps: list[Array], kernel: Array) -> list[Array]:
    """The spots, by sixteen small products."""
    u = jnp.einsum("ai,bj,ijco->aboc", G, G, kernel).reshape(16, *kernel.shape[:1:-1])
    m = settled([product(u[n], v) for n, v in enumerate(settled(combined(B2, taps)))])
    return combined(A2, m)


def winograd_backward(
    taps: list[Array], kernel: Array, dz: list[Array]
) -> tuple[list[Array], Array, Array]:
    """The transpose of `winograd`, factor by factor."""
    v, dm = settled(combined(B2, taps)), settled(combined(A2.T, dz))
    du = jnp.stack([product_nt(d, one) for d, one in zip(dm, v, strict=True)])
    dkernel = jnp.einsum("ai,bj,aboc->ijco", G, G, du.reshape(4, 4, *kernel.shape[:1:-1]))
    u = jnp.einsum("ai,bj,ijco->abco", G, G, kernel).reshape(16, *kernel.shape[2:])
    dv = settled([product(u[n], d) for n, d in enumerate(dm)])
    # The middle one of dm is the sum of all four dz.
    return combined(B2.T, dv), dkernel, dm[5].sum(1)


def directly(taps: list[Array], kernel: Array, factors: Any) -> list[Array]:
    """The spots, by one large product."""
    channels, features = kernel.shape[2:]
    k = jnp.einsum("atw,wco->aotc", WHERE, kernel.reshape(9, channels, features))
    k = settled(k.reshape(4 * features, 16 * channels).astype(factors))
    z = settled(product(k, stacked(taps, factors)))
    return [z[n * features : (n + 1) * features] for n in range(4)]


def directly_backward(
    taps: list[Array], kernel: Array, dz: list[Array], factors: Any
) -> tuple[list[Array], Array, Array]:
    """The transpose of `directly`, and of `as_sums`."""
    channels, features = kernel.shape[2:]
    dzs = stacked(dz, factors)
    dk = product_nt(dzs, stacked(taps, factors)).reshape(4, features, 16, channels)
    dkernel = jnp.einsum("atw,aotc->wco", WHERE, dk).reshape(kernel.shape)
    # Built anew, not transposed: XLA's products with a transposed left factor are the slow ones.
    k = jnp.einsum("atw,wco->tcao", WHERE, kernel.reshape(9, channels, features))
    k = settled(k.reshape(16 * channels, 4 * features).astype(factors))
    dtaps = settled(product(k, dzs)).reshape(16, channels, -1)
    return [dtaps[n] for n in range(16)], dkernel, sum(dz[1:], dz[0]).sum(1)


def as_sums(taps: list[Array], kernel: Array) -> list[Array]:
    """The spots of images of one channel; (O, N) from taps (1, N)."""
    weights = kernel.reshape(9, -1, 1)
    spots = []
    for p, q in SPOTS:
        terms = [weights[n] * taps[TAPS.index((p + n // 3, q + n % 3))] for n in range(9)]
        spots.append(sum(terms[1:], terms[0]))
    return spots


def combined(weights: np.ndarray, arrays: Sequence[Array]) -> list[Array]:
    """Sums and differences: for each row of weights in {-1, 0, 1}, Σ weight · array."""
    found = []
    for row in weights:
        (first, sign), *more = [(array, w) for array, w in zip(arrays, row, strict=True) if w]
        total = first if sign > 0 else -first
        for array, w in more:
            total = total + array if w > 0 else total - array
        found.append(total)
    return found


def stacked(arrays: list[Array], factors: Any) -> Array:
    """One under the other, as factors of a product."""
    return settled(jnp.concatenate([array.astype(factors) for array in arrays]))


def product(a: Array, b: Array) -> Array:
    """Matrix product a · b, summed in float32."""
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)


def product_nt(a: Array, b: Array) -> Array:
    """Matrix product a · bᵀ, summed in float32."""
    return lax.dot_general(a, b, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)


def dense_product(precision: str) -> Callable[..., Array] | None:
    """`dot_general` for `nn.Dense`: None for the usual one, or one that rounds its factors."""
    if precision == "float32":
        return None

    def dot_general(x: Array, weights: Array, dimensions: Any, **options: Any) -> Array:
        return rounded_product(x, weights, precision)

    return dot_general


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def rounded_product(x: Array, weights: Array, precision: str) -> Array:
    """Product of x (B, I) and weights (I, O), factors rounded, in the derivative as well."""
    return product(x.astype(precision), weights.astype(precision))


def _rounded_forward(x: Array, weights: Array, precision: str) -> tuple[Array, Any]:
    x, weights = settled((x.astype(precision), weights.astype(precision)))
    return product(x, weights), (x, weights)


def _rounded_backward(precision: str, residuals: Any, dy: Array) -> tuple[Array, Array]:
    x, weights = residuals
    dy = settled(dy.astype(precision))
    return product_nt(dy, weights), product(settled(x.T), dy)


rounded_product.defvjp(_rounded_forward, _rounded_backward)


def settled(arrays: Any) -> Any:
    """The same, computed once and kept in memory before anything goes on.

    Left to itself XLA would do the sums again inside every loop that reads them. A worker has to
    be told to leave these barriers standing (runs/environment.py); without that it is right, and
    slower.
    """
    return lax.optimization_barrier(arrays)
