"""AdamW, weight decay, label smoothing and values by member, against plain loops of Optax."""

import functools
from dataclasses import replace

import jax
import numpy as np
import optax
import pytest

from ensemble.config import EnsembleConfig
from ensemble.datasets import Dataset
from ensemble.engine import Trainer
from ensemble.engine.draws.batches import sample_epoch_batches
from ensemble.engine.networks.network import Network
from ensemble.engine.optimizer import init_optimizer_state
from ensemble.engine.step import create_blank_members, create_members
from ensemble.optimizers import ADAMW, OPTIMIZERS, Optimizer
from tests.engine.conftest import devices, plainly_compiled, record_compilations, small_config

STEPS = 4
VALUES = {
    "learning_rate": np.array([0.01, 0.05, 0.2]),
    "momentum": np.array([0.0, 0.9, 0.5]),
    "weight_decay": np.array([0.0, 1e-3, 0.1]),
}
VARY = "learning_rate=0.01,0.05,0.2 momentum=0,0.9,0.5 weight_decay=0,0.001,0.1"
SMALL = "learning_rate=0.0001,0.003,0.001 momentum=0,0.9,0.5 weight_decay=0,0.001,0.1"
RULES = {
    "sgd, decay": {"optimizer": "sgd", "vary": VARY},
    "sgd, smoothed": {"optimizer": "sgd", "label_smoothing": 0.1},
    "adamw, smoothed": {"optimizer": "adamw", "vary": VARY, "label_smoothing": 0.2},
    "lion": {"optimizer": "lion", "vary": SMALL},
    "nadam, decay": {"optimizer": "nadam", "vary": SMALL},
}


def config(**changes: object) -> EnsembleConfig:
    return small_config(**{"network": "logistic", **changes})


def plain_optimizer(settings: EnsembleConfig, m: int) -> optax.GradientTransformation:
    """A member's, by Optax alone, each number a plain one."""
    rate, momentum, decay = (settings.member_values[name][m] for name in ("learning_rate", "momentum", "weight_decay"))
    if settings.optimizer == "adamw":
        return optax.adamw(rate, b1=momentum, b2=0.999, eps=1e-8, weight_decay=decay)
    if settings.optimizer == "lion":
        return optax.lion(rate, b1=momentum, b2=0.99, weight_decay=decay)
    if settings.optimizer == "nadam":
        plain = optax.nadam(rate, b1=momentum, b2=0.999, eps=1e-8)
        return optax.chain(optax.add_decayed_weights(decay), plain)
    return optax.chain(optax.add_decayed_weights(decay), optax.sgd(rate, momentum))


def plain_loop(network: Network, settings: EnsembleConfig, data: Dataset) -> tuple[np.ndarray, list[object]]:
    """Cross-entropies (M, S) with the labels as they are, and each member's parameters."""
    order = sample_epoch_batches(settings, 1, len(data.train_images))[0]
    first = create_members(network, settings.seed, settings.members).params
    told, ended = [], []

    @plainly_compiled
    @functools.partial(jax.grad, has_aux=True)
    def slope(params, x, y):
        logits, hot = network.apply(params, x), jax.nn.one_hot(y, 10)
        smooth = optax.smooth_labels(hot, settings.label_smoothing)
        learnt = optax.softmax_cross_entropy(logits, smooth).mean()
        return learnt, optax.softmax_cross_entropy(logits, hot).mean()

    for m in range(settings.members):
        params, tx = jax.tree.map(lambda leaf, m=m: leaf[m], first), plain_optimizer(settings, m)
        opt, update = tx.init(params), plainly_compiled(tx.update)
        for batch in order[:STEPS]:
            x = data.train_images[batch].astype(np.float32) / 255
            grads, loss = slope(params, x, data.train_labels[batch])
            updates, opt = update(grads, opt, params)
            params = optax.apply_updates(params, updates)
            told.append(float(loss))
        ended.append(params)
    return np.reshape(told, (settings.members, STEPS)), ended


@pytest.mark.long_cases
@pytest.mark.parametrize("rule", RULES)
def test_members_learn_as_in_a_plain_loop_of_optax_each_with_its_own_numbers(few, rule):
    settings = config(**RULES[rule])
    trainer = Trainer(settings, few, devices(1))
    state, figures = trainer.train(trainer.start(), 1, 0, STEPS)
    losses, ended = plain_loop(trainer.network, settings, few)
    np.testing.assert_allclose(figures.loss, losses, rtol=2e-4)
    params = trainer.get_params(state)
    for m, wanted in enumerate(ended):
        for one, leaf in zip(jax.tree.leaves(params), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(one[m], leaf, rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize(
    ("rule", "form"), [("sgd, decay", "scan"), ("sgd, decay", "stepwise"), ("adamw, smoothed", "grouped")]
)
def test_a_member_of_a_varied_run_is_that_of_a_run_of_its_own_with_its_values(few, rule, form):
    together = Trainer(config(**RULES[rule]), few, devices(1), execution=form)
    state, figures = together.train(together.start(), 1, 0, STEPS)
    params = together.get(state)
    for m in (1, 2):
        own = {"vary": "", **{name: float(each[m]) for name, each in VALUES.items()}}
        alone = Trainer(replace(together.config, **own), few, devices(1), execution=form)
        other, figures_alone = alone.train(alone.start(), 1, 0, STEPS)
        np.testing.assert_array_equal(figures.loss[m], figures_alone.loss[m])
        for one, leaf in zip(*map(jax.tree.leaves, (params, alone.get(other))), strict=True):
            np.testing.assert_array_equal(one[m], leaf[m])


def test_another_value_of_a_member_compiles_nothing(few, caplog):
    first = Trainer(config(**RULES["adamw, smoothed"]), few, devices(1))
    first.train(first.start(), 1, 0, STEPS)
    with record_compilations(caplog) as compiled:
        for vary in ("", "learning_rate=0.001..0.01:log momentum=0.1,0.2,0.3"):
            other = config(optimizer="adamw", weight_decay=0.02, label_smoothing=0.3, vary=vary)
            trainer = Trainer(other, few, devices(1))
            trainer.train(trainer.start(), 1, 0, STEPS)
    assert not compiled


@pytest.mark.parametrize("form", ["scan", "stepwise"])
def test_what_adamw_remembers_is_put_back_to_the_same_bits(few, form):
    trainer = Trainer(config(**RULES["adamw, smoothed"]), few, devices(1), execution=form)
    state, _ = trainer.train(trainer.start(), 1, 0, 3)
    kept = trainer.get(state)
    straight, _ = trainer.train(state, 1, 3, 3)
    again, _ = trainer.train(trainer.put(kept), 1, 3, 3)
    jax.tree.map(np.testing.assert_array_equal, trainer.get(straight), trainer.get(again))
    blank = create_blank_members(trainer.network, 3, ADAMW)
    shapes = [jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), one) for one in (kept, blank)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_an_optimizer_remembers_as_much_of_a_parameter_as_it_says(optimizer: Optimizer) -> None:
    size = 1000
    state = init_optimizer_state(optimizer, {"kernel": np.zeros(size, np.float32)})
    held = sum(leaf.nbytes for leaf in jax.tree.leaves(state) if leaf.size == size)
    assert held == optimizer.state_bytes * size
