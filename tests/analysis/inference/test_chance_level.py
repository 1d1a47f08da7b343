"""Votes are called guesses only if they are shown to tell nothing about the labels."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from ensemble.analysis.inference.chance_level import (
    compute_independence_p,
    estimate_skill,
    is_accuracy_at_chance,
    is_at_chance,
    may_be_at_chance,
)

SIZES = (1, 5, 10, 20, 50, 100, 200)


def draw_two_classes(
    n: int, share: float, recalls: tuple[float, float], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Votes and labels: a share of class 0, and the recall of each class."""
    labels = (rng.random(n) >= share).astype(int)
    right = rng.random(n) < np.array(recalls)[labels]
    return np.where(right, labels, 1 - labels), labels


@pytest.mark.parametrize(
    ("share", "recalls"),
    [
        (0.5, (0.55, 0.55)),  # right on 55 %
        (0.5, (1.0, 0.1)),
        (0.7, (0.55, 0.55)),  # right less often than the most frequent class
        (0.7, (1.0, 0.1)),
        (0.9, (0.9, 0.5)),
        (0.95, (0.9, 0.6)),
        (0.95, (1.0, 0.1)),
    ],
)
def test_votes_with_skill_are_rarely_called_guesses(
    share: float, recalls: tuple[float, float], draws: Callable[[int], int]
) -> None:
    rng, count = np.random.default_rng(0), draws(2_000)
    for n in SIZES:
        called = [is_at_chance(*draw_two_classes(n, share, recalls, rng)) for _ in range(count)]
        assert np.mean(called) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / count), n


@pytest.mark.parametrize(("classes", "kind", "least"), [(10, "random", 0.75), (10, "one class", 1.0), (2, "one", 1.0)])
def test_most_guesses_are_found_on_200_examples(
    classes: int, kind: str, least: float, draws: Callable[[int], int]
) -> None:
    rng, count = np.random.default_rng(1), draws(1_000)
    labels = np.arange(200) % classes
    called = [
        is_at_chance(
            rng.integers(classes, size=200) if kind == "random" else np.full(200, rng.integers(classes)), labels
        )
        for _ in range(count)
    ]
    assert np.mean(called) >= least - 2 * math.sqrt(least * (1 - least) / count)


def test_the_interval_contains_youdens_j_and_cohens_kappa() -> None:
    rng = np.random.default_rng(2)
    votes, labels = draw_two_classes(200_000, 0.9, (0.8, 0.7), rng)
    low, high = estimate_skill(votes, labels, level=0.9)
    assert low < 2 * balanced_accuracy_score(labels, votes) - 1 < high < low + 0.02
    labels = np.arange(200_000) % 5
    votes = np.where(rng.random(len(labels)) < 0.4, labels, rng.integers(5, size=len(labels)))
    low, high = estimate_skill(votes, labels, level=0.9)
    assert low < cohen_kappa_score(labels, votes) < high < low + 0.02


def test_swapped_classes_are_no_guesses() -> None:
    labels = np.arange(300) % 3
    swapped = np.array([0, 2, 1])[labels]  # right on a third, like guesses
    assert not is_at_chance(swapped, labels)
    assert not is_at_chance(1 - labels % 2, labels % 2)
    assert is_at_chance(np.zeros(300, int), labels)


def test_a_small_skill_that_is_significant_is_no_guess() -> None:
    rng = np.random.default_rng(0)
    shares = np.array([0.5, *[0.5 / 29] * 29])
    labels = rng.choice(30, 20_000, p=shares)
    right = rng.random(20_000) < 0.01
    votes = np.where(right, labels, rng.choice(30, 20_000, p=shares))
    low, high = estimate_skill(votes, labels, level=0.9)
    assert 0 < low < 0.01 < high < 0.1
    assert compute_independence_p(votes, labels) > 0.05
    assert not is_at_chance(votes, labels)


def test_examples_of_one_group_count_as_one() -> None:
    labels = np.tile(np.arange(40) % 2, 10)
    votes = np.zeros(len(labels), int)
    copies = np.tile(np.arange(40), 10)
    assert is_at_chance(votes, labels)
    assert not is_at_chance(votes, labels, copies)
    once, copied = (
        estimate_skill(votes[:n], labels[:n], groups, level=0.9) for n, groups in ((40, None), (400, copies))
    )
    assert once == pytest.approx(copied)


def test_more_members_need_more_evidence() -> None:
    labels = np.arange(70) % 2
    votes = np.zeros(70, int)
    assert is_at_chance(votes, labels)
    assert not is_at_chance(votes, labels, tests=10)


def test_an_accuracy_alone_shows_guessing_only_among_even_classes() -> None:
    assert is_accuracy_at_chance(1_000, 10_000, 0.1, 10)
    assert not is_accuracy_at_chance(9_000, 10_000, 0.9, 10)
    assert not is_accuracy_at_chance(2, 20, 0.1, 10)


def test_an_accuracy_alone_shows_guessing_below_the_upper_end_of_a_90_percent_interval() -> None:
    """One of two one-sided tests at 5 %: Wilson's end with the normal quantile of 95 %."""
    z, limit, shown = norm.ppf(0.95), 0.1 + 0.1 * 0.9, []
    for n, right in ((size, count) for size in (60, 100, 150) for count in range(size // 4)):
        if may_be_at_chance(right, n, 0.1):
            share = right / n
            half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
            shown.append((share + z**2 / (2 * n) + half) / (1 + z**2 / n) < limit)
            assert is_accuracy_at_chance(right, n, 0.1, 10) == shown[-1], (right, n)
    assert 0 < sum(shown) < len(shown)


def test_groups_with_examples_of_several_classes_count_as_often_as_they_occur() -> None:
    """Pairs of one example of each class are worth half as many, though each class has one of a pair."""
    rng = np.random.default_rng(7)
    votes, labels = draw_two_classes(40, 0.5, (0.8, 0.6), rng)
    labels = np.sort(labels)
    labels[:20], labels[20:] = 0, 1
    twice = np.tile(votes, 2), np.tile(labels, 2)
    pairs = np.empty(80, int)
    pairs[np.flatnonzero(twice[1] == 0)] = pairs[np.flatnonzero(twice[1] == 1)] = np.arange(40)
    assert estimate_skill(*twice, pairs, level=0.9) == pytest.approx(estimate_skill(votes, labels, level=0.9))
