"""Training images that are held out: nobody learns from them, and all are judged on them."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble.datasets.partition.split import select_validation_indices
from ensemble.engine import Trainer
from ensemble.errors import ConfigError
from tests.engine.conftest import devices, small_config, train_epochs


@pytest.fixture(scope="module")
def more(digits, few):
    """As many beside those held out as `few` has: what other tests compiled serves here too."""
    return replace(few, train_images=digits.train_images[:128], train_labels=digits.train_labels[:128])


@pytest.fixture(scope="module")
def held(more):
    return select_validation_indices(small_config(validation=0.25), more)


def test_it_learns_what_it_would_with_the_rest_alone_to_the_bit(more, held):
    rest = replace(
        more, train_images=np.delete(more.train_images, held, 0), train_labels=np.delete(more.train_labels, held)
    )
    config = small_config(network="logistic")
    with_validation = Trainer(replace(config, validation=0.25), more, devices(2))
    assert with_validation.steps_per_epoch == 96 // 16
    alone = Trainer(config, rest, devices(2))
    _, found = with_validation.train(with_validation.start(), 1, 0, 6)
    _, expected = alone.train(alone.start(), 1, 0, 6)
    for name, values in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), values, err_msg=name)


def test_every_member_is_judged_on_the_images_held_out(more, held):
    trainer = Trainer(small_config(network="logistic", validation=0.25), more, devices(2))
    _, state = train_epochs(trainer, 1)
    judged = trainer.validate(state)
    images = more.train_images[held].reshape(32, -1) / 255
    labels = more.train_labels[held]
    (layer,) = trainer.get_params(state).values()
    for m in range(3):
        logits = images @ layer["kernel"][m] + layer["bias"][m]
        p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        np.testing.assert_allclose(judged.probabilities[m], p, atol=1e-5)
        nll = -np.log(p[np.arange(32), labels]).mean()
        assert judged.loss[m] == pytest.approx(nll, abs=1e-4)
    mean = judged.probabilities.mean(0)
    nll = -np.log(mean[np.arange(32), labels]).mean()
    assert judged.ensemble_nll == pytest.approx(nll, abs=1e-5)
    assert judged.ensemble_accuracy == (mean.argmax(-1) == labels).mean()


def test_a_batch_larger_than_what_remains_is_said(more):
    with pytest.raises(ConfigError) as refused:
        Trainer(small_config(validation=0.25, batch_size=100), more, devices(1))
    assert str(refused.value) == (
        "A batch of 100 is more than the 96 training images beside the 32 of validation: choose 96 or fewer."
    )
