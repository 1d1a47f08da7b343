"""Whether confidence is deserved: z by hand, p against SciPy, and how often it is wrong."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm, t

from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.quality.calibration import reliability_bins
from ensemble.analysis.quality.calibration_test import CalibrationTest, calibration_test
from tests.conftest import variant


def answers(parts: list[tuple[float, int, int]]) -> CalibrationTest:
    """Of groups of (confidence, how many, how many of them right)."""
    confidence = np.repeat([sure for sure, _, _ in parts], [n for _, n, _ in parts])
    right = np.concatenate([np.arange(n) < hits for _, n, hits in parts])
    return calibration_test(confidence, right)


def test_a_run_that_is_less_sure_than_it_could_be_is_not_called_calibrated() -> None:
    """99.20 % sure on average and 99.44 % right: z = 3.1, whatever its bins look like."""
    # Some sure, some less, so that Σ conf (1 − conf) is 60 rather than 79, as in a trained run.
    found = answers([(0.9995, 9_650, 9_646), (0.7825, 350, 298)])
    assert found.overall.confidence == pytest.approx(0.9919, abs=2e-4)
    assert found.overall.accuracy == 0.9944
    variance = 9_650 * 0.9995 * 0.0005 + 350 * 0.7825 * 0.2175
    expected = 9_650 * 0.9995 + 350 * 0.7825
    assert found.overall.z == pytest.approx((9_944 - expected) / np.sqrt(variance), rel=1e-9)
    assert found.overall.z == pytest.approx(3.1, abs=0.2)
    assert found.overall.p < 0.01
    assert found.verdict == "less sure"


def test_answers_that_err_more_often_than_said_are_too_sure() -> None:
    found = answers([(0.9, 1_000, 860)])
    assert found.overall.z == pytest.approx(-40 / np.sqrt(90), rel=1e-9)
    assert found.overall.p == pytest.approx(2 * binomtest(860, 1_000, 0.9, "less").pvalue, rel=1e-6)
    assert found.verdict == "too sure"


def test_faults_that_cancel_are_found_in_their_bin() -> None:
    found = answers([(0.63, 60, 22), (0.8, 300, 255), (0.97, 1_000, 971)])
    assert found.overall.p > 0.3
    assert found.verdict == "a bin"
    worst, p = found.worst_bin
    assert (worst.n, worst.right) == (60, 22)
    assert worst.low < 0.63 < worst.high
    alone = [
        min(1, 2 * min(binomtest(k, n, c, side).pvalue for side in ("less", "greater")))
        for c, n, k in [(0.63, 60, 22), (0.8, 300, 255), (0.97, 1_000, 971)]
    ]
    np.testing.assert_allclose(found.adjusted_p_values, adjust_p_holm(alone), rtol=1e-6)
    assert p == pytest.approx(3 * alone[0], rel=1e-6)


def test_the_bins_are_those_of_the_diagram() -> None:
    draws = np.random.default_rng(0)
    confidence = np.concatenate([draws.random(400), [0.0, 0.2, 1 / 3, 1.0]]).astype(np.float32)
    right = draws.random(404) < 0.5
    found, drawn = calibration_test(confidence, right), reliability_bins(confidence, right)
    filled = drawn.count > 0
    assert [one.n for one in found.bins] == drawn.count[filled].tolist()
    np.testing.assert_allclose([one.accuracy for one in found.bins], drawn.accuracy[filled])
    np.testing.assert_allclose([one.low for one in found.bins], drawn.edges[:-1][filled])


def test_certain_answers_that_are_right_are_no_evidence_and_one_that_errs_is_proof() -> None:
    assert answers([(1.0, 50, 50)]).verdict == "none"
    assert answers([(1.0, 50, 50)]).overall.z == 0
    erring = answers([(1.0, 50, 49)])
    assert erring.overall.z == -np.inf
    assert erring.verdict == "too sure"


def test_answers_in_groups_are_tested_as_many_as_they_are_worth() -> None:
    """Of equally sure answers that is the binomial test of n / effect answers, as far from what is expected."""
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(120), 5)
    right = (rng.random(120) < 0.74)[groups] ^ (rng.random(600) < 0.08)
    sums = (right - 0.8).reshape(120, 5).sum(axis=1)
    student = t.ppf(0.98, 119) / norm.ppf(0.98)  # a level of 4 % for all answers together
    effect = (sums**2).sum() / (600 * 0.16) * student**2
    found = calibration_test(np.full(600, 0.8), right, groups=groups).overall
    worth, below = round(600 / effect), (480 - right.sum()) / effect
    assert found.z == pytest.approx((right.sum() - 480) / np.sqrt(600 * 0.16 * effect))
    assert found.z < -1
    assert found.p == pytest.approx(2 * binom.cdf(np.ceil(0.8 * worth - below), worth, 0.8))
    assert (found.n, found.groups) == (600, 120)


@pytest.mark.parametrize(("n", "draws"), [(500, 150), variant(10_000, 30)])
def test_calibrated_answers_are_blamed_in_at_most_5_percent_of_draws(n: int, draws: int) -> None:
    """Seeds are fixed; three standard errors are allowed on top."""
    rng = np.random.default_rng(0)
    confidence = 1 - 0.7 * rng.random(n) ** 8
    blamed = sum(calibration_test(confidence, rng.random(n) < confidence).verdict != "none" for _ in range(draws))
    assert blamed / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)


def test_no_example_and_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="confidences"):
        calibration_test(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(ValueError, match="confidences"):
        calibration_test(np.ones(3), np.ones(2, bool))
