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
from ensemble.engine.draws.augmentation import NO_AUGMENTATION, Augmentation
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic
from ensemble.engine.networks.network import Network, Params
from ensemble.engine.optimizer import PLAIN_SGD, Hyperparameters, SoftTargets, UpdateRule, apply_gradient_step
from ensemble.engine.step import MemberState, MemberStepMetrics, SharedHyperparameters, compute_gradients, prepare_batch


def compute_part_gradients(
    network: Network,
    parts: int,
    params: Params,
    order: Array,
    key_data: Array,
    images: Array,
    labels: Array,
    common: SharedHyperparameters,
    step: Array,
    part: Array,
    soft_targets: SoftTargets | None = None,
    *,
    augmentation: Augmentation = NO_AUGMENTATION,
    rule: UpdateRule = PLAIN_SGD,
    arithmetic: Arithmetic = DEFAULT_ARITHMETIC,
) -> Array:
    """What one part of step `step`, from 0, of an epoch says of a member.

    Args:
      network: what learns; without collections beside its parameters.
      parts: P, of the batch, which they divide.
      params: the member's.
      order: image numbers of every batch of the epoch, int32 (S, B).
      key_data: the member's key for what is drawn in the epoch, as raw data.
      images: all training images, uint8 (N, H, W, channels).
      labels: int32 (N,).
      common: the run's numbers.
      step: which batch.
      part: which of its parts, from 0.
      soft_targets: what a teacher says of the images, (N, C), where `rule` has one.
      augmentation: what is done to the images.
      rule: what the loss has; what moves the member.
      arithmetic: how the network's sums are done.

    Returns:
      The gradient, and behind it the loss, the accuracy and the probabilities of the part's images,
      in one row of float32: what goes from device to device goes at once.
    """
    size = order.shape[1] // parts
    rows = lax.dynamic_slice_in_dim(order[step], part * size, size)
    key = jax.random.fold_in(jax.random.wrap_key_data(key_data), step)
    key = jax.random.fold_in(jax.random.fold_in(key, random_keys.BATCH_PART), part)
    batch = prepare_batch(network, rows, key, images, labels, common, soft_targets, augmentation)
    grads, _, metrics = compute_gradients(
        network,
        params,
        batch.images,
        batch.labels,
        batch.key,
        common.label_smoothing,
        rule,
        arithmetic,
        batch.soft_targets,
        common.adversarial,
    )
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
            rule, unravel_gradients(mean[: flat.size]), state.opt_state, state.params, rate, hyper
        )
    loss, accuracy = mean[flat.size], mean[flat.size + 1]
    probabilities = jnp.concatenate([part[flat.size + 2 :] for part in parts])
    metrics = MemberStepMetrics(loss, accuracy, probabilities.reshape(-1, classes))
    return MemberState(params, opt_state), metrics
