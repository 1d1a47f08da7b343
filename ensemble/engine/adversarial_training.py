"""Adversarial training: a batch counts as it is and moved a small step to where its loss is higher.

    x' = x + s · sign(∂ loss(x, y) / ∂x)        learned from: (loss(x, y) + loss(x', y)) / 2

The step s is a share of each input's range (fast gradient sign method). x' is data to the second
loss: nothing is differentiated through the sign. The paper minimizes the sum; the mean has half of
its gradient, so that a learning rate means the same with and without adversarial examples.

Source: B. Lakshminarayanan, A. Pritzel and C. Blundell, "Simple and scalable predictive uncertainty
estimation using deep ensembles", NeurIPS 2017, algorithm 1; the step from I. Goodfellow, J. Shlens
and C. Szegedy, "Explaining and harnessing adversarial examples", ICLR 2015.
"""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from ensemble.engine.networks.network import Params

Extras = TypeVar("Extras")
UNIT_RANGE = (0.0, 1.0)  # of an image's pixels


def differentiate_loss(
    compute_loss: Callable[[Params, Array], tuple[Array, Extras]],
    trained: Params,
    inputs: Array,
    step: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
) -> tuple[Extras, Params]:
    """Compute what the loss of the inputs reports, and the gradient that the optimizer is given.

    Args:
      compute_loss: the mean loss of a batch, and what else it reports, from parameters and inputs.
      trained: what the optimizer moves.
      inputs: (B, …), float.
      step: s, in the inputs' unit, broadcast to their shape; None without adversarial examples.
      limits: lowest and highest value that an adversarial input can have; None for no limits.

    Returns:
      What `compute_loss` reports of the inputs as they are, and the gradient by the parameters.
    """
    if step is None:
        (_, extras), grads = jax.value_and_grad(compute_loss, has_aux=True)(trained, inputs)
        return extras, grads
    differentiate = jax.value_and_grad(compute_loss, argnums=(0, 1), has_aux=True)
    (_, extras), (grads, slopes) = differentiate(trained, inputs)
    with jax.named_scope("adversarial"):
        moved = inputs + step * jnp.sign(slopes)
        moved = moved if limits is None else jnp.clip(moved, *limits)
        others, _ = jax.grad(compute_loss, has_aux=True)(trained, moved)
    return extras, jax.tree.map(lambda one, other: (one + other) / 2, grads, others)
