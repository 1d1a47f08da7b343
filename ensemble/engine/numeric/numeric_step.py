"""One member's steps on the rows of a table, and its answers, to be mapped over all members."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from ensemble.engine.adversarial_training import differentiate_loss
from ensemble.engine.draws import random_keys
from ensemble.engine.networks.network import Params
from ensemble.engine.numeric.numeric_loss import compute_beta_nll, compute_gaussian_nll
from ensemble.engine.numeric.numeric_networks import NumericNetwork, split_outputs
from ensemble.engine.optimizer import Hyperparameters, UpdateRule, apply_gradient_step
from ensemble.engine.step import MemberState
from ensemble.engine.trace_cache import register_serialization


@register_serialization
class NumericStepMetrics(NamedTuple):
    """What a step reports, before its update, in units of the standardised target.

    Attributes:
      nll: mean over the batch of the plain negative log-density, in nats, whatever is learnt from.
      squared_error: mean over the batch.
    """

    nll: Array
    squared_error: Array


def apply_numeric_step(
    network: NumericNetwork,
    state: MemberState,
    features: Array,
    targets: Array,
    rate: ArrayLike,
    hyper: Hyperparameters,
    beta: ArrayLike,
    key: Array | None,
    rule: UpdateRule,
    adversarial: ArrayLike = 0.0,
) -> tuple[MemberState, NumericStepMetrics]:
    """One update by the mean loss of one batch.

    Args:
      network: what learns.
      state: the member.
      features: (B, F), standardised.
      targets: (B,), standardised.
      rate: learning rate of this step.
      hyper: the member's numbers.
      beta: of `compute_beta_nll`.
      key: what the network draws from in this step, if it draws.
      rule: what moves the member.
      adversarial: step of adversarial examples for each feature, (F,), in the standardized unit;
        used if `rule` has them.
    """
    trained, rest = network.split_params(state.params)

    def compute_loss(trained: Params, features: Array) -> tuple[Array, tuple[Array, Array, Params]]:
        outputs, after = network.apply_in_training(trained, rest, features, key)
        mean, variance = split_outputs(outputs)
        learnt = compute_beta_nll(mean, variance, targets, beta).mean()
        nll = compute_gaussian_nll(mean, variance, targets).mean()
        return learnt, (nll, ((targets - mean) ** 2).mean(), after)

    step = adversarial if rule.has_adversarial_examples else None
    (nll, squared, after), grads = differentiate_loss(compute_loss, trained, features, step)
    moved, opt_state = apply_gradient_step(rule, grads, state.opt_state, trained, rate, hyper)
    return MemberState({**moved, **after}, opt_state), NumericStepMetrics(nll, squared)


def run_numeric_steps(
    network: NumericNetwork,
    rows: int,
    rule: UpdateRule,
    state: MemberState,
    order: Array,
    key_data: Array,
    hyper: Hyperparameters,
    start: Array,
    count: Array,
    features: Array,
    targets: Array,
    beta: Array,
    adversarial: Array,
) -> tuple[MemberState, NumericStepMetrics]:
    """Some steps of an epoch, one after the other on the device.

    `count` is data: one compiled program serves any number of steps up to `rows`; of the metrics
    (rows,) the first `count` are filled.

    Args:
      network: what learns.
      rows: the most steps of a call.
      rule: what moves the member; recompiles.
      state: the member.
      order: numbers of the rows of every batch of the epoch, int32 (S, B).
      key_data: the member's key for what is drawn in the epoch, as raw data.
      hyper: the member's numbers.
      start: the first step to do, counted from 0 in the epoch.
      count: how many steps to do.
      features: of all training rows, float32 (N, F).
      targets: float32 (N,).
      beta: of `compute_beta_nll`.
      adversarial: of `apply_numeric_step`.
    """

    def run_step(step: Array, carry: tuple[MemberState, NumericStepMetrics]) -> tuple[MemberState, NumericStepMetrics]:
        state, metrics = carry
        drawn = None
        if network.is_stochastic:
            key = jax.random.fold_in(jax.random.wrap_key_data(key_data), step)
            drawn = jax.random.fold_in(key, random_keys.DROPOUT)
        batch, rate = order[step], jnp.asarray(hyper.rates)[step]
        state, new = apply_numeric_step(
            network, state, features[batch], targets[batch], rate, hyper, beta, drawn, rule, adversarial
        )
        row = step - start
        return state, jax.tree.map(lambda old, value: old.at[row].set(value), metrics, new)

    empty = NumericStepMetrics(jnp.zeros(rows), jnp.zeros(rows))
    return jax.lax.fori_loop(start, start + count, run_step, (state, empty))


def predict_blocks(network: NumericNetwork, params: Params, blocks: Array) -> tuple[Array, Array]:
    """One member's means and variances of rows in blocks, (n, B) each, standardised.

    Args:
      network: what is asked.
      params: the member's.
      blocks: (n, B, F).
    """
    return jax.lax.map(lambda block: split_outputs(network.apply(params, block)), blocks)
