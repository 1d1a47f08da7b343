from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from ensemble.analysis.quality.ood import compare_aurocs, ood_separation


def draw(N: int, K: int, seed: int, levels: int | None) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    known, unknown = draws.normal(size=N), draws.normal(1.0, 1.5, size=K)
    if levels:
        known, unknown = np.round(known * levels), np.round(unknown * levels)
    return known, unknown


@pytest.mark.parametrize("levels", [None, 2])
@pytest.mark.parametrize(("N", "K"), [(1, 1), (7, 3), (20, 50), (60, 60), (100, 33), (1000, 700)])
def test_agrees_with_scikit_learn(N: int, K: int, levels: int | None) -> None:
    known, unknown = draw(N, K, N, levels)
    both = np.concatenate([known, unknown])
    found = ood_separation(known, unknown)
    is_unknown = np.arange(N + K) >= N
    assert found.auroc == pytest.approx(roc_auc_score(is_unknown, both), abs=1e-12)
    assert found.aupr == pytest.approx(average_precision_score(is_unknown, both), abs=1e-12)
    assert found.aupr_chance == K / (N + K)
    # The known are the positives, and score high where ours is low.
    fpr, tpr, _ = roc_curve(~is_unknown, -both, drop_intermediate=False)
    assert found.fpr95 == fpr[np.flatnonzero(tpr >= 0.95)[0]]


def test_area_is_the_statistic_of_mann_and_whitney() -> None:
    known, unknown = draw(80, 120, 5, 1)
    wanted = mannwhitneyu(unknown, known).statistic / (80 * 120)
    assert ood_separation(known, unknown).auroc == pytest.approx(wanted)


def test_apart_alike_and_the_wrong_way_round() -> None:
    low, high = np.linspace(0, 1, 40), np.linspace(2, 3, 30)
    apart, reverse = ood_separation(low, high), ood_separation(high, low)
    alike = ood_separation(np.zeros(10), np.zeros(5))
    assert (apart.auroc, apart.fpr95, apart.aupr) == (1, 0, 1)
    assert (reverse.auroc, reverse.fpr95) == (0, 1)
    assert (alike.auroc, alike.fpr95, alike.aupr) == (0.5, 1, alike.aupr_chance)


@pytest.mark.parametrize(("known", "unknown"), [(0, 3), (3, 0)])
def test_none_of_one_kind_is_refused(known: int, unknown: int) -> None:
    with pytest.raises(ValueError, match="both need an example"):
        ood_separation(np.zeros(known), np.zeros(unknown))


def compute_delong_variance(
    first: tuple[NDArray[Any], NDArray[Any]], second: tuple[NDArray[Any], NDArray[Any]]
) -> float:
    """The variance of the difference as DeLong and others write it, pair by pair."""

    def kernel(known: NDArray[Any], unknown: NDArray[Any]) -> NDArray[Any]:
        return (unknown > known[:, None]) + 0.5 * (unknown == known[:, None])

    every = [kernel(*scores) for scores in (first, second)]
    known = np.cov([each.mean(axis=1) for each in every])
    unknown = np.cov([each.mean(axis=0) for each in every])
    covariance = known / len(first[0]) + unknown / len(first[1])
    contrast = np.array([1, -1])
    return float(contrast @ covariance @ contrast)


def add_noise(
    rng: np.random.Generator, known: NDArray[Any], unknown: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    return known + rng.standard_normal(len(known)), unknown + rng.standard_normal(len(unknown))


@pytest.mark.parametrize("levels", [None, 5])
def test_the_interval_of_two_areas_is_delongs(levels: int | None) -> None:
    rng = np.random.default_rng(3)
    shared = rng.standard_normal(60), 1 + rng.standard_normal(40)
    first, second = (add_noise(rng, *shared) for _ in range(2))
    if levels:  # ties
        first = np.round(first[0] * levels / 4), np.round(first[1] * levels / 4)
    found = compare_aurocs(first, second)
    assert found.first == pytest.approx(ood_separation(*first).auroc)
    assert found.second == pytest.approx(ood_separation(*second).auroc)
    reach = 1.959964 * np.sqrt(compute_delong_variance(first, second))
    change = found.first - found.second
    assert (found.low, found.high) == pytest.approx((change - reach, change + reach), abs=1e-6)


def test_the_interval_of_two_areas_holds_the_truth_as_often_as_it_says() -> None:
    rng, held, times = np.random.default_rng(0), 0, 400
    for _ in range(times):
        shared = rng.standard_normal(120), 1 + rng.standard_normal(120)
        first, second = (add_noise(rng, *shared) for _ in range(2))
        found = compare_aurocs(first, second)
        held += found.low <= 0 <= found.high
    assert 0.92 <= held / times <= 0.98


def test_scores_of_other_examples_are_not_compared() -> None:
    one, other = np.arange(5.0), np.arange(6.0)
    with pytest.raises(ValueError, match="same examples"):
        compare_aurocs((one, one), (one, other))
    with pytest.raises(ValueError, match="two of each kind"):
        compare_aurocs((one[:1], one), (one[:1], one))
