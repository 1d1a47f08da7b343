"""Deep ensemble equivalents of members that were really trained: k of them are worth k."""

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from ensemble import datasets
from ensemble.analysis.planning.equivalents import MemberEquivalent, equivalent_of_trainings, likelihood_curve
from ensemble.analysis.quality.averaging import average_probabilities

NETWORKS, KNOWN, TRIED, SPLITS = 24, 8, (1, 2, 3), 16
FEWER = 14  # as many as are known and tried, and some to choose from


def trained(data, seed):
    """(N, C) of a small network that learns from a draw of its own, as scikit-learn trains it."""
    draws, images = np.random.default_rng(seed), data.train_images[:, ::2, ::2, 0] / 255
    network = MLPClassifier((16,), learning_rate_init=0.01, random_state=seed)
    for _ in range(3):
        drawn = draws.integers(len(images), size=len(images))
        x, y = images[drawn].reshape(len(images), -1), data.train_labels[drawn]
        network.partial_fit(x, y, classes=range(10))
    tests = data.test_images[:, ::2, ::2, 0] / 255
    return network.predict_proba(tests.reshape(len(tests), -1))


@pytest.mark.long
def test_k_networks_trained_on_digits_are_worth_k_others(pytestconfig):
    data = datasets.load_dataset("digits")
    networks = NETWORKS if pytestconfig.getoption("--all") else FEWER
    made = np.stack([trained(data, seed) for seed in range(networks)])
    truth = data.test_labels
    found: dict[int, list[MemberEquivalent]] = {k: [] for k in TRIED}
    for seed in range(SPLITS):
        who = np.random.default_rng(seed).permutation(len(made))
        known = likelihood_curve(made[who[:KNOWN]], truth)
        for k in TRIED:
            found[k].append(
                equivalent_of_trainings(known, truth, average_probabilities(made[who[KNOWN : KNOWN + k]])[None])
            )
    for k, each in found.items():
        values = [min(max(one.value, 1.0), KNOWN) for one in each]
        assert abs(np.median(values) - k) < 0.8, values
    held = [one.low <= k <= one.high for k, each in found.items() for one in each]
    assert np.mean(held) >= 0.9
    too_much = [one.low > k for k, each in found.items() for one in each]
    assert np.mean(too_much) <= 0.025
