"""Rank correlation of both uncertainties, and the paired comparison of what they detect."""

import numpy as np
import pytest
from scipy.stats import spearmanr, t
from sklearn.metrics import roc_auc_score

from ensemble.analysis.members.entanglement import compare_detectors, estimate_rank_correlation, measure_detection
from ensemble.analysis.quality.ood import compare_aurocs

DRAWS = 300
MOST_WRONG = 27  # of 300: more has a probability below 0.2 % if the error rate is 5 %


def draw_scores(
    draws: np.random.Generator, n: int, hits: int, better: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two related scores (N,) of as good detectors, unless the first is better, and the hits."""
    is_hit = np.arange(n) < hits
    scores = draws.normal(size=(2, n)) + draws.normal(size=n) + is_hit
    scores[0] += better * is_hit
    return scores[0], scores[1], is_hit


@pytest.mark.parametrize("levels", [None, 2])
@pytest.mark.parametrize("n", [20, 57, 400])
def test_the_correlation_is_spearmans_and_inside_its_interval(n: int, levels: int | None) -> None:
    first, second, _ = draw_scores(np.random.default_rng(n), n, 0)
    if levels:
        first, second = np.round(first * levels), np.round(second * levels)
    found = estimate_rank_correlation(first, second)
    assert found is not None
    assert found.value == pytest.approx(spearmanr(first, second).statistic, abs=1e-8)
    assert -1 < found.low < found.value < found.high < 1


def test_the_interval_of_the_correlation_is_that_of_a_jackknife_on_fishers_scale() -> None:
    first, second, _ = draw_scores(np.random.default_rng(3), 60, 0)
    found = estimate_rank_correlation(first, second)
    assert found is not None
    blocks = np.arange(60) % 20
    without = [spearmanr(first[blocks != block], second[blocks != block]).statistic for block in range(20)]
    partial = np.arctanh(without)
    error = np.sqrt(19 / 20 * ((partial - partial.mean()) ** 2).sum())
    reach = t.ppf(0.975, 19) * error
    whole = np.arctanh(spearmanr(first, second).statistic)
    assert (found.low, found.high) == pytest.approx((np.tanh(whole - reach), np.tanh(whole + reach)), abs=1e-6)


def test_the_interval_of_the_correlation_contains_the_truth() -> None:
    draws = np.random.default_rng(1)
    truth = 6 / np.pi * np.arcsin(0.5 / 2)  # of a normal pair with a correlation of 0.5
    missed = 0
    for _ in range(DRAWS):
        found = estimate_rank_correlation(*draw_scores(draws, 120, 0)[:2])
        assert found is not None
        missed += not found.low <= truth <= found.high
    assert 2 <= missed <= MOST_WRONG


def test_copies_of_examples_do_not_narrow_the_intervals() -> None:
    first, second, hits = draw_scores(np.random.default_rng(2), 100, 40)
    copies = np.repeat(np.arange(100), 5)
    alone = estimate_rank_correlation(first, second)
    repeated = estimate_rank_correlation(first[copies], second[copies], copies)
    counted = estimate_rank_correlation(first[copies], second[copies])
    assert alone
    assert repeated
    assert counted
    assert repeated.high - repeated.low == pytest.approx(alone.high - alone.low, rel=0.01)
    assert counted.high - counted.low < 0.7 * (alone.high - alone.low)
    one = compare_detectors(first, second, hits)
    five = compare_detectors(first[copies], second[copies], hits[copies], copies)
    assert five.first == pytest.approx(one.first)
    assert five.high - five.low == pytest.approx(one.high - one.low, rel=0.1)


def test_too_few_examples_and_a_constant_have_no_correlation() -> None:
    first, second, _ = draw_scores(np.random.default_rng(3), 40, 0)
    assert estimate_rank_correlation(first[:19], second[:19]) is None
    assert estimate_rank_correlation(first, second, np.arange(40) // 3) is None
    assert estimate_rank_correlation(first, np.zeros(40)) is None
    same = estimate_rank_correlation(first, first)
    assert same is not None
    assert same.low == pytest.approx(1)


def test_aurocs_are_scikit_learns_and_the_interval_is_delongs_if_examples_abound() -> None:
    first, second, hits = draw_scores(np.random.default_rng(4), 4000, 1500)
    found = compare_detectors(first, second, hits)
    reference = compare_aurocs((first[~hits], first[hits]), (second[~hits], second[hits]))
    assert found.first == pytest.approx(roc_auc_score(hits, first), abs=1e-12)
    assert found.second == pytest.approx(roc_auc_score(hits, second), abs=1e-12)
    assert found.low == pytest.approx(reference.low, abs=1e-3)
    assert found.high == pytest.approx(reference.high, abs=1e-3)


@pytest.mark.parametrize(("n", "hits"), [(30, 2), (200, 3), (200, 20), (500, 250)])
def test_equal_detectors_are_hardly_ever_said_to_differ(n: int, hits: int) -> None:
    draws = np.random.default_rng(hits)
    found = [compare_detectors(*draw_scores(draws, n, hits)) for _ in range(DRAWS)]
    assert sum(each.low > 0 or each.high < 0 for each in found) <= MOST_WRONG


def test_a_better_detector_is_found() -> None:
    draws = np.random.default_rng(5)
    found = [compare_detectors(*draw_scores(draws, 500, 60, better=1.5)) for _ in range(50)]
    assert sum(each.low > 0 for each in found) >= 45
    assert not any(each.high < 0 for each in found)


def test_scores_that_cannot_be_told_apart_leave_everything_open() -> None:
    score, hits = np.arange(10.0), np.arange(10) >= 8
    same = compare_detectors(score, score, hits)
    assert (same.first, same.second, same.low, same.high) == (1, 1, -1, 1)


def test_detection_needs_two_of_either_and_widens_with_the_number_of_tests() -> None:
    first, second, hits = draw_scores(np.random.default_rng(6), 100, 30)
    assert measure_detection("errors", first, second, np.arange(100) < 1) is None
    assert measure_detection("errors", first, second, np.arange(100) < 99) is None
    one, five = (measure_detection("errors", first, second, hits, tests=n) for n in (1, 5))
    assert one
    assert five
    assert one.aleatoric.value == pytest.approx(one.difference.second)
    assert one.epistemic.value == pytest.approx(one.difference.first)
    assert five.difference.low < one.difference.low
    assert five.difference.high > one.difference.high
