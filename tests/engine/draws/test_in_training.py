"""Members learn from augmented images: anew at every step, and the same after a stop."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from ensemble.engine.draws.augmentation import NO_AUGMENTATION, Augmentation
from tests.conftest import variant
from tests.engine.conftest import devices, record_compilations, small_config, train_epochs

EACH = [{"slant_degrees": 20.0}, {"elastic_pixels": 2.0}, {"photo_effects": 1.0}]
ALL = {**EACH[0], **EACH[1], **EACH[2], "shift_pixels": 2, "flip": True}
NOTHING = {"slant_degrees": 0.0, "elastic_pixels": 0.0, "photo_effects": 0.0, "shift_pixels": 0}


def trainer(data, form=None, numbers=None, **changes):
    """Of two members on one device, whoever they are: one program for each kind of image."""
    config = small_config(**{"network": "logistic", "members": 2, **changes})
    return Trainer(config, data, devices(1), execution=form, numbers=numbers)


def test_what_is_not_asked_for_is_not_compiled():
    assert Augmentation.from_config(EnsembleConfig()) == NO_AUGMENTATION
    asked = [Augmentation.from_config(EnsembleConfig(**one)) for one in (*EACH, {"flip": True}, ALL)]
    warped = Augmentation(warped=True)
    assert asked == [
        warped,
        warped,
        Augmentation(photographed=True),
        Augmentation(flipped=True),
        Augmentation(True, True, True, True),
    ]


@pytest.fixture(scope="module")
def learn_with(few):
    """A function that trains for an epoch with these amounts, which are data to one compiled program."""
    made = trainer(few, **ALL)
    start = made.get(made.start())

    def learn(amounts):
        made.config = replace(made.config, **NOTHING | amounts)
        made._epoch.cache_clear()
        return made.train(made.put(start), 1, 0, 6)[1]

    return learn


@pytest.mark.parametrize("own", [*EACH, {"shift_pixels": 2}], ids=str)
def test_each_setting_changes_the_result(learn_with, own):
    assert small_config(**own).has_augmentation
    figures = learn_with(own)
    assert figures.ensemble_nll is None, "members see different pixels: nothing to average"
    assert not np.allclose(learn_with({}).loss, figures.loss, rtol=1e-4)


def test_draws_are_of_a_members_own_number(few, learn_with):
    twins = trainer(few, numbers=[0, 0], **ALL)
    same = twins.train(twins.start(), 1, 0, 6)[1].loss
    np.testing.assert_array_equal(same[0], same[1])
    np.testing.assert_array_equal(same[0], learn_with(ALL).loss[0])
    others = trainer(few, numbers=[0, 1], **ALL)
    start = jax.tree.map(lambda leaf: np.stack([leaf[0], leaf[0]]), others.get(others.start()))
    loss = others.train(others.put(start), 1, 0, 6)[1].loss
    assert not np.allclose(loss[0], loss[1], rtol=1e-4), "the same first parameters, and other images"


def test_every_step_of_every_epoch_draws_again(few):
    """One image, again and again, and members that stay as they are: nothing else differs between steps."""
    images, labels = (np.repeat(given[:1], 96, axis=0) for given in (few.train_images, few.train_labels))
    same, config = replace(few, train_images=images, train_labels=labels), trainer(few, **ALL).config
    made = Trainer(config, same, devices(1), values={"learning_rate": np.zeros(2)})
    state, first = made.train(made.start(), 1, 0, 6)
    second = made.train(state, 2, 0, 6)[1]
    assert len(np.unique([first.loss[0], second.loss[0]])) == 12


@pytest.mark.long
@pytest.mark.parametrize("own", EACH, ids=str)
def test_each_setting_alone_changes_the_result(few, own):
    plain, _ = train_epochs(trainer(few), 1)
    losses, _ = train_epochs(trainer(few, **own), 1)
    assert not np.allclose(plain, losses, rtol=1e-4)


@pytest.mark.long
def test_a_stopped_run_goes_on_to_the_same_bits(few):
    made = trainer(few, **ALL)
    kept = made.get(made.train(made.start(), 1, 0, 3)[0])
    again = trainer(few, **ALL)
    straight, losses = made.train(made.put(made.get(made.train(made.start(), 1, 0, 3)[0])), 1, 3, 3)
    resumed, others = again.train(again.put(kept), 1, 3, 3)
    np.testing.assert_array_equal(losses.loss, others.loss)
    jax.tree.map(np.testing.assert_array_equal, made.get(straight), again.get(resumed))
    whole, _ = train_epochs(trainer(few, **ALL), 1)
    np.testing.assert_array_equal(whole[0, 3:].T, losses.loss)


@pytest.mark.long
@pytest.mark.parametrize("form", ["grouped", variant("stepwise")])
def test_members_side_by_side_see_what_they_see_one_after_the_other(few, form):
    looped, _ = train_epochs(trainer(few, "scan", **ALL), 1)
    other, _ = train_epochs(trainer(few, form, **ALL), 1)
    np.testing.assert_allclose(other, looped, rtol=1e-3)


def test_amounts_are_data(learn_with, caplog):
    learn_with(ALL)
    with record_compilations(caplog) as compiled:
        learn_with({"slant_degrees": 3.0, "elastic_pixels": 0.5, "photo_effects": 0.2})
    assert not compiled
