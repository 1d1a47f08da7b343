"""A step whose batch is learnt in equal parts: a gradient for each, and one update by their mean.

The gradient of the mean loss over a batch of B images is the mean of those over P parts of B / P:

    g = (g₀ + g₁ + … + g₍P₋₁₎) / P,  added in this order

Rounded, it is not what the whole batch gives, but it is the same wherever the parts are computed:
one after the other on one device, or each on a device of its own (forms/shared_batch_execution.py).
What is drawn for a part's images, augmentation and dropout, is drawn from a key of its own.
"""

import functools
import operator

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.flatten_util import ravel_pytree

from ensemble.engine.draws import random_keys
from ensemble.engine.networks.network import Params
from ensemble.engine.optimizer import Hyperparameters, UpdateRule, apply_gradient_step
from ensemble.engine.step import (
    MemberState,
    MemberStepMetrics,
    StepInputs,
    StepSettings,
    compute_gradients,
    prepare_batch,
)


def compute_part_gradients(
    settings: StepSettings, parts: int, params: Params, inputs: StepInputs, step: Array, part: Array
) -> Array:
    """Compute one part's gradient in step `step`, from 0, of an epoch.

    Args:
      settings: what the step is compiled for; its network has no collections besides its parameters.
      parts: P, the number of parts, which divides the batch size.
      params: the member's parameters.
      inputs: what the steps of the epoch read.
      step: which batch.
      part: which of its parts, from 0.

    Returns:
      The gradient, and behind it the loss, the accuracy and the probabilities of the part's images,
      in one row of float32, so that devices exchange one array.
    """
    size = inputs.order.shape[1] // parts
    rows = lax.dynamic_slice_in_dim(inputs.order[step], part * size, size)
    key = jax.random.fold_in(jax.random.wrap_key_data(inputs.key_data), step)
    key = jax.random.fold_in(jax.random.fold_in(key, random_keys.BATCH_PART), part)
    grads, _, metrics = compute_gradients(settings, params, prepare_batch(settings, inputs, rows, key))
    flat, _ = ravel_pytree((grads, metrics))
    return flat


def apply_mean_gradient(
    rule: UpdateRule, classes: int, state: MemberState, hyper: Hyperparameters, step: Array, *parts: Array
) -> tuple[MemberState, MemberStepMetrics]:
    """One update by the mean of the parts' gradients; metrics are of the whole batch.

    Args:
      rule: what moves the member.
      classes: C.
      state: the member.
      hyper: the member's numbers.
      step: which step of the epoch, from 0.
      parts: of all parts of the batch, in order, what `compute_part_gradients` gives.
    """
    flat, unravel_gradients = ravel_pytree(state.params)
    mean = functools.reduce(operator.add, parts) / len(parts)
    rate = jnp.asarray(hyper.rates)[step]
    with jax.named_scope("update"):
        params, opt_state = apply_gradient_step(
            rule,
            unravel_gradients(mean[: flat.size]),
            opt_state=state.opt_state,
            trained=state.params,
            rate=rate,
            hyper=hyper,
        )
    loss, accuracy = mean[flat.size], mean[flat.size + 1]
    probabilities = jnp.concatenate([part[flat.size + 2 :] for part in parts])
    metrics = MemberStepMetrics(loss, accuracy, probabilities.reshape(-1, classes))
    return MemberState(params, opt_state), metrics
