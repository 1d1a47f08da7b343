"""Deep ensemble equivalents of members that were really trained: k of them are worth k."""

import jax
import numpy as np

from ensemble import datasets
from ensemble.analysis.planning.equivalents import curve, worth
from ensemble.analysis.quality.averaging import average
from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from ensemble.engine.predict import predict_probabilities

KNOWN, TRIED, SPLITS = 6, (2, 3), 7


def test_k_members_of_a_real_run_are_worth_k_of_its_others():
    data = datasets.load("digits")
    config = EnsembleConfig(network="mlp", members=16, epochs=1, learning_rate=0.05, bootstrap=True)
    trainer = Trainer(config, data, jax.devices("cpu")[:1])
    state, _ = trainer.train(trainer.start(), 1, 0, trainer.steps_per_epoch)
    made = predict_probabilities(trainer.network, trainer.get_params(state), data.test_images)
    truth, found = data.test_labels, {k: [] for k in TRIED}
    for seed in range(SPLITS):
        who = np.random.default_rng(seed).permutation(len(made))
        known = curve(made[who[:KNOWN]], truth)
        for k in TRIED:
            found[k].append(worth(known, truth, average(made[who[KNOWN : KNOWN + k]])))
    for k, each in found.items():
        values = [min(max(one.value, 1.0), KNOWN) for one in each]
        assert abs(np.median(values) - k) < 0.8, values
        assert sum(one.low <= k <= one.high for one in each) >= SPLITS - 1
