"""One member's steps, and its pass over images, as loops on a device."""

import jax
import jax.numpy as jnp
from jax import Array

from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic, scale_to_unit
from ensemble.engine.networks.network import Network, Params
from ensemble.engine.step import MemberState, MemberStepMetrics, StepInputs, StepSettings, run_epoch_step


def run_train_steps(
    settings: StepSettings, rows: int, state: MemberState, inputs: StepInputs, start: Array, count: Array
) -> tuple[MemberState, MemberStepMetrics]:
    """Run some steps of an epoch, one after the other on the device.

    `count` is data: one compiled program serves any number of steps, up to `rows`, for which the
    metrics have room, (rows, …); the first `count` are filled.

    Args:
      settings: what the steps are compiled for.
      rows: the most steps of a call.
      state: the member.
      inputs: what the steps of the epoch read.
      start: the first step, counted from 0 in the epoch.
      count: how many steps.
    """

    def run_step(step: Array, carry: tuple[MemberState, MemberStepMetrics]) -> tuple[MemberState, MemberStepMetrics]:
        state, metrics = carry
        state, new = run_epoch_step(settings, state, inputs, step)
        row = step - start
        return state, jax.tree.map(lambda old, value: old.at[row].set(value), metrics, new)

    shape = rows, inputs.order.shape[1], settings.network.classes
    empty = MemberStepMetrics(jnp.zeros(rows), jnp.zeros(rows), jnp.zeros(shape))
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
