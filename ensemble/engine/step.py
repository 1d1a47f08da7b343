"""One member, one step: written for one network, mapped over members and devices elsewhere."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import traverse_util
from jax import Array
from jax.typing import ArrayLike

from ensemble.engine import keys
from ensemble.engine.augment import augment
from ensemble.engine.networks import registry
from ensemble.engine.networks.cnn import USUAL, Arithmetic, Params, to_unit
from ensemble.engine.trace_cache import cached, written_down

NETWORK = registry.find("cnn")


@written_down
class MemberState(NamedTuple):
    """What a member carries from step to step."""

    params: Params
    opt_state: optax.OptState


@written_down
class Figures(NamedTuple):
    """What a step reports, before its update: loss (nats), accuracy, batch probabilities."""

    loss: Array
    accuracy: Array
    probabilities: Array


@written_down
class Hyper(NamedTuple):
    """Numbers that a run chooses; data to the compiled program, so none of them recompiles.

    `rates` holds the learning rate of each step of the epoch, (S,).
    """

    rates: ArrayLike
    momentum: ArrayLike
    shift_pixels: ArrayLike
    rotation_degrees: ArrayLike


for part in optax.sgd(0.0, momentum=0.0).init({}):
    written_down(type(part))


def create_state(key: Array) -> MemberState:
    """A member before its first step."""
    params = NETWORK.init(key)
    return MemberState(params, optax.sgd(0.0, momentum=0.0).init(params))


def create_members(seed: int, members: int) -> MemberState:
    """All members before their first step, leaves (M, …): the HOWTO's draws."""
    return _creation(members)(seed)


@functools.cache
def _creation(members: int) -> Callable[[int], MemberState]:
    def create(seed: Array) -> MemberState:
        return jax.lax.map(create_state, keys.member_keys(seed, members))

    return jax.jit(cached("create", create, members))


def blank_members(members: int) -> MemberState:
    """A state of that many members in NumPy, leaves (M, …), all zero."""
    shapes = jax.eval_shape(_creation(members), 0)
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)


@functools.cache
def parameter_shapes() -> dict[str, tuple[int, ...]]:
    """The shape of each of a member's parameters, by its path in the tree: `Conv_0/kernel`."""
    leaves = traverse_util.flatten_dict(blank_members(1).params, sep="/")
    return {path: leaf.shape[1:] for path, leaf in leaves.items()}


def train_step(
    state: MemberState,
    images: Array,
    labels: Array,
    rate: ArrayLike,
    momentum: ArrayLike,
    arithmetic: Arithmetic = USUAL,
) -> tuple[MemberState, Figures]:
    """SGD with momentum on the mean cross-entropy of one batch.

    Args:
      state: the member.
      images: (B, 28, 28, 1) in [0, 1].
      labels: int (B,).
      rate: learning rate of this step.
      momentum: share of the last step that is kept, in [0, 1).
      arithmetic: how the network's sums are done.
    """

    def loss_fn(params: Params) -> tuple[Array, Array]:
        logits = NETWORK.apply(params, images, arithmetic)
        one_hot = jax.nn.one_hot(labels, NETWORK.classes)
        return optax.softmax_cross_entropy(logits=logits, labels=one_hot).mean(), logits

    (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    updates, opt_state = optax.sgd(rate, momentum).update(grads, state.opt_state)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    state = MemberState(optax.apply_updates(state.params, updates), opt_state)
    return state, Figures(loss, accuracy, jax.nn.softmax(logits))


def train_steps(
    state: MemberState,
    order: Array,
    key_data: Array,
    count: Array,
    images: Array,
    labels: Array,
    hyper: Hyper,
    start: Array,
    *,
    augmented: bool,
    arithmetic: Arithmetic = USUAL,
) -> tuple[MemberState, Figures]:
    """Some steps of an epoch, one after the other on the device.

    `count` is data: one compiled program serves any number of steps. The figures have
    room for a whole epoch, (S, …); the first `count` rows are filled.

    Args:
      state: the member.
      order: image numbers of every batch of the epoch, int32 (S, B).
      key_data: the member's augmentation key for the epoch, as raw data.
      count: how many steps to do.
      images: all training images, uint8 (N, 28, 28, 1).
      labels: int32 (N,).
      hyper: the run's numbers.
      start: the first step to do, counted from 0 in the epoch.
      augmented: whether to shift and turn the images; recompiles.
      arithmetic: how the network's sums are done; recompiles.
    """
    steps, batch = order.shape

    def body(step: Array, carry: tuple[MemberState, Figures]) -> tuple[MemberState, Figures]:
        state, figures = carry
        x, y = to_unit(images[order[step]]), labels[order[step]]
        if augmented:
            key = jax.random.fold_in(jax.random.wrap_key_data(key_data), step)
            x = augment(key, x, hyper.shift_pixels, hyper.rotation_degrees)
        state, new = train_step(
            state, x, y, jnp.asarray(hyper.rates)[step], hyper.momentum, arithmetic
        )
        row = step - start
        return state, jax.tree.map(lambda old, value: old.at[row].set(value), figures, new)

    empty = Figures(jnp.zeros(steps), jnp.zeros(steps), jnp.zeros((steps, batch, NETWORK.classes)))
    return jax.lax.fori_loop(start, start + count, body, (state, empty))


def log_probabilities(
    log_p: Array,
    params: Params,
    count: Array,
    blocks: Array,
    start: Array,
    *,
    arithmetic: Arithmetic = USUAL,
) -> Array:
    """One member's log-probabilities for some blocks of images.

    Args:
      log_p: (blocks, E, 10) in nats, to be filled in.
      params: the member's parameters.
      count: how many blocks to do.
      blocks: all images, uint8 (blocks, E, 28, 28, 1).
      start: the first block to do.
      arithmetic: how the network's sums are done.
    """

    def body(block: Array, log_p: Array) -> Array:
        logits = NETWORK.apply(params, to_unit(blocks[block]), arithmetic)
        return log_p.at[block].set(jax.nn.log_softmax(logits))

    return jax.lax.fori_loop(start, start + count, body, log_p)
