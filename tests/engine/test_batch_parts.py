"""Batches learnt in parts: the mean of their gradients, and the same bits on any devices."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from ensemble.engine.draws import batches
from ensemble.engine.forms.shared_batch_execution import SharedBatchExecution
from ensemble.engine.forms.shared_batch_layout import SharedBatchLayout
from ensemble.engine.layout import Layout
from ensemble.errors import ConfigError
from tests.conftest import variant
from tests.engine.conftest import devices, plainly_compiled, small_config
from tests.engine.test_sharing import everything


@pytest.mark.parametrize(
    ("members", "count", "parts", "used", "copies"),
    [
        (1, 1, 2, 1, 1),
        (1, 2, 2, 2, 2),
        (1, 3, 4, 2, 2),
        (1, 8, 4, 4, 4),
        (2, 8, 8, 8, 4),
        (3, 8, 2, 6, 2),
        (3, 8, 3, 6, 1),
        (3, 2, 2, 2, 1),
        (5, 8, 4, 5, 1),
    ],
)
def test_a_member_has_as_many_devices_as_parts_can_be_shared_among(members, count, parts, used, copies):
    layout = SharedBatchLayout.from_layout(Layout.over_devices(members, devices(count)), parts)
    if copies == 1:
        used = len(Layout.over_devices(members, devices(count)).devices)
    assert (len(layout.devices), layout.copies) == (used, copies)
    tree = np.arange(members * 6, dtype=np.float32).reshape(members, 2, 3)
    there = layout.spread(tree)
    np.testing.assert_array_equal(layout.gather(there), tree)
    for copy in range(copies):
        np.testing.assert_array_equal(layout.gather(layout.fetch_from_copy(there, copy)), tree)


@pytest.mark.parametrize(
    ("network", "members", "parts", "counts", "own"),
    [
        ("logistic", 1, 4, (1, 2, 8), {}),
        ("logistic", 3, 2, (2, 8), {"shift_pixels": 1, "label_smoothing": 0.1, "optimizer": "adamw"}),
        variant("mlp", 3, 2, (2, 8), {"shift_pixels": 1}),
        variant("cnn", 1, 2, (1, 2), {}),
        variant("lenet5", 2, 4, (1, 4, 8), {"elastic_pixels": 1.0, "weight_decay": 1e-3}),
    ],
)
def test_no_bit_depends_on_how_many_devices_share_a_batch(few, network, members, parts, counts, own):
    config = small_config(members=members, network=network, batch_parts=parts, **own)
    first, *others = [everything(Trainer(config, few, devices(count))) for count in counts]
    for found in others:
        for name, value in found.items():
            np.testing.assert_array_equal(value, first[name], err_msg=name)


def test_a_step_is_one_by_the_mean_of_the_parts_gradients(few):
    """Beside plain JAX and Optax, and beside the whole batch, which rounds otherwise alone."""
    config = small_config(members=1, network="logistic", batch_parts=4, learning_rate=0.1)
    trainer = Trainer(config, few, devices(2))
    state = trainer.start()
    network = trainer.network
    params = jax.tree.map(lambda leaf: leaf[0], trainer.get_params(state))
    order = batches.sample_epoch_batches(config, 1, trainer.size, [0])[0]
    optimizer = optax.sgd(config.learning_rate, config.momentum)
    memory = optimizer.init(params)

    def compute_loss(params, rows):
        logits = network.apply(params, jnp.asarray(few.train_images)[rows] / np.float32(255))
        labels = jnp.asarray(few.train_labels)[rows]
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    @plainly_compiled
    def step(params, memory, rows):
        each = [jax.value_and_grad(compute_loss)(params, part) for part in jnp.split(rows, 4)]
        grads = jax.tree.map(lambda *g: sum(g) / 4, *(gradient for _, gradient in each))
        updates, memory = optimizer.update(grads, memory, params)
        return optax.apply_updates(params, updates), memory, sum(loss for loss, _ in each) / 4

    losses = []
    for rows in order[:3]:
        params, memory, loss = step(params, memory, rows)
        losses.append(loss)
    state, figures = trainer.train(state, 1, 0, 3)
    np.testing.assert_allclose(figures.loss[0], losses, rtol=1e-5)
    for found, wanted in zip(jax.tree.leaves(trainer.get_params(state)), jax.tree.leaves(params), strict=True):
        np.testing.assert_allclose(found[0], wanted, atol=2e-6)

    whole = Trainer(small_config(members=1, network="logistic", learning_rate=0.1), few, devices(1))
    _, beside = whole.train(whole.start(), 1, 0, 3)
    np.testing.assert_allclose(figures.loss, beside.loss, rtol=1e-5)
    np.testing.assert_allclose(figures.ensemble_nll, beside.ensemble_nll, rtol=1e-5)


def test_who_is_set_aside_stays_as_it_is_on_each_of_its_devices(few):
    config = small_config(members=2, network="logistic", batch_parts=4)
    trainer = Trainer(config, few, devices(4))
    assert isinstance(trainer._execution, SharedBatchExecution)
    assert trainer.device_count == 4
    state, _ = trainer.train(trainer.start(), 1, 0, 1)
    before = trainer.get_params(state)
    trainer.freeze_members([1])
    state, figures = trainer.train(state, 1, 1, 1)
    after = trainer.get_params(state)
    for old, new in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        np.testing.assert_array_equal(old[1], new[1])
        assert not np.array_equal(old[0], new[0])
    assert np.isnan(figures.loss[1]).all()
    judged = trainer.evaluate(state)
    assert np.isfinite(judged.loss[0])
    assert np.isnan(judged.loss[1])


def test_parts_that_are_not_equal_or_have_averages_of_their_own_are_refused():
    with pytest.raises(ConfigError, match="does not divide the batch_size 100"):
        EnsembleConfig("digits", batch_size=100, batch_parts=3)
    with pytest.raises(ConfigError, match="by its whole batch: choose 1"):
        EnsembleConfig("digits", network="resnet", batch_parts=2)
