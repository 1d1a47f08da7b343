"""The parts of a Brier score add up, and each means what it is called."""

import numpy as np
import pytest

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.brier_parts import decompose_brier_score, decompose_ensemble_brier
from ensemble.analysis.quality.proper_scores import brier_score


def drawn(draw: np.random.Generator, n: int, classes: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and labels that are drawn from them."""
    probabilities = draw.dirichlet(np.full(classes, 0.4), n)
    return probabilities, (probabilities.cumsum(1) < draw.random((n, 1))).sum(1)


@pytest.mark.parametrize("n", [2, 50, 3000])
def test_they_add_up_to_the_score(n: int) -> None:
    probabilities, labels = drawn(np.random.default_rng(n), n)
    found = decompose_brier_score(probabilities, labels)
    assert found.score == pytest.approx(brier_score(probabilities, labels).mean(), abs=1e-12)


def test_of_right_probabilities_the_reliability_is_nothing_on_average() -> None:
    draw = np.random.default_rng(0)
    found = [decompose_brier_score(*drawn(draw, 120)).reliability for _ in range(400)]
    assert abs(np.mean(found)) < 4 * np.std(found) / 20
    probabilities, labels = drawn(draw, 4000)
    sharper = probabilities**3 / (probabilities**3).sum(1, keepdims=True)
    right, sure = (decompose_brier_score(each, labels) for each in (probabilities, sharper))
    assert sure.reliability > 20 * abs(right.reliability)
    # Sharpening puts nothing in another order: hardly anything else changes.
    assert sure.resolution == pytest.approx(right.resolution, rel=0.1)
    assert sure.uncertainty == right.uncertainty == pytest.approx(0.8, rel=0.01)


def test_who_always_says_the_same_tells_nothing_apart() -> None:
    labels = np.arange(1000) % 4
    found = decompose_brier_score(np.full((1000, 4), 0.25), labels)
    assert found.resolution == pytest.approx(0, abs=0.002)
    assert found.score == pytest.approx(0.75)
    perfect = decompose_brier_score(np.eye(4)[labels], labels)
    assert (perfect.score, perfect.reliability) == pytest.approx((0, 0), abs=1e-12)
    with pytest.raises(ValueError, match="at least two"):
        decompose_brier_score(np.ones((1, 1)), np.zeros(1, int))


def test_the_members_stand_beside_the_ensemble() -> None:
    draw = np.random.default_rng(1)
    probabilities, labels = drawn(draw, 400)
    members = np.stack([draw.dirichlet(20 * row + 0.05, 3) for row in probabilities])
    predictions = evaluate_predictions(members.transpose(1, 0, 2).copy(), labels)
    ensemble, mean = decompose_ensemble_brier(predictions)
    assert mean is not None
    assert ensemble.score < mean.score
    assert ensemble.uncertainty == pytest.approx(mean.uncertainty)
    alone = evaluate_predictions(probabilities[None], labels)
    assert decompose_ensemble_brier(alone)[1] is None


def test_the_uncertainty_is_the_sample_variance_of_the_labels() -> None:
    labels = np.array([0, 0, 1, 2, 2, 2])
    found = decompose_brier_score(np.full((6, 3), 1 / 3), labels)
    assert found.uncertainty == pytest.approx(np.eye(3)[labels].var(axis=0, ddof=1).sum())
