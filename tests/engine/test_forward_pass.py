"""All members on many images against one member on one image at a time."""

import jax
import numpy as np
import pytest

from ensemble.engine import ForwardPass, forward_pass, predict_probabilities
from ensemble.engine.networks.registry import bind_network
from ensemble.engine.step import create_members
from tests.conftest import variant
from tests.engine.conftest import devices


@pytest.fixture(scope="module", params=["logistic", variant("cnn")])
def network(request):
    return bind_network(request.param, (28, 28, 1), 10)


@pytest.fixture(scope="module")
def params(network):
    return jax.tree.map(np.asarray, create_members(network, 3, 3).params)


@pytest.fixture(scope="module")
def wanted(digits, network, params):
    """What one member after the other makes of each of the 500 test images."""
    return predict_probabilities(network, params, digits.test_images)


@pytest.mark.long_cases
@pytest.mark.parametrize(("count", "images"), [(1, 70), (8, 70), (8, 500), (8, 49), (8, 0)])
def test_any_number_of_images_on_any_number_of_devices(count, images, digits, network, params, wanted):
    images = digits.test_images[:images]
    found = ForwardPass(network, params, 500, devices(count))(images)
    assert found.shape == (3, len(images), 10)
    assert found.dtype == np.float32
    if len(images):
        np.testing.assert_allclose(found, wanted[:, : len(images)], atol=1e-6)
        np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)


def test_one_block_per_call_gives_the_same_probabilities(monkeypatch, digits, network, params, wanted):
    monkeypatch.setattr(forward_pass, "choose_execution", lambda network: "stepwise")
    found = ForwardPass(network, params, 300, devices(1))(digits.test_images[:300])  # a call has 256 at most
    np.testing.assert_allclose(found, wanted[:, :300], atol=1e-6)


def test_one_program_serves_every_call(digits, network, params, caplog):
    forward = ForwardPass(network, params, 400, devices(2))  # room that no other test has asked for

    def compiled(images: int) -> bool:
        caplog.clear()
        with jax.log_compiles(), caplog.at_level("WARNING"):
            forward(digits.test_images[:images])
        return any("ompiling" in one.message for one in caplog.records)

    assert compiled(400)
    assert not any(compiled(images) for images in (400, 3, 260))


def test_it_can_be_interrupted_with_the_share_that_is_done(digits, network, params):
    forward, seen = ForwardPass(network, params, 500, devices(1)), []

    def interrupted(done: float) -> bool:
        seen.append(done)
        return done > 0.5

    assert forward(digits.test_images, interrupted) is None
    assert seen == sorted(seen)
    assert 0 < seen[0] < 1 / 3, "asked before the first member has gone through all images"
    assert 0.5 < seen[-1] < 1
    assert len([done for done in seen if done > 0.5]) == 1
