"""Noise that was planted is found: its size where rows are, and doubt where there are none."""

import numpy as np
import pytest

from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_quality import measure_interval_coverage
from ensemble.config import RegressionConfig
from ensemble.engine import choose_devices
from ensemble.engine.numeric import NumericTrainer, TrainingRows

TRAINING, TEST = 1600, 5000


def compute_noise(x: np.ndarray) -> np.ndarray:
    """The standard deviation of the target at x."""
    return np.asarray(0.1 + 0.3 * np.abs(x))


def draw(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (count, 1) between −1 and 1, and their targets."""
    x = rng.uniform(-1, 1, count)
    y = np.sin(2.5 * x) + compute_noise(x) * rng.normal(size=count)
    return x[:, None].astype(np.float32), y.astype(np.float32)


@pytest.mark.long
@pytest.mark.parametrize("beta", [0.0, pytest.param(0.5, marks=pytest.mark.variant)])
def test_planted_noise_is_recovered(beta: float) -> None:
    rng = np.random.default_rng(0)
    features, targets = draw(rng, TRAINING)
    config = RegressionConfig(members=5, epochs=40, batch_size=64, learning_rate=0.003, width=24, beta=beta)
    trainer = NumericTrainer(config, TrainingRows(features, targets), choose_devices(2))
    state = trainer.init_members()
    for epoch in range(1, config.epochs + 1):
        state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)

    def ask(rows: np.ndarray) -> NormalMixture:
        answer = trainer.predict(state, rows.astype(np.float32))
        assert answer is not None
        return NormalMixture(*(each.astype(np.float64) for each in answer))

    test, true = draw(rng, TEST)
    coverage = measure_interval_coverage(ask(test), true.astype(np.float64), 0.9)
    assert coverage.held == pytest.approx(0.9, abs=0.02)
    grid = np.linspace(-0.95, 0.95, 39)[:, None]
    inside = ask(grid)
    expected = np.sqrt(inside.compute_aleatoric_variance())
    ratio = expected / compute_noise(grid[:, 0])
    assert np.sqrt(np.mean((ratio - 1) ** 2)) < 0.15
    assert np.abs(inside.compute_mean() - np.sin(2.5 * grid[:, 0])).mean() < 0.05
    # The noise is not taken for disagreement, nor the reverse: far from all rows members differ.
    far = ask(np.array([[-4.0], [4.0]]))
    within = inside.compute_epistemic_variance()
    assert within.mean() < 0.1 * inside.compute_aleatoric_variance().mean()
    assert far.compute_epistemic_variance().min() > 20 * within.mean()
