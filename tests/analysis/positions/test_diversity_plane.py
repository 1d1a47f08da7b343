"""The limits of diversity at an accuracy are those that drawn answers come to."""

import numpy as np
import pytest

from ensemble.analysis.positions.diversity_plane import (
    compare_pair_diversity,
    limit_independent,
    limit_perturbed,
    normalize_disagreement,
)

N = 200_000


def answer(labels: np.ndarray, accuracy: float, classes: int, seed: int) -> np.ndarray:
    """Classes that are right with that probability, and else any other."""
    rng = np.random.default_rng(seed)
    other = (labels + rng.integers(1, classes, len(labels))) % classes
    return np.where(rng.random(len(labels)) < accuracy, labels, other)


@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize(("base", "accuracy"), [(0.9, 0.8), (0.8, 0.95), (0.7, 0.7)])
def test_independent_answers_differ_as_the_upper_limit_says(classes: int, base: float, accuracy: float) -> None:
    labels = np.random.default_rng(0).integers(classes, size=N)
    first, second = answer(labels, base, classes, 1), answer(labels, accuracy, classes, 2)
    differ = (first != second).mean()
    assert differ == pytest.approx(limit_independent(accuracy, base, classes), abs=0.006)


@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("changed", [0.0, 0.05, 0.4])
def test_changed_answers_differ_as_the_lower_limit_says(classes: int, changed: float) -> None:
    rng, base = np.random.default_rng(3), 0.9
    labels = rng.integers(classes, size=N)
    first = answer(labels, base, classes, 4)
    other = (first + rng.integers(1, classes, N)) % classes
    second = np.where(rng.random(N) < changed, other, first)
    own, accuracy = (first == labels).mean(), (second == labels).mean()
    assert limit_perturbed(accuracy, own, classes) == pytest.approx(changed, abs=0.006)
    # At the base's own accuracy nothing is changed, and per mistake nothing either.
    assert normalize_disagreement(limit_perturbed(own, own, classes), own) == 0


def test_where_no_change_leads_there_is_no_limit() -> None:
    assert np.isnan(limit_perturbed(0.95, 0.9, 10))  # more accurate than the base
    assert np.isnan(limit_perturbed(0.1, 0.1, 10))  # no better than chance
    assert np.isnan(limit_perturbed(0.0, 0.5, 10))  # changing every answer leaves more right
    assert np.isnan(normalize_disagreement(0.1, 1.0))


def test_pairs_stand_beside_the_means_of_their_limits() -> None:
    labels = np.random.default_rng(0).integers(10, size=N)
    votes = np.stack([answer(labels, 0.9, 10, seed) for seed in (1, 2, 3)])
    found = compare_pair_diversity(votes, labels, 10)
    assert found.disagreement == pytest.approx(found.independent, abs=0.003)
    assert found.perturbed == pytest.approx(0, abs=0.01)
    wrong = np.stack([(labels + 1) % 10, (labels + 2) % 10])
    assert compare_pair_diversity(wrong, labels, 10).perturbed is None
