"""AUROC against scikit-learn, its interval against its definition; confidence and accuracy."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from ensemble.analysis.quality.error_detection import estimate_auroc, estimate_confidence_gap, estimate_error_detection


def binormal(P: int, N: int, apart: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    return draws.normal(apart, 1, P), draws.normal(0, 1, N)


@pytest.mark.parametrize("steps", [1000, 4])
def test_the_auroc_is_scikit_learns_with_ties_too(steps: int) -> None:
    first, second = (np.round(one * steps) / steps for one in binormal(40, 90, 0.7))
    truth = np.repeat([1, 0], [40, 90])
    expected = roc_auc_score(truth, np.concatenate([first, second]))
    assert estimate_auroc(first, second).value == pytest.approx(expected)


def test_the_ends_are_as_far_out_as_their_own_variance_allows() -> None:
    found = estimate_auroc(*binormal(25, 60, 1.0))
    for end in (found.low, found.high):
        q1, q2 = end / (2 - end), 2 * end**2 / (1 + end)
        n = (25 + 60) / 2 - 1  # Newcombe's: both terms by the mean of the two sizes
        variance = (end * (1 - end) + n * (q1 - end**2) + n * (q2 - end**2)) / (25 * 60)
        assert abs(found.value - end) == pytest.approx(norm.ppf(0.975) * np.sqrt(variance))
    assert (found.positives, found.negatives) == (25, 60)


def test_an_end_is_farther_out_by_the_root_of_the_effect_of_groups() -> None:
    found = estimate_auroc(*binormal(25, 60, 1.0), effect=3.0)
    for end in (found.low, found.high):
        q1, q2 = end / (2 - end), 2 * end**2 / (1 + end)
        variance = (end * (1 - end) + 41.5 * (q1 - end**2) + 41.5 * (q2 - end**2)) / (25 * 60)
        assert abs(found.value - end) == pytest.approx(norm.ppf(0.975) * np.sqrt(3 * variance))


@pytest.mark.parametrize(("wrong", "effect"), [(40, 3 * 90 / 89), (10, 3.0)])
def test_three_copies_of_each_answer_have_three_times_the_variance(wrong: int, effect: float) -> None:
    """Of G groups with the factor G / (G − 1); of few groups that err each counts as one answer."""
    first, second = binormal(wrong, 90 - wrong, 1.0)
    scores, groups = np.repeat(np.concatenate([first, second]), 3), np.repeat(np.arange(90), 3)
    found = estimate_error_detection(scores, groups >= wrong, groups)
    expected = estimate_auroc(np.repeat(first, 3), np.repeat(second, 3), effect=effect)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize(("P", "N", "apart"), [(10, 400, 0.0), (30, 300, 1.0), (100, 100, 2.0)])
def test_the_interval_holds_the_true_auroc_in_95_of_100_draws(
    P: int, N: int, apart: float, draws: Callable[[int], int]
) -> None:
    truth, count = norm.cdf(apart / np.sqrt(2)), draws(3000)
    found = [estimate_auroc(*binormal(P, N, apart, seed)) for seed in range(count)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert covered >= 0.95 - 0.015 - 2 * np.sqrt(0.95 * 0.05 / count)


def test_scores_that_part_entirely_leave_room_below_1() -> None:
    found = estimate_auroc(np.arange(10.0, 15), np.arange(5.0))
    assert found.value == found.high == 1
    assert 0.5 < found.low < 1
    turned = estimate_auroc(np.arange(5.0), np.arange(10.0, 15))
    assert (turned.value, turned.high) == pytest.approx((0, 1 - found.low))


def test_there_is_none_where_hardly_any_is_wrong_or_right() -> None:
    right = np.ones(50, bool)
    right[0] = False
    assert estimate_error_detection(np.arange(50.0), right) is None
    assert estimate_error_detection(np.arange(50.0), ~right) is None
    right[1] = False
    assert estimate_error_detection(np.arange(50.0), right) is not None


def test_the_gap_has_the_sign_of_what_is_shown() -> None:
    draws = np.random.default_rng(1)
    confidence = draws.uniform(0.5, 1, 2_000)
    calibrated = draws.random(2_000) < confidence
    assert estimate_confidence_gap(confidence, calibrated).sign == 0
    too_sure = estimate_confidence_gap(confidence, draws.random(2_000) < confidence - 0.2)
    assert too_sure.sign == 1
    assert too_sure.low < too_sure.confidence - too_sure.accuracy < too_sure.high
    assert estimate_confidence_gap(confidence, draws.random(2_000) < confidence + 0.1).sign == -1
