"""Members learn from augmented images: anew at every step, and the same after a stop."""

import jax
import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from ensemble.engine.draws.augmentation import NO_AUGMENTATION, Augmentation
from tests.conftest import variant
from tests.engine.conftest import compiled, devices, small_config, train_epochs

EACH = [{"slant_degrees": 20.0}, {"elastic_pixels": 2.0}, {"photo_effects": 1.0}]
ALL = {**EACH[0], **EACH[1], **EACH[2], "shift_pixels": 2, "flip": True}


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


@pytest.mark.long_cases
@pytest.mark.parametrize("own", EACH, ids=str)
def test_each_changes_what_is_learnt_by_draws_of_a_members_own_number(few, own):
    plain, _ = train_epochs(trainer(few), 1)
    made = trainer(few, **own)
    assert made.config.has_augmentation
    _, figures = made.train(made.start(), 1, 0, 6)
    assert figures.ensemble_nll is None, "members see different pixels: nothing to average"
    assert not np.allclose(plain[0], figures.loss.T, rtol=1e-4)
    twins = trainer(few, numbers=[0, 0], **own)
    same = twins.train(twins.start(), 1, 0, 6)[1].loss
    np.testing.assert_array_equal(same[0], same[1])


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


def test_amounts_are_data(few, caplog):
    made = trainer(few, **ALL)
    state, _ = made.train(made.start(), 1, 0, 3)
    made.config = small_config(
        network="logistic", members=2, slant_degrees=3, elastic_pixels=0.5, photo_effects=0.2, flip=True
    )
    made._epoch.cache_clear()
    with jax.log_compiles(), caplog.at_level("WARNING"):
        made.train(state, 2, 0, 3)
    assert not compiled(caplog)
    other = trainer(few, batch_size=8)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        other.train(other.start(), 1, 0, 3)
    assert compiled(caplog), "another shape: this is how it would show"
