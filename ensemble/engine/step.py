"""One member, one step: written for one network, mapped over members and devices elsewhere."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.typing import ArrayLike

from ensemble.engine import keys
from ensemble.engine.augment import PLAIN, Augmentation, augment
from ensemble.engine.networks.arithmetic import USUAL, Arithmetic, to_unit
from ensemble.engine.networks.network import Network, Params
from ensemble.engine.trace_cache import cached, written_down


@written_down
class MemberState(NamedTuple):
    """What a member carries from step to step.

    Attributes:
      params: the network's, with every collection that it has: running statistics too.
      opt_state: the optimizer's, of what it moves.
    """

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


def create_state(network: Network, key: Array) -> MemberState:
    """A member before its first step."""
    params = network.init(key)
    return MemberState(params, optax.sgd(0.0, momentum=0.0).init(network.split(params)[0]))


def create_members(
    network: Network, seed: int, members: int, numbers: range | None = None
) -> MemberState:
    """Members before their first step, leaves (M, …): the HOWTO's draws.

    Args:
      network: what they are.
      seed: of the run.
      members: how many the run has.
      numbers: which of them, from 0; by default all.
    """
    if numbers is None or numbers == range(members):
        return _creation(network, members)(seed)
    return _creation_of(network, members, len(numbers))(seed, numbers.start)


@functools.lru_cache(maxsize=256)
def _creation(network: Network, members: int) -> Callable[[int], MemberState]:
    def create(seed: Array) -> MemberState:
        keys_of = keys.member_keys(seed, members)
        return jax.lax.map(functools.partial(create_state, network), keys_of)

    return jax.jit(cached("create", create, network, members))


@functools.lru_cache(maxsize=256)
def _creation_of(network: Network, members: int, count: int) -> Callable[[int, int], MemberState]:
    # Which is the first is data: so that one compiled program does for all groups of a run.
    def create(seed: Array, first: Array) -> MemberState:
        keys_of = jax.lax.dynamic_slice_in_dim(keys.member_keys(seed, members), first, count)
        return jax.lax.map(functools.partial(create_state, network), keys_of)

    return jax.jit(cached("create", create, network, members, count))


def blank_members(network: Network, members: int) -> MemberState:
    """A state of that many members in NumPy, leaves (M, …), all zero."""
    shapes = jax.eval_shape(_creation(network, members), 0)
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)


def parameter_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    """The shape of each of a member's arrays, by its path: `Conv_0/kernel`, `batch_stats/…`."""
    return {path: leaf.shape for path, leaf in network.shapes.items()}


def train_step(
    network: Network,
    state: MemberState,
    images: Array,
    labels: Array,
    rate: ArrayLike,
    momentum: ArrayLike,
    key: Array | None = None,
    arithmetic: Arithmetic = USUAL,
) -> tuple[MemberState, Figures]:
    """SGD with momentum on the mean cross-entropy of one batch.

    Args:
      network: what learns.
      state: the member.
      images: (B, H, W, channels) in [0, 1].
      labels: int (B,).
      rate: learning rate of this step.
      momentum: share of the last step that is kept, in [0, 1).
      key: what the network draws from in this step, if it draws.
      arithmetic: how the network's sums are done.
    """
    trained, rest = network.split(state.params)

    def loss_fn(trained: Params) -> tuple[Array, tuple[Array, Params]]:
        logits, after = network.learn(trained, rest, images, key, arithmetic)
        one_hot = jax.nn.one_hot(labels, network.classes)
        return optax.softmax_cross_entropy(logits=logits, labels=one_hot).mean(), (logits, after)

    (loss, (logits, after)), grads = jax.value_and_grad(loss_fn, has_aux=True)(trained)
    updates, opt_state = optax.sgd(rate, momentum).update(grads, state.opt_state)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    moved: Params = optax.apply_updates(trained, updates)  # type: ignore[assignment]
    state = MemberState({**moved, **after}, opt_state)
    return state, Figures(loss, accuracy, jax.nn.softmax(logits))


def one_step(
    network: Network,
    state: MemberState,
    order: Array,
    key_data: Array,
    images: Array,
    labels: Array,
    hyper: Hyper,
    step: ArrayLike,
    *,
    augmentation: Augmentation = PLAIN,
    arithmetic: Arithmetic = USUAL,
) -> tuple[MemberState, Figures]:
    """Step `step`, from 0, of an epoch; for the other arguments see `train_steps`."""
    x, y, drawn = to_unit(images[order[step]]), labels[order[step]], None
    if network.random or any(augmentation):
        key = jax.random.fold_in(jax.random.wrap_key_data(key_data), step)
        drawn = jax.random.fold_in(key, keys.DROPOUT) if network.random else None
        x = augment(key, x, hyper.shift_pixels, hyper.rotation_degrees, augmentation)
    rate = jnp.asarray(hyper.rates)[step]
    return train_step(network, state, x, y, rate, hyper.momentum, drawn, arithmetic)


def train_steps(
    network: Network,
    rows: int,
    state: MemberState,
    order: Array,
    key_data: Array,
    start: Array,
    count: Array,
    images: Array,
    labels: Array,
    hyper: Hyper,
    *,
    augmentation: Augmentation = PLAIN,
    arithmetic: Arithmetic = USUAL,
) -> tuple[MemberState, Figures]:
    """Some steps of an epoch, one after the other on the device.

    `count` is data: one compiled program serves any number of steps, up to `rows`, for which the
    figures have room, (rows, …); the first `count` are filled.

    Args:
      network: what learns.
      rows: the most steps of a call.
      state: the member.
      order: image numbers of every batch of the epoch, int32 (S, B).
      key_data: the member's key for what is drawn in the epoch, as raw data.
      start: the first step to do, counted from 0 in the epoch.
      count: how many steps to do.
      images: all training images, uint8 (N, H, W, channels).
      labels: int32 (N,).
      hyper: the run's numbers.
      augmentation: what is done to the images; recompiles.
      arithmetic: how the network's sums are done; recompiles.
    """
    batch = order.shape[1]

    def body(step: Array, carry: tuple[MemberState, Figures]) -> tuple[MemberState, Figures]:
        state, figures = carry
        state, new = one_step(
            network, state, order, key_data, images, labels, hyper, step,
            augmentation=augmentation, arithmetic=arithmetic,
        )  # fmt: skip
        row = step - start
        return state, jax.tree.map(lambda old, value: old.at[row].set(value), figures, new)

    empty = Figures(jnp.zeros(rows), jnp.zeros(rows), jnp.zeros((rows, batch, network.classes)))
    return jax.lax.fori_loop(start, start + count, body, (state, empty))


def log_probabilities(
    network: Network,
    log_p: Array,
    params: Params,
    start: Array,
    count: Array,
    blocks: Array,
    *,
    arithmetic: Arithmetic = USUAL,
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

    def body(block: Array, log_p: Array) -> Array:
        logits = network.apply(params, to_unit(blocks[block]), arithmetic)
        return log_p.at[block].set(jax.nn.log_softmax(logits))

    return jax.lax.fori_loop(start, start + count, body, log_p)
