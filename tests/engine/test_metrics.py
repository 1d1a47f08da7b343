"""The ensemble's figures come from averaged probabilities, and from real members alone."""

import jax
import numpy as np
import pytest

from ensemble.engine.layout import Layout
from ensemble.engine.metrics import build_average_metrics


@pytest.mark.parametrize("device_count", [1, 2, 8])
@pytest.mark.parametrize("members", [1, 3, 8])
def test_equals_numpy_on_averaged_probabilities(members, device_count):
    draw = np.random.default_rng(members)
    probabilities = draw.dirichlet(np.ones(10), size=(members, 4, 16)).astype(np.float32)
    labels = draw.integers(0, 10, (4, 16)).astype(np.int32)
    layout = Layout.over_devices(members, jax.devices()[:device_count])
    nll, accuracy = build_average_metrics(layout)(layout.spread(probabilities), layout.replicate(labels))
    mean = probabilities.astype(np.float64).mean(0)
    wanted = -np.log(np.take_along_axis(mean, labels[..., None], -1)[..., 0]).mean(-1)
    np.testing.assert_allclose(nll, wanted, rtol=1e-5)
    np.testing.assert_allclose(accuracy, (mean.argmax(-1) == labels).mean(-1), rtol=1e-6)


def test_averaged_accuracy_is_not_the_average_of_accuracies():
    # Two members are right on one digit each; the third is sure and right on both.
    shy, sure = [0.55, 0.45], [0.05, 0.95]
    probabilities = np.zeros((3, 1, 2, 10), np.float32)
    probabilities[0, 0, :, :2] = [shy, sure]
    probabilities[1, 0, :, :2] = [sure, shy]
    probabilities[2, 0, :, :2] = [sure, sure]
    labels = np.array([[1, 1]], np.int32)
    layout = Layout.over_devices(3, jax.devices()[:2])
    _, accuracy = build_average_metrics(layout)(layout.spread(probabilities), layout.replicate(labels))
    average = (probabilities.argmax(-1) == labels).mean()
    assert accuracy[0] == 1.0
    assert average == pytest.approx(4 / 6)


def test_what_a_surplus_lane_holds_does_not_matter():
    layout = Layout.over_devices(3, jax.devices()[:2])
    probabilities = np.full((2, 2, 1, 4, 10), 0.1, np.float32)
    probabilities[1, 1] = np.nan
    labels = np.zeros((1, 4), np.int32)
    nll, _ = build_average_metrics(layout)(layout.put_shards(probabilities), layout.replicate(labels))
    assert nll[0] == pytest.approx(np.log(10), rel=1e-5)


def test_a_probability_of_zero_has_a_finite_loss():
    layout = Layout.over_devices(1, jax.devices()[:1])
    probabilities = np.zeros((1, 1, 1, 10), np.float32)
    probabilities[..., 3] = 1
    labels = np.zeros((1, 1), np.int32)
    nll, accuracy = build_average_metrics(layout)(layout.spread(probabilities), layout.replicate(labels))
    assert np.isfinite(nll[0])
    assert nll[0] > 80
    assert accuracy[0] == 0
