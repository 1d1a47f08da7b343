"""Members that learn from a teacher, against a plain loop of Flax and Optax with the same loss."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy

from benchmarks.speed import howto_loop
from ensemble.config import EnsembleConfig
from ensemble.datasets import Dataset
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.engine import Trainer
from ensemble.engine.draws.batches import sample_epoch_batches
from ensemble.engine.optimizer import SoftTargets, UpdateRule, compute_training_losses
from ensemble.engine.step import create_members
from tests.conftest import variant
from tests.engine.conftest import devices, plainly_compiled, record_compilations, small_config, train_epochs

STEPS = 4
TEACHER = "digits-1"
TAUGHT = {"teacher": TEACHER, "distil_temperature": 3.0, "distil_alpha": 0.25}


def config(**changes: object) -> EnsembleConfig:
    return small_config(**{"members": 2, "network": "logistic", **TAUGHT, **changes})


@pytest.fixture(scope="module")
def targets(few: Dataset) -> np.ndarray:
    """Probabilities (N, C) that lean to the label, and are of no label alone."""
    draw = np.random.default_rng(1)
    logits = draw.normal(size=(len(few.train_images), 10)) + 2 * np.eye(10)[few.train_labels]
    raised = np.exp(logits)
    return (raised / raised.sum(-1, keepdims=True)).astype(np.float32)


def loss_by_hand(logits, labels, targets, temperature, alpha):
    """α · cross-entropy + (1 − α) · T² · KL(teacher ‖ student), written out."""
    student = jax.nn.log_softmax(logits / temperature)
    divergence = jnp.sum(targets * (jnp.log(targets) - student), -1).mean()
    own = -jax.nn.log_softmax(logits)[jnp.arange(len(labels)), labels].mean()
    return alpha * own + (1 - alpha) * temperature**2 * divergence, own


def learn_plainly(settings: EnsembleConfig, trainer: Trainer, data: Dataset, targets: np.ndarray):
    """Cross-entropies (M, S) and each member's parameters, by Optax and, for the HOWTO's network, Flax's own layers."""
    order = sample_epoch_batches(settings, 1, len(data.train_images))[0]
    first = create_members(trainer.network, settings.seed, settings.members).params
    tx, told, ended = optax.sgd(settings.learning_rate, settings.momentum), [], []

    def compute_loss(params, x, y, q):
        is_howto = settings.network == "cnn"
        logits = howto_loop.CNN().apply({"params": params}, x) if is_howto else trainer.network.apply(params, x)
        return loss_by_hand(logits, y, q, settings.distil_temperature, settings.distil_alpha)

    @plainly_compiled
    def step(params, opt, *batch):
        grads, own = jax.grad(compute_loss, has_aux=True)(params, *batch)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, own

    for m in range(settings.members):
        params = jax.tree.map(lambda leaf, m=m: leaf[m], first)
        opt = tx.init(params)
        for batch in order[:STEPS]:
            x = data.train_images[batch].astype(np.float32) / 255
            params, opt, own = step(params, opt, x, data.train_labels[batch], targets[batch])
            told.append(float(own))
        ended.append(params)
    return np.reshape(told, (settings.members, STEPS)), ended


@pytest.mark.parametrize(
    ("network", "form", "members"),
    [("logistic", "scan", 2), variant("cnn", "tower", 1), variant("cnn", "tower", 3), variant("cnn", "stepwise", 1)],
)
def test_students_learn_as_in_a_plain_loop_with_the_same_loss(few, targets, network, form, members):
    settings = config(network=network, members=members, learning_rate=0.02)
    trainer = Trainer(settings, few, devices(1), execution=form, targets=targets)
    state, figures = trainer.train(trainer.start(), 1, 0, STEPS)
    losses, ended = learn_plainly(settings, trainer, few, targets)
    np.testing.assert_allclose(figures.loss, losses, rtol=5e-4)
    params = trainer.get_params(state)
    for m, wanted in enumerate(ended):
        for one, leaf in zip(jax.tree.leaves(params), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(one[m], leaf, rtol=5e-3, atol=5e-5)


def test_the_teacher_moves_the_student(few, targets):
    taught = Trainer(config(), few, devices(1), targets=targets)
    plain = Trainer(config(teacher=""), few, devices(1))
    ends = [train_epochs(trainer, 1)[1] for trainer in (taught, plain)]
    far = jax.tree.map(lambda a, b: float(np.abs(a - b).max()), taught.get_params(ends[0]), plain.get(ends[1])[0])
    assert max(jax.tree.leaves(far)) > 1e-3


@pytest.mark.parametrize("changes", [{}, variant({"label_smoothing": 0.1}), variant({"validation": 0.25})])
def test_labels_alone_are_plain_training_to_the_bit(few, changes):
    plain = Trainer(config(teacher="", **changes), few, devices(1))
    alone = Trainer(config(distil_alpha=1.0, **changes), few, devices(1))
    (losses, state), (other_losses, other) = (train_epochs(one, 2) for one in (plain, alone))
    np.testing.assert_array_equal(losses, other_losses)
    for one, leaf in zip(*map(jax.tree.leaves, (plain.get(state), alone.get(other))), strict=True):
        np.testing.assert_array_equal(one, leaf)


def test_the_loss_with_all_weight_on_labels_is_that_of_labels(few, targets):
    """The formula itself, and not only that nothing else is compiled."""
    logits = np.random.default_rng(0).normal(size=targets.shape).astype(np.float32)
    soft = SoftTargets(targets, 3.0, 1.0)
    rules = UpdateRule(has_soft_targets=True), UpdateRule()
    compute = plainly_compiled(compute_training_losses, static_argnums=0)
    learnt, told = (compute(rule, logits, few.train_labels, 0.0, soft) for rule in rules)
    assert learnt[0] == told[0] == learnt[1]


def test_a_student_of_its_own_answers_has_nothing_to_learn_from_them():
    """KL is 0 and so is its gradient where student and teacher agree, at any temperature."""
    logits = np.random.default_rng(0).normal(size=(8, 10)).astype(np.float32)
    soft = SoftTargets(scipy.special.softmax(logits / np.float32(5), axis=-1), 5.0, 0.0)
    rule, labels = UpdateRule(has_soft_targets=True), np.zeros(8, np.int32)

    def learn(logits):
        return compute_training_losses(rule, logits, labels, 0.0, soft)[0]

    value, slope = plainly_compiled(jax.value_and_grad(learn))(logits)
    assert abs(value) < 1e-5
    assert np.abs(slope).max() < 1e-5


def test_held_out_images_take_their_targets_along(few, targets):
    settings = config(validation=0.25)
    held = select_validation_indices(settings, few)
    rest = replace(
        few, train_images=np.delete(few.train_images, held, 0), train_labels=np.delete(few.train_labels, held)
    )
    within = Trainer(settings, few, devices(1), targets=targets)
    without = Trainer(replace(settings, validation=0.0), rest, devices(1), targets=np.delete(targets, held, 0))
    assert within.steps_per_epoch == without.steps_per_epoch
    (losses, _), (others, _) = (train_epochs(one, 1) for one in (within, without))
    np.testing.assert_array_equal(losses, others)


def test_another_weight_or_temperature_compiles_nothing(few, targets, caplog):
    train_epochs(Trainer(config(), few, devices(1), targets=targets), 1)
    with record_compilations(caplog) as compiled:
        other = config(distil_alpha=0.5, distil_temperature=8.0)
        train_epochs(Trainer(other, few, devices(1), targets=targets), 1)
    assert not compiled


@pytest.mark.parametrize("wrong", [None, np.zeros((95, 10)), np.zeros((96, 9))])
def test_targets_that_do_not_fit_are_refused(few, wrong):
    with pytest.raises(ValueError, match=r"have to be \(96, 10\)"):
        Trainer(config(), few, devices(1), targets=wrong)
