"""Training as a whole: calls, options, compiled programs, evaluation."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ensemble.engine import Trainer
from ensemble.engine.forms.bfloat16_planning import EMULATED_METHODS
from ensemble.engine.networks.arithmetic import scale_to_unit
from ensemble.engine.optimizer import resolve_member_values
from ensemble.errors import ConfigError
from ensemble.machine.bfloat16_plans import Bfloat16Methods
from tests.conftest import variant
from tests.engine.conftest import devices, record_compilations, small_config, stock, train_epochs


def leaves_equal(one: object, other: object) -> bool:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def test_how_steps_are_cut_into_calls_changes_no_bit(few):
    whole, end = train_epochs(trainer := Trainer(small_config(), few, devices(2)), 2)
    pieces, other_end = train_epochs(trainer, 2, cut=1)
    np.testing.assert_array_equal(whole, pieces)
    assert leaves_equal(trainer.get(end), trainer.get(other_end))


def test_a_state_put_back_goes_on_to_the_same_bits(few):
    trainer = Trainer(small_config(), few, devices(2))
    state, _ = trainer.train(trainer.start(), 1, 0, 3)
    kept = trainer.get(state)
    straight, _ = trainer.train(state, 1, 3, 3)
    again, _ = trainer.train(trainer.put(kept), 1, 3, 3)
    assert leaves_equal(trainer.get(straight), trainer.get(again))


def test_members_that_take_much_memory_come_after_compiling_and_are_the_same(few, monkeypatch):
    made = Trainer(small_config(), few, devices(2))
    usual, order = made.get(made.start()), list[str]()

    def noted(name: str, does: Callable[..., Any], *given: Any) -> Any:
        found = does(*given)
        order.append(name)
        return found

    monkeypatch.setattr("ensemble.engine.trainer.LARGE_STATE_BYTES", 0)
    for owner, name in ((made, "init_members"), (made._execution, "compile")):
        monkeypatch.setattr(owner, name, functools.partial(noted, name, getattr(owner, name)))
    assert leaves_equal(made.get(made.start()), usual)
    assert leaves_equal(made.get(made.start(usual)), usual)
    assert order == ["compile", "init_members", "compile"]


def test_a_member_does_not_depend_on_its_company(few):
    config = small_config(network="logistic")
    alone, _ = train_epochs(Trainer(replace(config, members=1), few, devices(1)), 1)
    among, _ = train_epochs(Trainer(config, few, devices(2)), 1)
    np.testing.assert_allclose(alone[..., 0], among[..., 0], rtol=1e-4)


def test_no_number_that_a_slider_moves_recompiles(few, caplog):
    """The compiled step of one run serves another rate, momentum, seed and length."""
    # The network that is compiled soonest: every network's step takes these numbers alike.
    changes = {"network": "logistic"}
    trainer = Trainer(small_config(shift_pixels=1, **changes), few, devices(2))
    state = trainer.start()
    state, _ = trainer.train(state, 1, 0, 2)
    other = small_config(
        **changes, shift_pixels=2, rotation_degrees=5, learning_rate=0.01, momentum=0.5, seed=9, epochs=7
    )
    trainer.config, trainer.values = other, resolve_member_values(other, range(3))
    trainer._epoch.cache_clear()
    with record_compilations(caplog) as compiled:
        trainer.train(state, 2, 1, 4)
    assert not compiled
    larger = Trainer(small_config(batch_size=17, **changes), few, devices(2))
    with record_compilations(caplog) as compiled:
        larger.train(larger.start(), 1, 0, 2)
    assert compiled, "another shape: this is how it would show"


def test_the_figures_of_a_batch_are_those_of_its_images(few):
    trainer = Trainer(small_config(learning_rate=1e-5), few, devices(2))
    state = trainer.start()
    params = trainer.get(state).params
    order = trainer._epoch(1)[0].order[0]
    _, figures = trainer.train(state, 1, 0, 1)
    from ensemble.engine.draws.batches import sample_epoch_batches

    index = sample_epoch_batches(trainer.config, 1, len(few.train_images))[0, 0]
    assert (order[0] == index).all()
    images, labels = scale_to_unit(jnp.asarray(few.train_images[index])), few.train_labels[index]
    probabilities = jnp.stack(
        [jax.nn.softmax(stock(jax.tree.map(lambda leaf, m=m: leaf[m], params), images)) for m in range(3)]
    )
    chosen = probabilities[:, np.arange(len(labels)), labels]
    np.testing.assert_allclose(figures.loss[:, 0], -jnp.log(chosen).mean(-1), rtol=1e-4)
    np.testing.assert_allclose(figures.ensemble_nll[0], -jnp.log(chosen.mean(0)).mean(), rtol=1e-4)


def test_evaluation_is_on_the_whole_test_set_and_can_be_interrupted(few):
    trainer = Trainer(small_config(members=3), few, devices(2))
    state = trainer.start()
    found = trainer.evaluate(state)
    assert found.probabilities.shape == (3, 70, 10)
    params = jax.tree.map(lambda leaf: leaf[2], trainer.get(state).params)
    wanted = jax.nn.softmax(stock(params, scale_to_unit(jnp.asarray(few.test_images))))
    np.testing.assert_allclose(found.probabilities[2], wanted, atol=1e-5)
    mean = found.probabilities.mean(0)
    assert found.ensemble_accuracy == (mean.argmax(-1) == few.test_labels).mean()
    nll = -np.log(mean[np.arange(70), few.test_labels]).mean()
    assert found.ensemble_nll == pytest.approx(nll, rel=1e-5)
    assert found.loss[2] == pytest.approx(-np.log(wanted[np.arange(70), few.test_labels]).mean(), rel=1e-4)
    assert trainer.evaluate(state, lambda: True) is None


@pytest.mark.parametrize(
    "own", [{"shuffle_per_member": True}, {"bootstrap": True}, {"shift_pixels": 1}, {"rotation_degrees": 5.0}], ids=str
)
def test_members_with_their_own_views_have_no_common_training_figure(few, own):
    trainer = Trainer(small_config(network="logistic", **own), few, devices(2))
    _, figures = trainer.train(trainer.start(), 1, 0, 2)
    assert figures.ensemble_nll is None
    assert figures.ensemble_accuracy is None
    assert np.isfinite(figures.loss).all()


def test_augmentation_changes_what_is_learnt_and_is_reproducible(few):
    config = small_config(network="logistic")
    plain, _ = train_epochs(Trainer(config, few, devices(2)), 1)
    trainer = Trainer(replace(config, shift_pixels=3), few, devices(2))
    moved, again = (train_epochs(trainer, 1)[0] for _ in range(2))
    assert not np.allclose(plain, moved, rtol=1e-3)
    np.testing.assert_array_equal(moved, again)


def test_too_large_a_rate_is_seen_to_diverge_and_the_others_go_on(few):
    # Mostly such a rate kills every unit at once, and a dead network's loss is finite. With this
    # seed the last member leaves float32's range in the epoch, by far, in every form.
    config = small_config(seed=11, learning_rate=10.0, momentum=0.999)
    trainer = Trainer(config, few, devices(2))
    _, figures = trainer.train(trainer.start(), 1, 0, 6)
    step, member = np.argwhere(~np.isfinite(figures.loss.T))[0]
    assert np.isfinite(figures.loss[:, :step]).all()
    assert not np.isfinite(figures.loss[member, step])
    assert np.isfinite(figures.loss[:member]).any()


@pytest.mark.long
@pytest.mark.parametrize(
    "way",
    [
        Bfloat16Methods("bfloat16_winograd", "rounded"),
        variant(Bfloat16Methods("bfloat16", "bfloat16")),
        variant(EMULATED_METHODS),
    ],
)
def test_every_way_to_bfloat16_learns_what_float32_learns(few, way):
    losses = {}
    for precision in ("float32", "bfloat16"):
        config = small_config(precision=precision, members=1)
        made = Trainer(config, few, devices(1), products=way)
        assert made.products == (way if precision == "bfloat16" else None)
        losses[precision] = made.train(made.start(), 1, 0, 2)[1].loss
    assert not np.array_equal(losses["bfloat16"], losses["float32"])
    np.testing.assert_allclose(losses["bfloat16"], losses["float32"], rtol=0.03)


def test_a_batch_larger_than_the_set_is_refused(few):
    with pytest.raises(ConfigError, match="A batch of 97 is more than the 96 training images: choose 96"):
        Trainer(small_config(batch_size=97), few)


def test_one_step_an_epoch_where_the_batch_is_the_whole_set(few):
    # The network that is compiled soonest: its steps are counted, not its sums.
    config = small_config(batch_size=96, members=1, network="logistic")
    trainer = Trainer(config, few, devices(1))
    _, figures = trainer.train(trainer.start(), 1, 0, 1)
    assert trainer.steps_per_epoch == 1
    assert figures.loss.shape == (1, 1)


@pytest.mark.long
def test_lanes_side_by_side_learn_what_they_learn_one_after_the_other(few):
    """The arrangement for accelerators, on a CPU; with more members, on more devices.

    So it also holds that neither changes how a member's images are shifted.
    """
    of_each = {"shift_pixels": 1, "network": "logistic"}
    after, _ = train_epochs(Trainer(small_config(**of_each), few, devices(2)), 1)
    config = small_config(members=5, **of_each)
    trainer = Trainer(config, few, devices(3), execution="grouped")
    beside, state = train_epochs(trainer, 1)
    np.testing.assert_allclose(after, beside[..., :3], rtol=1e-3)
    assert trainer.evaluate(state).probabilities.shape == (5, 70, 10)
