"""How far an image's points move when it is slanted and bent: drawn again for every image."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike

_SMOOTHING_SIGMA = 1 / 7  # σ of the bending, as a share of the image's side: Simard's 4 pixels of 28
_KNOT_REACH = 3  # of a knot, in σ


def sample_warp(
    key: Array, count: int, shape: Sequence[int], slant_degrees: ArrayLike, elastic_pixels: ArrayLike
) -> tuple[Array, Array]:
    """A slant and a smooth random displacement for each image.

    The displacement is a Gaussian random field, after P. Y. Simard, D. Steinkraus and J. C. Platt,
    "Best practices for convolutional neural networks applied to visual document analysis", ICDAR
    2003: there white noise smoothed by a Gaussian of σ = 4 pixels, here normal draws on knots σ
    apart, which spares most of the noise. How much an image is bent is drawn too, uniformly.

    Args:
      key: of the batch.
      count: B, images.
      shape: (H, W).
      slant_degrees: largest slant to either side.
      elastic_pixels: largest root mean square of the displacement along each axis, in pixels.

    Returns:
      How many columns a row further down lies to the side, (B,), and displacements in pixels along
      rows and columns, (B, 2, H, W).
    """
    leans, amounts, knots = jax.random.split(key, 3)
    angle = jnp.deg2rad(slant_degrees) * jax.random.uniform(leans, (count,), minval=-1.0)
    amount = jnp.asarray(elastic_pixels) * jax.random.uniform(amounts, (count,))
    down, across = (_compute_knot_weights(side) for side in shape)
    drawn = jax.random.normal(knots, (down.shape[1], count, 2, across.shape[1]))
    # Two products of matrices for the whole batch; not one for each image, and no draw of it
    # computed again for each of its sums.
    bent = jnp.tensordot(down, lax.optimization_barrier(drawn), 1, precision="highest")
    field = jnp.tensordot(bent, across.T, 1, precision="highest").transpose(1, 2, 0, 3)
    return jnp.tan(angle), amount[:, None, None, None] * field


def _compute_knot_weights(side: int) -> np.ndarray:
    """Weights of every knot (knots, columns) at every pixel (rows); squares sum to 1 in a row."""
    sigma = _SMOOTHING_SIGMA * side
    knots = np.arange(-_KNOT_REACH * sigma, side - 1 + (_KNOT_REACH + 1) * sigma, sigma)
    weights = np.exp(-((np.arange(side)[:, None] - knots) ** 2) / (2 * sigma**2))
    return (weights / np.sqrt((weights**2).sum(1, keepdims=True))).astype(np.float32)
