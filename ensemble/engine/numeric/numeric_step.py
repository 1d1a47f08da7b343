"""One member's steps on the rows of a table, and its answers, to be mapped over all members."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ensemble.engine.adversarial_training import differentiate_loss
from ensemble.engine.draws import random_keys
from ensemble.engine.networks.network import Params
from ensemble.engine.numeric.numeric_loss import compute_beta_nll, compute_gaussian_nll
from ensemble.engine.numeric.numeric_networks import NumericNetwork, split_outputs
from ensemble.engine.optimizer import Hyperparameters, UpdateRule, apply_gradient_step
from ensemble.engine.step import MemberState
from ensemble.engine.trace_cache import register_serialization


@register_serialization
class _NumericStepMetrics(NamedTuple):
    """What a step reports, before its update, in units of the standardised target.

    Attributes:
      nll: mean over the batch of the plain negative log-density, in nats, whatever is learnt from.
      squared_error: mean over the batch.
    """

    nll: Array
    squared_error: Array


@register_serialization
class NumericStepInputs(NamedTuple):
    """What the steps of an epoch read besides a member's state, for one member; data to the compiled program.

    Attributes:
      order: row indices of every batch of the epoch, int32 (S, B).
      key_data: the member's key for random draws in the epoch, as raw data.
      hyper: the member's hyperparameters.
      features: of all training rows, standardized, float32 (N, F).
      targets: standardized, float32 (N,).
      beta: as in `compute_beta_nll`.
      adversarial: step of adversarial examples for each feature, (F,), in the standardized unit;
        used if the update rule has them.
    """

    order: Array
    key_data: Array
    hyper: Hyperparameters
    features: Array
    targets: Array
    beta: Array
    adversarial: Array


def _run_numeric_step(
    network: NumericNetwork, rule: UpdateRule, state: MemberState, inputs: NumericStepInputs, step: Array
) -> tuple[MemberState, _NumericStepMetrics]:
    """Run step `step`, from 0, of an epoch: one update by the mean loss of one batch."""
    trained, rest = network.split_params(state.params)
    batch, key = inputs.order[step], None
    targets = inputs.targets[batch]
    if network.is_stochastic:
        drawn = jax.random.fold_in(jax.random.wrap_key_data(inputs.key_data), step)
        key = jax.random.fold_in(drawn, random_keys.DROPOUT)

    def compute_loss(trained: Params, features: Array) -> tuple[Array, tuple[Array, Array, Params]]:
        outputs, after = network.apply_in_training(trained, rest, features, key)
        mean, variance = split_outputs(outputs)
        learnt = compute_beta_nll(mean, variance, targets, inputs.beta).mean()
        nll = compute_gaussian_nll(mean, variance, targets).mean()
        return learnt, (nll, ((targets - mean) ** 2).mean(), after)

    attack = inputs.adversarial if rule.has_adversarial_examples else None
    (nll, squared, after), grads = differentiate_loss(compute_loss, trained, inputs.features[batch], attack)
    rate = jnp.asarray(inputs.hyper.rates)[step]
    moved, opt_state = apply_gradient_step(
        rule, grads, opt_state=state.opt_state, trained=trained, rate=rate, hyper=inputs.hyper
    )
    return MemberState({**moved, **after}, opt_state), _NumericStepMetrics(nll, squared)


def run_numeric_steps(
    network: NumericNetwork,
    rule: UpdateRule,
    rows: int,
    state: MemberState,
    inputs: NumericStepInputs,
    start: Array,
    count: Array,
) -> tuple[MemberState, _NumericStepMetrics]:
    """Run some steps of an epoch, one after the other on the device.

    `count` is data: one compiled program serves any number of steps up to `rows`; of the metrics
    (rows,) the first `count` are filled.

    Args:
      network: the network to train; recompiles.
      rule: the optimizer and the terms of the loss; recompiles.
      rows: the most steps of a call.
      state: the member.
      inputs: what the steps of the epoch read.
      start: the first step, counted from 0 in the epoch.
      count: how many steps.
    """

    def run_step(
        step: Array, carry: tuple[MemberState, _NumericStepMetrics]
    ) -> tuple[MemberState, _NumericStepMetrics]:
        state, metrics = carry
        state, new = _run_numeric_step(network, rule, state, inputs, step)
        row = step - start
        return state, jax.tree.map(lambda old, value: old.at[row].set(value), metrics, new)

    empty = _NumericStepMetrics(jnp.zeros(rows), jnp.zeros(rows))
    return jax.lax.fori_loop(start, start + count, run_step, (state, empty))


def predict_blocks(network: NumericNetwork, params: Params, blocks: Array) -> tuple[Array, Array]:
    """One member's means and variances of rows in blocks, (n, B) each, standardised.

    Args:
      network: what is asked.
      params: the member's.
      blocks: (n, B, F).
    """
    return jax.lax.map(lambda block: split_outputs(network.apply(params, block)), blocks)
