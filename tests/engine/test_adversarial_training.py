"""Adversarial training of images, against plain loops of JAX, Flax and Optax."""

import functools
from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from benchmarks.speed import howto_loop
from ensemble import architectures
from ensemble.config import EnsembleConfig
from ensemble.datasets import Dataset
from ensemble.engine import Trainer
from ensemble.engine.adversarial_training import differentiate_loss
from ensemble.engine.draws.batches import sample_epoch_batches
from ensemble.engine.networks.network import Network
from ensemble.engine.networks.registry import bind_network
from ensemble.engine.optimizer import Hyperparameters, UpdateRule
from ensemble.engine.step import (
    Batch,
    MemberState,
    MemberStepMetrics,
    SharedHyperparameters,
    StepSettings,
    apply_train_step,
    create_member_state,
    create_members,
)
from ensemble.optimizers import SGD
from tests.conftest import variant
from tests.engine.conftest import devices, plainly_compiled, record_compilations, small_config
from tests.engine.networks import modules

STEPS, STEP = 4, 0.03
ADVERSARIAL = UpdateRule(has_adversarial_examples=True)


def config(**changes: object) -> EnsembleConfig:
    """Settings of the smallest network with all that the loss can have: most tests share its program."""
    shared = {"network": "logistic", "members": 2, "adversarial": STEP, "label_smoothing": 0.1}
    return small_config(**{**shared, **changes})


def train_plainly(network: Network, settings: EnsembleConfig, data: Dataset) -> tuple[np.ndarray, list[object]]:
    """Cross-entropies (M, S) of the clean images, and each member's parameters.

    Half the sum of the paper's algorithm 1, differentiated as a whole.
    """
    order = sample_epoch_batches(settings, 1, len(data.train_images))[0]
    first = create_members(network, settings.seed, settings.members).params
    tx = optax.sgd(settings.learning_rate, settings.momentum)
    told, ended = [], []

    def apply(params, x):
        if settings.network == "cnn":  # Flax's own layers, not the engine's convolutions
            return howto_loop.CNN().apply({"params": params}, x)
        return network.apply(params, x)

    def compute_loss(params, x, y):
        smooth = optax.smooth_labels(jax.nn.one_hot(y, 10), settings.label_smoothing)
        return optax.softmax_cross_entropy(apply(params, x), smooth).mean()

    def compute_both(params, x, y):
        slope = jax.grad(compute_loss, argnums=1)(params, x, y)
        moved = jnp.clip(x + settings.adversarial * jnp.sign(slope), 0, 1)
        moved = jax.lax.stop_gradient(moved)
        clean = optax.softmax_cross_entropy_with_integer_labels(apply(params, x), y).mean()
        return (compute_loss(params, x, y) + compute_loss(params, moved, y)) / 2, clean

    @plainly_compiled
    def step(params, opt, x, y):
        grads, loss = jax.grad(compute_both, has_aux=True)(params, x, y)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, loss

    for m in range(settings.members):
        params = jax.tree.map(lambda leaf, m=m: leaf[m], first)
        opt = tx.init(params)
        for batch in order[:STEPS]:
            x = data.train_images[batch].astype(np.float32) / 255
            params, opt, loss = step(params, opt, x, data.train_labels[batch])
            told.append(float(loss))
        ended.append(params)
    return np.reshape(told, (settings.members, STEPS)), ended


@pytest.mark.parametrize(
    ("form", "changes"),
    [
        ("scan", {}),
        variant("tower", {"network": "cnn", "members": 1, "label_smoothing": 0.0}),
        variant("patches", {"network": "cnn"}),
        variant("scan", {"network": "mlp"}),
        variant("stepwise", {"label_smoothing": 0.0}),
        variant("grouped", {"members": 3}),
    ],
)
def test_members_learn_as_in_a_plain_loop(few, form, changes):
    settings = config(learning_rate=0.02, **changes)
    trainer = Trainer(settings, few, devices(1), execution=form)
    state, figures = trainer.train(trainer.start(), 1, 0, STEPS)
    losses, ended = train_plainly(trainer.network, settings, few)
    np.testing.assert_allclose(figures.loss, losses, rtol=5e-4)
    params = trainer.get_params(state)
    for m, wanted in enumerate(ended):
        for one, leaf in zip(jax.tree.leaves(params), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(one[m], leaf, rtol=5e-3, atol=1e-4)


def test_the_gradient_is_that_of_both_inputs_within_the_limits():
    """The loss Σ w · x has the slope w by x, and x by w."""
    weights, inputs = {"w": jnp.array([1.0, -2.0, 0.0, 3.0])}, jnp.array([[0.2, 0.2, 0.2, 0.95]])

    def compute_loss(weights, inputs):
        return (weights["w"] * inputs).sum(), inputs

    def differentiate(*more):
        reported, grads = differentiate_loss(compute_loss, weights, inputs, *more)
        np.testing.assert_array_equal(reported, inputs)
        return grads["w"]

    steps, clean = jnp.array([0.1, 0.4, 0.1, 0.1]), inputs[0]
    np.testing.assert_array_equal(differentiate(), clean)
    for limits, moved in (((0.0, 1.0), [0.3, 0.0, 0.2, 1.0]), (None, [0.3, -0.2, 0.2, 1.05])):
        np.testing.assert_allclose(differentiate(steps, limits), np.add(clean, moved) / 2, atol=1e-7)


@functools.cache
def compile_step(network: Network, rule: UpdateRule) -> Callable[..., tuple[MemberState, MemberStepMetrics]]:
    return plainly_compiled(functools.partial(apply_train_step, StepSettings(network, rule=rule)))


def take_step(
    member: MemberState, network: Network, rule: UpdateRule, adversarial: float, few: Dataset
) -> tuple[MemberState, MemberStepMetrics]:
    """A member's first step, and its metrics."""
    images, labels = few.train_images[:16, ::4, ::4] / np.float32(255), few.train_labels[:16]
    key = jax.random.key(2) if network.is_stochastic else None
    common = SharedHyperparameters(0, 0.0, 0.0, 0.0, 0.0, 0.0, adversarial)
    return compile_step(network, rule)(member, Batch(images, labels, common, key), 0.1, Hyperparameters(0.1, 0.9, 0.0))


def test_dropout_and_batch_statistics_are_those_of_the_clean_images(few, monkeypatch):
    name = f"{modules.__name__}:Careful"
    monkeypatch.setenv(architectures.NETWORKS_VARIABLE, name)
    network = bind_network(name, (7, 7, 1), 10)
    assert network.is_stochastic
    create = plainly_compiled(functools.partial(create_member_state, network, SGD))
    first = create(jax.random.key(1))
    plain, figures = take_step(first, network, UpdateRule(), 0.3, few)
    # With a step of 0 both passes are the same: other draws of dropout would differ.
    still, _ = take_step(first, network, ADVERSARIAL, 0.0, few)
    for one, leaf in zip(*map(jax.tree.leaves, (plain, still)), strict=True):
        np.testing.assert_allclose(one, leaf, rtol=1e-5, atol=1e-7)
    moved, others = take_step(first, network, ADVERSARIAL, 0.3, few)
    for member in (moved, first):
        same = jax.tree.map(np.array_equal, member.params["batch_stats"], plain.params["batch_stats"])
        assert all(jax.tree.leaves(same)) == (member is not first)
    assert not np.array_equal(moved.params["Dense_0"]["kernel"], plain.params["Dense_0"]["kernel"])
    np.testing.assert_allclose(figures.loss, others.loss, rtol=1e-6)
    assert figures.accuracy == others.accuracy


def test_without_it_a_step_is_the_same_to_the_bit(few):
    ended = []
    for adversarial in (0.0, STEP):
        trainer = Trainer(config(adversarial=0.0), few, devices(1))
        trainer.config = replace(trainer.config, adversarial=adversarial)
        state, _ = trainer.train(trainer.start(), 1, 0, STEPS)
        ended.append(jax.tree.leaves(trainer.get(state)))
    for one, leaf in zip(*ended, strict=True):
        np.testing.assert_array_equal(one, leaf)
    trainer = Trainer(config(), few, devices(1))
    state, _ = trainer.train(trainer.start(), 1, 0, STEPS)
    moved = [np.abs(one - leaf).max() for one, leaf in zip(ended[0], jax.tree.leaves(trainer.get(state)), strict=True)]
    assert min(moved) > 1e-4


def train_in_calls(trainer: Trainer, cut: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Losses and the final state of an epoch in calls of `cut` steps, put back between them."""
    state, losses = trainer.start(), []
    for start in range(0, trainer.steps_per_epoch, cut):
        count = min(cut, trainer.steps_per_epoch - start)
        state, figures = trainer.train(trainer.put(trainer.get(state)), 1, start, count)
        losses.append(figures.loss)
    return np.concatenate(losses, 1), jax.tree.leaves(trainer.get(state))


def test_a_resumed_run_has_the_same_bits_and_members_depend_on_no_device(few):
    settings = config(members=3)
    losses, whole = train_in_calls(Trainer(settings, few, devices(2)), 99)
    same_losses, resumed = train_in_calls(Trainer(settings, few, devices(2)), 2)
    np.testing.assert_array_equal(losses, same_losses)
    for one, leaf in zip(whole, resumed, strict=True):
        np.testing.assert_array_equal(one, leaf)
    two_of_them, _ = train_in_calls(Trainer(config(), few, devices(1)), 99)
    np.testing.assert_allclose(losses[:2], two_of_them, rtol=1e-4)


def test_another_step_compiles_nothing(few, caplog):
    train_in_calls(Trainer(config(), few, devices(1)), 99)
    with record_compilations(caplog) as compiled:
        train_in_calls(Trainer(config(adversarial=0.2), few, devices(1)), 99)
    assert not compiled


def test_parts_of_a_batch_are_learned_as_the_whole(few):
    settings = config()
    parts = Trainer(replace(settings, batch_parts=4), few, devices(4))
    whole = Trainer(settings, few, devices(1))
    (losses, _), (others, _) = train_in_calls(parts, STEPS), train_in_calls(whole, STEPS)
    np.testing.assert_allclose(losses, others, rtol=1e-3)


@pytest.mark.long
def test_members_answer_attacked_digits_better(digits):
    images, labels = digits.test_images / np.float32(255), digits.test_labels

    def measure_accuracy(adversarial: float) -> float:
        """Mean accuracy of the members, each on the images that move its own loss up."""
        settings = config(network="mlp", epochs=3, batch_size=32, learning_rate=0.05, adversarial=adversarial)
        trainer = Trainer(settings, digits, devices(1))
        state = trainer.start()
        for epoch in (1, 2, 3):
            state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)

        def compute_loss(images, params):
            logits = trainer.network.apply(params, images)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        @plainly_compiled
        def attack(params):
            moved = images + 0.1 * jnp.sign(jax.grad(compute_loss)(images, params))
            logits = trainer.network.apply(params, jnp.clip(moved, 0, 1))
            return (jnp.argmax(logits, -1) == labels).mean()

        params = trainer.get_params(state)
        return np.mean([attack(jax.tree.map(lambda leaf, m=m: leaf[m], params)) for m in (0, 1)])

    assert measure_accuracy(0.1) > measure_accuracy(0.0) + 0.1
