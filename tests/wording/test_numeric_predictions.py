"""Sentences on predicted numbers: ends in their order, and above is not below."""

import math

import pytest

from ensemble.analysis.numeric.numeric_diagnosis import ErrorRatio, MeanError
from ensemble.analysis.numeric.numeric_quality import IntervalCoverage
from ensemble.wording import numeric_predictions as words


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ((0.4, 0.1, 0.9), "0.400 above the predictions (0.100 to 0.900): the predictions are too low."),
        ((-0.4, -0.9, -0.1), "0.400 below the predictions (-0.900 to -0.100): the predictions are too high."),
        ((0.4, -0.2, 1.1), "0.400 above the predictions (-0.200 to 1.10)."),
    ],
)
def test_the_mean_error_says_on_which_side_targets_lie(error: tuple[float, float, float], text: str) -> None:
    mean, low, high = error
    assert words.describe_mean_error(MeanError(mean, low, high)) == f"On average targets lie {text}"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.9, 1.02, "95 % interval: 10 % lower to 2 % higher"),
        (0.8, 0.9, "95 % interval: 20 % lower to 10 % lower"),
        (0.0, 0.9, "95 % interval: at least 10 % lower"),
        (1.05, math.inf, "95 % interval: at least 5 % higher"),
        (0.9, math.inf, "too few examples for an interval"),
    ],
)
def test_the_interval_of_a_ratio_goes_from_the_lower_change_to_the_higher(low: float, high: float, text: str) -> None:
    assert words.format_error_range(ErrorRatio(1.0, low, high)) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.82, 0.89, "they are too narrow"),
        (0.82, 0.9, "no sign that they promise too much or too little"),
        (0.9, 0.97, "no sign that they promise too much or too little"),
        (0.91, 0.97, "they are wider than they need be"),
    ],
)
def test_intervals_are_too_narrow_or_too_wide_if_the_share_they_hold_is_shown_to_be_off(
    low: float, high: float, text: str
) -> None:
    found = words.describe_coverage(IntervalCoverage(0.9, 0.88, low, high, 1.0))
    assert found.endswith(f"of the targets ({100 * low:.0f} % to {100 * high:.0f} %): {text}")
