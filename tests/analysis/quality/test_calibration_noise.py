"""What chance makes of the ECE against answers drawn one by one; and its interval's coverage."""

import numpy as np
import pytest
from scipy.stats import binom

from ensemble.analysis.inference.image_groups import estimate_design_effect
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.calibration import expected_calibration_error, reliability_bins
from ensemble.analysis.quality.calibration_noise import (
    estimate_calibration_error,
    estimate_ensemble_calibration_error,
    simulate_chance_calibration_errors,
)
from tests.analysis.cases import cases
from tests.conftest import variant


def sure(n: int, power: float = 8, seed: int = 0) -> np.ndarray:
    return 1 - 0.7 * np.random.default_rng(seed).random(n) ** power


@pytest.mark.parametrize("n", [40, 500])
def test_chance_is_that_of_answers_drawn_one_by_one(n: int) -> None:
    confidence, rng = sure(n), np.random.default_rng(1)
    slow = [expected_calibration_error(confidence, rng.random(n) < confidence) for _ in range(1_000)]
    found = simulate_chance_calibration_errors(confidence)
    error = np.std(slow) * np.sqrt(2 / 1_000)
    assert found.mean() == pytest.approx(np.mean(slow), abs=4 * error)
    for share in (0.025, 0.975):
        assert np.quantile(found, share) == pytest.approx(np.quantile(slow, share), abs=10 * error)


def test_chance_gives_more_on_few_digits_than_on_many_and_is_the_same_each_time() -> None:
    few, many = (estimate_calibration_error(sure(n), np.ones(n, bool)) for n in (500, 10_000))
    assert few.chance > 3 * many.chance
    assert few.chance_low < few.chance < few.chance_high
    assert estimate_calibration_error(sure(500), np.ones(500, bool)) == few


def test_certain_answers_have_nothing_to_chance() -> None:
    found = estimate_calibration_error(np.ones(30), np.ones(30, bool))
    assert (found.ece, found.low, found.chance, found.chance_high) == (0, 0, 0, 0)
    assert 0 < found.high < 0.2  # 30 of 30 is no proof of always


@pytest.mark.parametrize("grouped", [False, True])
def test_of_one_bin_the_ends_are_those_of_the_binomial_law(grouped: bool) -> None:
    """400 answers, 50 % sure, of which 90 % are right; in groups as few as they are worth."""
    right = np.arange(400) % 10 > 0
    groups = np.r_[np.arange(360) // 4, 90 + np.arange(40) // 4]
    right = np.sort(right)[::-1] if grouped else right
    effect = estimate_design_effect(right, np.full(400, 0.9), groups) if grouped else 1.0
    assert effect == 4.0 if grouped else effect == 1.0
    found = estimate_calibration_error(np.full(400, 0.5), right, groups=groups if grouped else None)
    chance = np.abs(np.arange(401) - 200) / 400
    order = np.argsort(chance, kind="stable")
    cumulated = binom.pmf(np.arange(401), 400, 0.5)[order].cumsum()
    low, high = (chance[order][np.searchsorted(cumulated, share)] for share in (0.025, 0.975))
    widening = np.sqrt(effect)
    assert found.chance == pytest.approx(widening * chance @ binom.pmf(np.arange(401), 400, 0.5), rel=0.06)
    assert (found.chance_low, found.chance_high) == pytest.approx((widening * low, widening * high), abs=0.0051)
    assert found.low == pytest.approx(0.4 - widening * high, abs=0.0051)
    first, last = wilson_interval(360 / effect, 400 / effect)
    assert found.high == pytest.approx(0.4 + max(last - 0.9, 0.9 - first))


@pytest.mark.parametrize(("n", "shift"), [(500, 0.3), variant(500, 0.0), variant(2_000, 1.5)])
def test_the_interval_holds_the_error_that_no_chance_is_in(n: int, shift: float) -> None:
    """The truth is each bin's true accuracy; at most 2.5 % miss at either end, and their noise."""
    confidence, rng, draws = sure(n, 4), np.random.default_rng(2), 60
    odds = confidence / (1 - confidence) * np.exp(-shift)
    truth = odds / (1 + odds)
    bins = reliability_bins(confidence, np.ones(n, bool))
    true = np.bincount(np.digitize(confidence, bins.edges[1:-1], right=True), truth, 15)
    said = np.nan_to_num(bins.confidence * bins.count)
    error = np.abs(true - said).sum() / n
    found = [estimate_calibration_error(confidence, rng.random(n) < truth, seed=s) for s in range(draws)]
    most = draws * 0.025 + 3 * np.sqrt(draws * 0.025)
    assert sum(one.low > error + 1e-12 for one in found) <= most
    assert sum(one.high < error for one in found) <= most
    assert all(one.low <= one.ece <= one.high for one in found)


@pytest.mark.long_cases
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_where_answers_belong_together_each_group_is_one_draw(shift: float) -> None:
    """100 groups of 10 answers, half of which are decided by their group's luck."""
    rng, draws, groups = np.random.default_rng(4), 60, np.arange(100).repeat(10)
    confidence = sure(100, 4).repeat(10)  # as sure of all of a group
    odds = confidence / (1 - confidence) * np.exp(-shift)
    truth = odds / (1 + odds)
    bins = reliability_bins(confidence, np.ones(1_000, bool))
    true = np.bincount(np.digitize(confidence, bins.edges[1:-1], right=True), truth, 15)
    error = np.abs(true - np.nan_to_num(bins.confidence * bins.count)).sum() / 1_000
    missed = {"grouped": 0, "independent": 0}
    for seed in range(draws):
        luck = np.where(rng.random(1_000) < 0.5, rng.random(100)[groups], rng.random(1_000))
        for name, index in (("grouped", groups), ("independent", None)):
            found = estimate_calibration_error(confidence, luck < truth, seed=seed, groups=index)
            missed[name] += not found.low - 1e-12 <= error <= found.high
    most = draws * 0.05 + 3 * np.sqrt(draws * 0.05)
    assert missed["grouped"] <= most
    if not shift:  # Without groups, calibrated answers are said to be off too often.
        assert missed["independent"] > most


def test_a_bootstrap_over_the_answers_would_miss_it() -> None:
    """Why it is none: of calibrated answers most of its intervals leave the true 0 out."""
    confidence, rng = sure(500, 4), np.random.default_rng(3)
    right = rng.random(500) < confidence
    drawn = [rng.integers(500, size=500) for _ in range(300)]
    errors = [expected_calibration_error(confidence[one], right[one]) for one in drawn]
    assert np.quantile(errors, 0.025) > 0
    assert estimate_calibration_error(confidence, right).low == 0


def test_of_an_ensemble_it_is_that_of_its_averaged_answers() -> None:
    probabilities, labels = cases()["random"]
    averaged = probabilities.astype(float).mean(axis=0)
    found = estimate_ensemble_calibration_error(evaluate_predictions(probabilities, labels))
    right = averaged.argmax(axis=1) == labels
    assert found.ece == pytest.approx(expected_calibration_error(averaged.max(axis=1), right), abs=1e-6)
    assert found.n == len(labels)


def test_no_example_and_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="confidences"):
        estimate_calibration_error(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(ValueError, match="confidences"):
        simulate_chance_calibration_errors(np.zeros(0))
    with pytest.raises(ValueError, match="confidences"):
        estimate_calibration_error(np.ones(3), np.ones(2, bool))
