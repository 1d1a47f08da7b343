"""The variance between trainings on new images: against trainings whose true accuracy is known."""

import numpy as np
import pytest

from ensemble.analysis.inference.training_variance import estimate_training_variance


def trainings(draw: np.random.Generator, runs: int, n: int, spread: float) -> np.ndarray:
    """(runs, N): each right on an image with a chance that is the image's, moved by the run's."""
    image = draw.beta(8, 1, n)
    own = draw.normal(0, spread, (runs, 1))
    return draw.random((runs, n)) < np.clip(image + own, 0, 1)


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_on_average_it_is_the_variance_of_the_true_accuracies(spread: float) -> None:
    draw, told, below = np.random.default_rng(1), [], 0
    for _ in range(300):
        found = estimate_training_variance(trainings(draw, 5, 300, spread))
        assert found is not None
        told.append(found.on_distribution)
        below += found.limit < spread**2 * 0.85  # clipping at 1 leaves a little less
    error = np.std(told) / np.sqrt(len(told))
    # Clipping at a chance of 1 takes some of the spread away.
    truth = np.var([trainings(draw, 1, 20_000, spread).mean() for _ in range(300)])
    assert np.mean(told) == pytest.approx(truth, abs=4 * error + 2e-5)
    assert below <= 0.09 * 300


def test_it_is_jordans_formula() -> None:
    right = np.random.default_rng(0).random((4, 50)) < 0.8
    found = estimate_training_variance(right)
    assert found is not None
    accuracy = right.mean(axis=1).var(ddof=1)
    single = sum(right[:, i].astype(float).var(ddof=1) for i in range(50))
    assert found.on_images == pytest.approx(accuracy)
    assert found.on_distribution == pytest.approx(50 / 49 * (accuracy - single / 50**2))
    assert found.limit >= max(0.0, found.on_distribution)


def test_of_two_trainings_nothing_is_told() -> None:
    assert estimate_training_variance(np.ones((2, 10))) is None
    assert estimate_training_variance(np.ones((3, 1))) is None
    equal = estimate_training_variance(np.ones((3, 10)))
    assert equal is not None
    assert (equal.on_distribution, equal.limit) == (0, 0)
