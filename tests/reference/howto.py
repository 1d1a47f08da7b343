"""The training loop of Flax's HOWTO "Ensembling on multiple devices", kept as the reference.

Model, key chain, optimiser and remainder rule are the HOWTO's
(flax.readthedocs.io/en/v0.6.11/guides/ensembling.html and examples/mnist of
google/flax at 7e9bb761). Two things differ, and neither changes a member's numbers:
the number of members is an argument, and `apply_model` hands back every member's loss
where the HOWTO prints the first one's. With `axis_name=None` the collective is left
out, for tests: heavy compute with a `pmean` inside can kill a process that has several
CPU devices.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import jax_utils
from flax import linen as nn
from flax.training import train_state


class CNN(nn.Module):
    """The HOWTO's network, of stock layers."""

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(features=32, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = nn.Conv(features=64, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=256)(x)
        x = nn.relu(x)
        x = nn.Dense(features=10)(x)
        return x


def create_train_state(rng, learning_rate, momentum):
    cnn = CNN()
    params = cnn.init(rng, jnp.ones([1, 28, 28, 1]))["params"]
    tx = optax.sgd(learning_rate, momentum)
    return train_state.TrainState.create(apply_fn=cnn.apply, params=params, tx=tx)


def apply_model(state, images, labels, axis_name=None):
    def loss_fn(params):
        logits = CNN().apply({"params": params}, images)
        one_hot = jax.nn.one_hot(labels, 10)
        loss = optax.softmax_cross_entropy(logits=logits, labels=one_hot).mean()
        return loss, logits

    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
    (loss, logits), grads = grad_fn(state.params)
    probs = jax.nn.softmax(logits)
    if axis_name:
        probs = jax.lax.pmean(probs, axis_name=axis_name)
    accuracy = jnp.mean(jnp.argmax(probs, -1) == labels)
    return grads, loss, accuracy


def update_model(state, grads):
    return state.apply_gradients(grads=grads)


def train_on_one_device(images, labels, *, members, epochs, batch_size, learning_rate=0.1,
                        momentum=0.9, seed=0):  # fmt: skip
    """Every member's loss at every step, (epochs, steps, M), and the final states, a list of M.

    The members are trained one after the other on one device, with the HOWTO's keys.
    """
    images = np.float32(images) / 255.0
    rng = jax.random.key(seed)
    rng, init_rng = jax.random.split(rng)
    keys = jax.random.split(init_rng, members)
    create = jax.jit(create_train_state, static_argnums=(1, 2))
    states = [create(key, learning_rate, momentum) for key in keys]
    apply, update = jax.jit(apply_model), jax.jit(update_model)
    losses = []
    for _ in range(epochs):
        rng, input_rng = jax.random.split(rng)
        steps = len(images) // batch_size
        perms = jax.random.permutation(input_rng, len(images))
        perms = perms[: steps * batch_size].reshape((steps, batch_size))
        epoch = []
        for perm in np.asarray(perms):
            step = []
            for member, state in enumerate(states):
                grads, loss, _ = apply(state, images[perm], labels[perm])
                states[member] = update(state, grads)
                step.append(loss)
            epoch.append(step)
        losses.append(np.array(epoch))
    return np.stack(losses), states


def train_step_on_devices():
    """The HOWTO's own pmapped pieces: (create_train_state, apply_model, update_model)."""
    create = functools.partial(jax.pmap, static_broadcasted_argnums=(1, 2))(create_train_state)
    apply = jax.pmap(functools.partial(apply_model, axis_name="ensemble"), axis_name="ensemble")
    return create, apply, jax.pmap(update_model)


def train_epoch_on_devices(state, apply, update, images, labels, batch_size, rng):
    """The HOWTO's `train_epoch`, word for word but for its names."""
    steps_per_epoch = len(images) // batch_size
    perms = jax.random.permutation(rng, len(images))
    perms = perms[: steps_per_epoch * batch_size]
    perms = perms.reshape((steps_per_epoch, batch_size))
    epoch_loss = []
    epoch_accuracy = []
    for perm in perms:
        batch_images = jax_utils.replicate(images[perm, ...])
        batch_labels = jax_utils.replicate(labels[perm, ...])
        grads, loss, accuracy = apply(state, batch_images, batch_labels)
        state = update(state, grads)
        epoch_loss.append(jax_utils.unreplicate(loss))
        epoch_accuracy.append(jax_utils.unreplicate(accuracy))
    return state, np.mean(epoch_loss), np.mean(epoch_accuracy)
