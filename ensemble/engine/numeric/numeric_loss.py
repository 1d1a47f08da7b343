"""The loss of a network that predicts a normal distribution for each row."""

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

_HALF_LOG_TAU = 0.5 * jnp.log(2 * jnp.pi).item()


def compute_gaussian_nll(mean: Array, variance: Array, targets: Array) -> Array:
    """(B,) the negative log-density of targets, in nats: ½ (y − μ)²/σ² + ½ ln σ² + ½ ln 2π.

    Args:
      mean: (B,).
      variance: (B,), positive.
      targets: (B,).
    """
    return 0.5 * (targets - mean) ** 2 / variance + 0.5 * jnp.log(variance) + _HALF_LOG_TAU


def compute_beta_nll(mean: Array, variance: Array, targets: Array, beta: ArrayLike) -> Array:
    """(B,) the negative log-density, each weighed by its own variance to the power of beta.

    The weight is a number to the gradient. With beta 0 it is 1, and this the plain one; with beta
    1 the gradient of the mean is that of the squared error. The plain one learns little where the
    variance is large, and may never find out that the mean could be better there.

    Args:
      mean: (B,).
      variance: (B,), positive.
      targets: (B,).
      beta: in [0, 1]; data, so that another one compiles nothing.

    Source: M. Seitzer, A. Tavakoli, D. Antic and G. Martius, "On the pitfalls of heteroscedastic
    uncertainty estimation with probabilistic neural networks", ICLR 2022, equation 7.
    """
    weight = jax.lax.stop_gradient(variance) ** beta
    return weight * compute_gaussian_nll(mean, variance, targets)
