"""Members that predict numbers learn what a plain Flax and Optax loop teaches each of them."""

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn

from ensemble.config import RegressionConfig
from ensemble.engine import choose_devices
from ensemble.engine.numeric import NumericTrainer, TrainingRows, numeric_trainer, predict_rows
from ensemble.errors import ConfigError
from tests.conftest import variant
from tests.engine.conftest import plainly_compiled, record_compilations

ROWS, FEATURES, EPOCHS = 70, 3, 3


class PlainNetwork(nn.Module):
    """The same architecture, written anew."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """Mean and raw spread."""
        x = nn.relu(nn.Dense(8)(x))
        x = nn.relu(nn.Dense(8)(x))
        return nn.Dense(2)(x)


def draw_rows() -> TrainingRows:
    """Rows of a noisy line."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    y = x[:, 0] - 0.5 * x[:, 1] + rng.normal(size=ROWS) * 0.3 * np.exp(0.5 * x[:, 2])
    return TrainingRows(x, y.astype(np.float32), folds=np.arange(ROWS) % 2)


def build_config(**more: Any) -> RegressionConfig:
    """Three members, small enough for a test."""
    return RegressionConfig(**{"members": 3, "epochs": EPOCHS, "batch_size": 16, "width": 8, "seed": 5, **more})


def train_plainly(config: RegressionConfig, tx: optax.GradientTransformation) -> list[tuple[Any, list[float]]]:
    """Each member's parameters and losses, by a loop that knows nothing of this package."""
    rows, module = draw_rows(), PlainNetwork()
    init = jax.jit(module.init)
    ranges = rows.features.max(axis=0) - rows.features.min(axis=0)

    def loss(params: Any, x: Any, y: Any) -> Any:
        out: Any = module.apply({"params": params}, x)
        mean, variance = out[:, 0], jnp.log1p(jnp.exp(out[:, 1])) + 1e-6
        nll = -jax.scipy.stats.norm.logpdf(y, mean, jnp.sqrt(variance))
        weight = jax.lax.stop_gradient(variance**config.beta)
        return (weight * nll).mean(), nll.mean()

    def both_losses(params: Any, x: Any, y: Any) -> Any:
        """Half the sum of algorithm 1 of Lakshminarayanan and others 2017."""
        slope = jax.grad(lambda x: loss(params, x, y)[0])(x)
        moved = jax.lax.stop_gradient(x + config.adversarial * ranges * jnp.sign(slope))
        learned, nll = loss(params, x, y)
        return (learned + loss(params, moved, y)[0]) / 2, nll

    learned_loss = both_losses if config.adversarial else loss

    @plainly_compiled
    def step(params: Any, opt_state: Any, x: Any, y: Any) -> Any:
        (_, nll), grads = jax.value_and_grad(learned_loss, has_aux=True)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, nll

    trained = []
    for member in range(config.members):
        rng, init_key = jax.random.split(jax.random.key(config.seed))
        own_key = jax.random.split(init_key, config.members)[member]
        params = init(own_key, np.ones((1, FEATURES), np.float32))["params"]
        opt_state, losses = tx.init(params), []
        for _ in range(EPOCHS):
            rng, epoch_key = jax.random.split(rng)
            seen = np.flatnonzero(rows.folds != member % 2) if config.folds else np.arange(ROWS)
            order = seen[np.asarray(jax.random.permutation(jax.random.fold_in(epoch_key, member), len(seen)))]
            for start in range(0, len(seen) - config.batch_size + 1, config.batch_size):
                batch = order[start : start + config.batch_size]
                params, opt_state, nll = step(params, opt_state, rows.features[batch], rows.targets[batch])
                losses.append(float(nll))
        trained.append((params, losses))
    return trained


def train_all(config: RegressionConfig, devices: int, cuts: tuple[int, ...] = ()) -> tuple[Any, np.ndarray]:
    """All members' parameters (M, …) and losses (M, steps), cut into calls at these steps."""
    trainer = NumericTrainer(config, draw_rows(), choose_devices(devices))
    state, losses = trainer.init_members(), []
    for epoch in range(1, EPOCHS + 1):
        places = [0, *cuts, trainer.steps_per_epoch]
        for start, end in itertools.pairwise(places):
            state, metrics = trainer.train(state, epoch, start, end - start)
            losses.append(metrics.loss)
        if cuts:  # As a run does that is stopped and goes on.
            state = trainer.put(trainer.get(state))
    return trainer.get(state).params, np.concatenate(losses, axis=1)


ADAMW = functools.partial(optax.adamw, b1=0.9, b2=0.999, eps=1e-8)


@pytest.mark.parametrize(
    ("settings", "tx", "devices"),
    [
        variant({}, ADAMW(0.001, weight_decay=0.0), 1),
        ({"optimizer": "sgd", "learning_rate": 0.02, "beta": 0.5}, optax.sgd(0.02, 0.9), 2),
        ({"adversarial": 0.05}, ADAMW(0.001, weight_decay=0.0), 2),
        ({"folds": 2}, ADAMW(0.001, weight_decay=0.0), 2),
        variant({"adversarial": 0.05}, ADAMW(0.001, weight_decay=0.0), 8),
        variant({"adversarial": 0.02, "optimizer": "sgd", "learning_rate": 0.02, "beta": 1.0}, optax.sgd(0.02, 0.9), 1),
    ],
)
def test_members_equal_a_plain_loop(settings: dict[str, Any], tx: optax.GradientTransformation, devices: int) -> None:
    config = build_config(**settings)
    params, losses = train_all(config, devices)
    for member, (plain, plain_losses) in enumerate(train_plainly(config, tx)):
        np.testing.assert_allclose(losses[member], plain_losses, rtol=2e-5, atol=1e-6)
        mine = jax.tree.map(lambda leaf, member=member: leaf[member], params)
        for path, leaf in jax.tree_util.tree_leaves_with_path(plain):
            own = functools.reduce(lambda tree, key: tree[key.key], path, mine)
            np.testing.assert_allclose(own, leaf, rtol=1e-4, atol=2e-5, err_msg=str(path))


@pytest.fixture(scope="module")
def trained() -> tuple[Any, np.ndarray]:
    """What two devices come to in whole epochs, made once for all tests."""
    return train_all(build_config(), 2)


def test_calls_cut_otherwise_and_a_state_put_back_leave_the_same_bits(trained: tuple[Any, np.ndarray]) -> None:
    whole, losses = trained
    parts, other_losses = train_all(build_config(), 2, cuts=(1, 3))
    np.testing.assert_array_equal(losses, other_losses)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("trained")
def test_other_numbers_compile_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with record_compilations(caplog) as compiled:
        train_all(build_config(learning_rate=0.01, momentum=0.8, beta=0.7, seed=1), 2)
    assert not compiled


def test_adversarial_training_is_resumed_and_another_step_compiles_nothing(
    caplog: pytest.LogCaptureFixture, trained: tuple[Any, np.ndarray]
) -> None:
    whole, losses = train_all(build_config(adversarial=0.05), 2)
    parts, other_losses = train_all(build_config(adversarial=0.05), 2, cuts=(1, 3))
    np.testing.assert_array_equal(losses, other_losses)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.abs(losses - trained[1])[:, 1:].min() > 0
    with record_compilations(caplog) as compiled:
        train_all(build_config(adversarial=0.2), 2)
    assert not compiled


def test_an_adversarial_step_is_a_share_of_a_columns_range_and_0_for_a_constant_column() -> None:
    """A weight of a column that is always 0 moves only if an adversarial example moves it."""
    rows = draw_rows()
    switch = np.where(np.arange(ROWS) % 3 == 0, 1.5, -0.75)
    features = np.stack([rows.features[:, 0], np.zeros(ROWS), switch], axis=1).astype(np.float32)
    config = build_config(adversarial=0.1)
    trainer = NumericTrainer(config, TrainingRows(features, rows.targets), choose_devices(2))
    steps = np.asarray(trainer._shared[-1])[0]
    np.testing.assert_allclose(steps, 0.1 * np.array([np.ptp(features[:, 0]), 0, 2.25]), rtol=1e-6)
    state = trainer.init_members()
    first = trainer.get(state).params["Dense_0"]["kernel"]
    state, _ = trainer.train(state, 1, 0, trainer.steps_per_epoch)
    last = trainer.get(state).params["Dense_0"]["kernel"]
    np.testing.assert_array_equal(first[:, 1], last[:, 1])
    assert (np.abs(last - first)[:, [0, 2]].max(axis=2) > 0).all()


def test_answers_are_those_of_the_plain_network_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    config, rows = build_config(), draw_rows()
    trainer = NumericTrainer(config, rows, choose_devices(2))
    state = trainer.init_members()
    monkeypatch.setattr(numeric_trainer, "MOST_BLOCK_ROWS", 16)
    monkeypatch.setattr(numeric_trainer, "MOST_BLOCKS", 2)
    answer = trainer.predict(state, rows.features)
    assert answer is not None
    params = trainer.get(state).params
    kept = predict_rows(trainer.network, params, rows.features)
    for member in range(config.members):
        own = jax.tree.map(lambda leaf, member=member: leaf[member], params)
        out = PlainNetwork().apply({"params": own}, rows.features)
        variance = np.log1p(np.exp(np.asarray(out)[:, 1])) + 1e-6
        for mean, spread in (answer, kept):
            np.testing.assert_allclose(mean[member], np.asarray(out)[:, 0], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(spread[member], variance, rtol=1e-5)
    assert trainer.predict(state, rows.features, lambda: True) is None


def test_answers_of_as_many_rows_again_compile_nothing(
    caplog: pytest.LogCaptureFixture, trained: tuple[Any, np.ndarray]
) -> None:
    network, features = numeric_trainer.build_numeric_network(build_config(), FEATURES), draw_rows().features
    predict_rows(network, trained[0], features)
    caplog.clear()
    with jax.log_compiles(), caplog.at_level("WARNING"):
        predict_rows(network, trained[0], features[::-1])
    assert not caplog.records


def test_a_batch_larger_than_the_rows_is_refused() -> None:
    with pytest.raises(ConfigError, match="only 70 rows to learn from: choose at most 70"):
        NumericTrainer(build_config(batch_size=71), draw_rows(), choose_devices(1))
    with pytest.raises(ConfigError, match="only 35 rows to learn from: choose at most 35"):
        NumericTrainer(build_config(batch_size=36, folds=2), draw_rows(), choose_devices(1))
