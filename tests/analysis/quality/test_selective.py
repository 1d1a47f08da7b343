import math

import numpy as np
import pytest
from scipy.stats import binomtest

from ensemble.analysis.quality.halves import split_halves
from ensemble.analysis.quality.selective import fit_confidence_threshold, risk_coverage


def examples(N: int, seed: int = 0, levels: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Confidences, of a few levels only if asked for, and answers right as often as they say."""
    draws = np.random.default_rng(seed)
    confidence = draws.uniform(0.3, 1, N)
    if levels:
        confidence = np.round(confidence * levels) / levels
    return confidence, draws.random(N) < confidence


@pytest.mark.parametrize("levels", [None, 7])
def test_curve_agrees_with_a_loop(levels: int | None) -> None:
    confidence, right = examples(300, levels=levels)
    found = risk_coverage(confidence, right)
    rows = []
    for threshold in sorted(confidence.tolist(), reverse=True):
        answered = [n for n in range(300) if confidence[n] >= threshold]
        wrong = sum(not right[n] for n in answered)
        rows.append((len(answered) / 300, wrong / len(answered), threshold))
    np.testing.assert_array_equal(np.stack([found.coverage, found.risk, found.threshold], 1), rows)
    assert found.aurc == pytest.approx(sum(risk for _, risk, _ in rows) / 300, rel=1e-12)


def test_best_area_is_that_of_a_confidence_that_knows() -> None:
    _, right = examples(250, seed=3)
    knows = risk_coverage(np.where(right, 0.9, 0.1) + np.linspace(0, 0.01, 250), right)
    assert knows.aurc == pytest.approx(knows.aurc_best, rel=1e-12)


def test_best_area_is_near_the_formula_of_the_paper() -> None:
    confidence, right = examples(20_000, seed=1)
    r = 1 - right.mean()
    found = risk_coverage(confidence, right)
    assert found.aurc_best == pytest.approx(r + (1 - r) * math.log(1 - r), abs=1e-3)
    assert found.aurc > found.aurc_best


def test_confidence_that_says_nothing_has_the_rate_of_errors_everywhere() -> None:
    right = np.arange(40) % 4 > 0
    found = risk_coverage(np.full(40, 0.5), right)
    assert set(found.risk) == {0.25}
    assert set(found.coverage) == {1.0}
    assert found.aurc == 0.25


@pytest.mark.parametrize(("right", "area"), [(True, 0.0), (False, 1.0)])
def test_all_right_and_all_wrong(right: bool, area: float) -> None:
    found = risk_coverage(np.linspace(0.4, 1, 20), np.full(20, right))
    assert (found.aurc, found.aurc_best) == (area, area)


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05, 0.2, 1.0])
@pytest.mark.parametrize("levels", [None, 7])
def test_choice_answers_most_within_the_rate(rate: float, levels: int | None) -> None:
    confidence, right = examples(600, seed=2, levels=levels)
    labels = np.random.default_rng(1).integers(0, 10, 600)
    found = fit_confidence_threshold(confidence, right, labels, rate)
    fitted, judged = split_halves(labels)

    def errors(half: np.ndarray, threshold: float) -> tuple[int, int]:
        answered = half & (confidence >= threshold)
        return int(answered.sum()), int((answered & ~right).sum())

    within = []
    for threshold in confidence[fitted]:
        kept, wrong = errors(fitted, threshold)
        if wrong <= rate * kept:
            within.append(kept)
    assert found.n == judged.sum()
    if not within:
        assert not found.is_reached
        assert (found.answered, found.coverage, found.low, found.high) == (0, 0, 0, 1)
        assert math.isnan(found.error)
        return
    assert found.is_reached
    assert errors(fitted, found.threshold)[0] == max(within)
    assert (found.answered, found.wrong) == errors(judged, found.threshold)
    assert found.coverage == found.answered / found.n
    assert found.error == found.wrong / found.answered
    interval = binomtest(found.wrong, found.answered).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_everything_is_answered_where_nothing_is_wrong() -> None:
    """Also what is less sure than anything on the half where the threshold was looked for."""
    found = fit_confidence_threshold(np.linspace(0.99, 0.3, 50), np.ones(50, bool), np.zeros(50, int), 0.0)
    assert (found.threshold, found.coverage, found.answered, found.n) == (0.0, 1.0, 25, 25)


def test_none_is_answered_where_the_surest_is_wrong() -> None:
    confidence = np.linspace(0.3, 0.99, 50)
    found = fit_confidence_threshold(confidence, confidence < 0.9, np.zeros(50, int), 0.0)
    assert not found.is_reached
    assert found.threshold == math.inf
    assert found.answered == found.wrong == 0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        fit_confidence_threshold(np.ones(4), np.ones(4, bool), np.zeros(4, int), 1.5)
    with pytest.raises(ValueError, match="confidences"):
        risk_coverage(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(ValueError, match="confidences"):
        risk_coverage(np.zeros(3), np.zeros(2, bool))
