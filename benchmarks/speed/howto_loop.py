"""The training loop of Flax's HOWTO "Ensembling on multiple devices": reference and rival.

Tests compare the engine's numbers with its numbers, `python -m benchmarks.speed` and
`python -m benchmarks.speed.members` their speeds. Model, key chain, optimizer and remainder
rule are the HOWTO's
(flax.readthedocs.io/en/v0.6.11/guides/ensembling.html and examples/mnist of
google/flax at 7e9bb761). Two things differ, and neither changes a member's numbers:
the number of members is an argument, and `apply_model` hands back every member's loss
where the HOWTO prints the first one's. With `axis_name=None` the collective is left
out, for tests: heavy compute with a `pmean` inside can kill a process that has several
CPU devices.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import jax_utils
from flax import linen as nn
from flax.training.train_state import TrainState
from jax import Array

StepResult = tuple[Any, Array, Array]
PmappedFunctions = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]


class CNN(nn.Module):
    """The HOWTO's network, of stock layers."""

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Images (B, 28, 28, 1) in [0, 1] to logits (B, 10)."""
        x = nn.Conv(features=32, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = nn.Conv(features=64, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=256)(x)
        x = nn.relu(x)
        return nn.Dense(features=10)(x)


def create_train_state(rng: Array, learning_rate: float, momentum: float) -> TrainState:
    """One member before its first step."""
    cnn = CNN()
    params = cnn.init(rng, jnp.ones([1, 28, 28, 1]))["params"]
    tx = optax.sgd(learning_rate, momentum)
    return TrainState.create(apply_fn=cnn.apply, params=params, tx=tx)


def apply_model(state: TrainState, images: Array, labels: Array, axis_name: str | None = None) -> StepResult:
    """One member's gradients and loss on a batch, and the accuracy of the mean probabilities.

    Args:
      state: the member.
      images: (B, 28, 28, 1) in [0, 1].
      labels: int (B,).
      axis_name: the members' axis, over which probabilities are averaged; None: this member's.
    """

    def loss_fn(params: Any) -> tuple[Array, Array]:
        logits = CNN().apply({"params": params}, images)
        one_hot = jax.nn.one_hot(labels, 10)
        loss = optax.softmax_cross_entropy(logits=logits, labels=one_hot).mean()
        return loss, logits  # type: ignore[return-value]

    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
    (loss, logits), grads = grad_fn(state.params)
    probs = jax.nn.softmax(logits)
    if axis_name:
        probs = jax.lax.pmean(probs, axis_name=axis_name)
    accuracy = jnp.mean(jnp.argmax(probs, -1) == labels)
    return grads, loss, accuracy


def update_model(state: TrainState, grads: Any) -> TrainState:
    """One member after a step of SGD."""
    return state.apply_gradients(grads=grads)


def train_on_one_device(
    images: np.ndarray,
    labels: np.ndarray,
    *,
    members: int,
    epochs: int,
    batch_size: int,
    learning_rate: float = 0.1,
    momentum: float = 0.9,
    seed: int = 0,
) -> tuple[np.ndarray, list[TrainState]]:
    """Every member's loss at every step, (epochs, S, M), and the final states, a list of M.

    The members are trained one after the other on one device, with the HOWTO's keys, on
    uint8 images (N, 28, 28, 1) and int labels (N,).
    """
    images = images.astype(np.float32) / 255.0
    rng, keys = split_howto_keys(seed, members)
    create = jax.jit(create_train_state, static_argnums=(1, 2))
    states = [create(key, learning_rate, momentum) for key in keys]
    apply, update = jax.jit(apply_model), jax.jit(update_model)
    losses = []
    for _ in range(epochs):
        rng, input_rng = jax.random.split(rng)
        epoch = []
        for perm in np.asarray(permute_epoch(input_rng, len(images), batch_size)):
            step = []
            for member, state in enumerate(states):
                grads, loss, _ = apply(state, images[perm], labels[perm])
                states[member] = update(state, grads)
                step.append(loss)
            epoch.append(step)
        losses.append(np.array(epoch))
    return np.stack(losses), states


def split_howto_keys(seed: int, members: int) -> tuple[Array, Array]:
    """The key from which the epochs draw, and every member's own, (M,)."""
    rng, init_rng = jax.random.split(jax.random.key(seed))
    return rng, jax.random.split(init_rng, members)


def permute_epoch(rng: Array, size: int, batch_size: int) -> Array:
    """Image numbers of every batch of an epoch, int (S, B); the remainder is dropped."""
    steps_per_epoch = size // batch_size
    perms = jax.random.permutation(rng, size)
    perms = perms[: steps_per_epoch * batch_size]
    return perms.reshape((steps_per_epoch, batch_size))


def pmap_train_step(devices: Sequence[jax.Device] | None = None) -> PmappedFunctions:
    """The HOWTO's own pmapped pieces: (create_train_state, apply_model, update_model).

    Args:
      devices: one for each member; all by default, as in the HOWTO.
    """
    pmap = functools.partial(jax.pmap, devices=devices)
    create = pmap(create_train_state, static_broadcasted_argnums=(1, 2))
    apply = pmap(functools.partial(apply_model, axis_name="ensemble"), axis_name="ensemble")
    return create, apply, pmap(update_model)


def train_batches_on_devices(
    state: TrainState,
    apply: Callable[..., Any],
    update: Callable[..., Any],
    images: np.ndarray,
    labels: np.ndarray,
    perms: Array,
    devices: Sequence[jax.Device] | None = None,
) -> tuple[TrainState, list[Array], list[Array]]:
    """The loop of the HOWTO's `train_epoch`, word for word but that it keeps every member's loss.

    Args:
      state: the members, one on each device.
      apply: of `pmap_train_step`.
      update: likewise.
      images: float32 (N, 28, 28, 1) in [0, 1], on the host.
      labels: int (N,).
      perms: image numbers of each batch, (S, B).
      devices: as for `pmap_train_step`.

    Returns:
      The members, and S times their losses (M,) and the ensemble's accuracy, M times.
    """
    epoch_loss = []
    epoch_accuracy = []
    for perm in perms:
        batch_images = jax_utils.replicate(images[perm, ...], devices)
        batch_labels = jax_utils.replicate(labels[perm, ...], devices)
        grads, loss, accuracy = apply(state, batch_images, batch_labels)
        state = update(state, grads)
        epoch_loss.append(loss)
        epoch_accuracy.append(accuracy)
    return state, epoch_loss, epoch_accuracy


def train_epoch_on_devices(
    state: TrainState,
    apply: Callable[..., Any],
    update: Callable[..., Any],
    images: np.ndarray,
    labels: np.ndarray,
    batch_size: int,
    rng: Array,
) -> tuple[TrainState, Any, Any]:
    """The HOWTO's `train_epoch`: the members, the first one's mean loss, the mean accuracy."""
    perms = permute_epoch(rng, len(images), batch_size)
    state, loss, accuracy = train_batches_on_devices(state, apply, update, images, labels, perms)
    return state, np.mean([every[0] for every in loss]), np.mean([every[0] for every in accuracy])
