"""One member's steps, and its pass over images, as loops on a device."""

import jax
import jax.numpy as jnp
from jax import Array

from ensemble.engine.draws.augmentation import NO_AUGMENTATION, Augmentation
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic, scale_to_unit
from ensemble.engine.networks.network import Network, Params
from ensemble.engine.optimizer import PLAIN_SGD as PLAIN_SGD
from ensemble.engine.optimizer import Hyperparameters, SoftTargets, UpdateRule
from ensemble.engine.step import MemberState, MemberStepMetrics, SharedHyperparameters, run_epoch_step


def run_train_steps(
    network: Network,
    rows: int,
    state: MemberState,
    order: Array,
    key_data: Array,
    hyper: Hyperparameters,
    start: Array,
    count: Array,
    images: Array,
    labels: Array,
    common: SharedHyperparameters,
    soft_targets: SoftTargets | None = None,
    *,
    augmentation: Augmentation = NO_AUGMENTATION,
    rule: UpdateRule = PLAIN_SGD,
    arithmetic: Arithmetic = DEFAULT_ARITHMETIC,
) -> tuple[MemberState, MemberStepMetrics]:
    """Some steps of an epoch, one after the other on the device.

    `count` is data: one compiled program serves any number of steps, up to `rows`, for which the
    metrics have room, (rows, …); the first `count` are filled.

    Args:
      network: what learns.
      rows: the most steps of a call.
      state: the member.
      order: image numbers of every batch of the epoch, int32 (S, B).
      key_data: the member's key for what is drawn in the epoch, as raw data.
      hyper: the member's numbers.
      start: the first step to do, counted from 0 in the epoch.
      count: how many steps to do.
      images: all training images, uint8 (N, H, W, channels).
      labels: int32 (N,).
      common: the run's numbers.
      soft_targets: what a teacher says of the images, (N, C), where `rule` has one.
      augmentation: what is done to the images; recompiles.
      rule: what moves the member; recompiles.
      arithmetic: how the network's sums are done; recompiles.
    """
    batch = order.shape[1]

    def run_step(step: Array, carry: tuple[MemberState, MemberStepMetrics]) -> tuple[MemberState, MemberStepMetrics]:
        state, metrics = carry
        state, new = run_epoch_step(
            network,
            state,
            order,
            key_data,
            hyper,
            images,
            labels,
            common,
            step,
            soft_targets,
            augmentation=augmentation,
            rule=rule,
            arithmetic=arithmetic,
        )
        row = step - start
        return state, jax.tree.map(lambda old, value: old.at[row].set(value), metrics, new)

    empty = MemberStepMetrics(jnp.zeros(rows), jnp.zeros(rows), jnp.zeros((rows, batch, network.classes)))
    return jax.lax.fori_loop(start, start + count, run_step, (state, empty))


def compute_log_probabilities(
    network: Network,
    log_p: Array,
    params: Params,
    start: Array,
    count: Array,
    blocks: Array,
    *,
    arithmetic: Arithmetic = DEFAULT_ARITHMETIC,
) -> Array:
    """One member's log-probabilities for some blocks of images.

    Args:
      network: what is asked.
      log_p: (blocks, E, C) in nats, to be filled in.
      params: the member's parameters.
      start: the first block to do.
      count: how many blocks to do.
      blocks: all images, uint8 (blocks, E, H, W, channels).
      arithmetic: how the network's sums are done.
    """

    def predict_block(block: Array, log_p: Array) -> Array:
        logits = network.apply(params, scale_to_unit(blocks[block]), arithmetic)
        return log_p.at[block].set(jax.nn.log_softmax(logits))

    return jax.lax.fori_loop(start, start + count, predict_block, log_p)
