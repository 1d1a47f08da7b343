"""Sentences on calibration: one claim in one line, carried by the figures below it."""

from dataclasses import replace

import numpy as np
import pytest

from ensemble.analysis.quality.calibration_noise import CalibrationErrorEstimate
from ensemble.analysis.quality.calibration_test import CalibrationBinTest, CalibrationTest, calibration_test
from ensemble.analysis.quality.temperature_scaling import (
    TemperatureComparison,
    apply_temperature,
    compare_fitted_temperatures,
)
from ensemble.views import calibration as words
from tests.analysis.cases import labelled

NARROW = "\N{NO-BREAK SPACE}"


def answers(*parts: tuple[float, int, int]) -> CalibrationTest:
    """Of groups of (confidence, how many, how many of them right)."""
    confidence = np.repeat([sure for sure, _, _ in parts], [n for _, n, _ in parts])
    right = np.concatenate([np.arange(n) < hits for _, n, hits in parts])
    return calibration_test(confidence, right)


LESS = answers((0.992, 10_000, 9_944))
MORE = answers((0.99, 500, 480))
NONE = answers((0.98, 500, 491))
A_BIN = answers((0.63, 60, 22), (0.8, 300, 255), (0.97, 1_000, 971))
SURER = answers((0.63, 60, 59), (0.8, 300, 229), (0.97, 1_000, 966))
FULL = answers((0.995, 9_000, 8_920), (0.75, 1_000, 785))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (LESS, "Less sure than it could be: 99.20 % sure on average, 99.44 % right."),
        (MORE, "Surer than it should be: 99.0 % sure on average, 96.0 % right."),
        (NONE, "These 500 digits show no difference between confidence and accuracy."),
        (answers((0.6, 1, 1)), "This one digit shows no difference between confidence and accuracy."),
        (A_BIN, "No difference on average, but of answers that are 60 to 67 % sure only 37 % are right."),
        (SURER, "No difference on average, but of answers that are 60 to 67 % sure, 98 % are right."),
        (FULL, "No difference on average, but answers that are 93 to 100 % sure are wrong more often."),
    ],
    ids=["less", "more", "none", "one", "a bin", "a bin less sure", "the last bin"],
)
def test_a_verdict_is_one_line_that_says_which_way(found: CalibrationTest, said: str) -> None:
    assert words.describe_calibration(found, "digit") == said
    assert len(words.describe_calibration(found, "image")) <= 90
    for figure in ("z = ", f"p{NARROW}"):
        assert figure in words.describe_calibration_evidence(found, "digit")


def test_what_is_not_significant_is_never_called_the_same() -> None:
    said = words.describe_calibration(NONE, "digit") + words.describe_calibration_evidence(NONE, "digit")
    assert "well calibrated" not in said
    assert "same" not in said
    assert "as often as" not in said


def test_the_evidence_holds_z_the_exact_p_and_how_many() -> None:
    said = words.describe_calibration_evidence(NONE, "digit").replace(NARROW, " ")
    assert said == (
        "z = 0.3, p = 0.91 (exact, Poisson binomial), 500 digits: 491 right, 490.0 expected. A "
        "difference counts at p < 0.04, in one bin 0.01; not shown does not mean that there is "
        "none."
    )
    assert "60 to 67 %: 63.0 % sure on average, 36.7 % right, 60 digits, z = −4.2" in (
        words.describe_calibration_evidence(A_BIN, "digit").replace(NARROW, " ")
    )


def test_two_shares_that_differ_never_read_alike() -> None:
    one = CalibrationBinTest(0, 1, 1_000_000, 994_441, expected=994_438.0, z=3.1, p=0.002)
    assert words.format_confidence_and_accuracy(one) == ("99.4438 %", "99.4441 %")
    assert words.format_z_score(-np.inf) == "−∞"
    assert words.format_z_score(-0.01) == "0.0"


def test_the_error_stands_beside_what_chance_alone_would_give() -> None:
    said = words.describe_calibration_error(CalibrationErrorEstimate(500, 0.0312, 0.0, 0.0571, 0.026, 0.0141, 0.0402))
    assert said == (
        "ECE 0.0312 (95 %: 0 to 0.057). A perfectly calibrated ensemble would show 0.0260 by "
        "chance (95 % of draws: 0.014 to 0.040)."
    )


@pytest.fixture(scope="module")
def too_sure() -> TemperatureComparison:
    """Members twice as sure as they should be, of labels drawn from what they first said."""
    rows = labelled(1, 600, 10)[0].astype(float)
    rng = np.random.default_rng(0)
    labels = (rows[0].cumsum(axis=1) < rng.random((600, 1))).sum(axis=1).clip(max=9)
    return compare_fitted_temperatures(apply_temperature(rows, 0.5), labels)


def test_a_temperature_against_the_mean_confidence_is_explained(too_sure: TemperatureComparison) -> None:
    assert words.explain_opposite_temperature(MORE, too_sure) == ""
    assert words.explain_opposite_temperature(NONE, too_sure) == ""
    opposite = words.explain_opposite_temperature(LESS, too_sure)
    assert opposite.startswith("This goes against the mean confidence")
    open_ = replace(too_sure, scaled_average=replace(too_sure.scaled_average, saved_low=-0.001))
    assert words.explain_opposite_temperature(LESS, open_) == ""


def test_a_temperature_is_praised_only_where_its_interval_excludes_none(too_sure: TemperatureComparison) -> None:
    said = words.describe_temperature_gain(too_sure, "digit")
    assert 1.7 < too_sure.scaled_average.temperature < 2.3
    assert said.startswith("Making it less sure (temperature 1.89) lowers the NLL by 0.15 nats")
    open_ = replace(too_sure, scaled_average=replace(too_sure.scaled_average, saved_low=-0.001))
    assert words.describe_temperature_gain(open_, "digit") == (
        "Making it less sure (temperature 1.89) is not shown to help on these 300 digits."
    )
    worse = replace(too_sure, scaled_average=replace(too_sure.scaled_average, saved_low=-0.2, saved_high=-0.1))
    assert "makes the NLL worse: leave it at 1." in words.describe_temperature_gain(worse, "digit")
    assert "falls by −0.20 to −0.10 nats" in words.describe_temperature_evidence(worse, "digit")


@pytest.mark.parametrize(("temperature", "ways"), [(1 / 16, "surer"), (16.0, "less sure")])
def test_a_temperature_at_the_edge_of_what_was_looked_for_is_none(
    too_sure: TemperatureComparison, temperature: float, ways: str
) -> None:
    edge = replace(too_sure.scaled_average, temperature=temperature)
    said = words.describe_temperature_gain(replace(too_sure, scaled_average=edge), "digit")
    assert said == (
        f"No temperature from 0.0625 to 16 is best: the NLL goes on falling the {ways} it gets. Leave it at 1."
    )


def test_it_is_said_on_which_images_it_was_fitted(too_sure: TemperatureComparison) -> None:
    assert words.describe_temperature_evidence(too_sure, "digit").endswith(
        "Fitted on one half of the test digits (300), judged on the other 300: figures of all 600 differ."
    )
    apart = replace(too_sure, fitted=90, offered=90, judged=600, halved=False)
    assert words.describe_temperature_evidence(apart, "digit").endswith(
        "Fitted on the 90 validation digits, judged on the 600 test digits."
    )


def test_an_nll_that_may_rise_or_fall_is_reported_with_both_ends(too_sure: TemperatureComparison) -> None:
    open_ = replace(too_sure.scaled_average, temperature=1.25, saved=0.01, saved_low=-0.002, saved_high=0.03)
    text = words.describe_temperature_evidence(replace(too_sure, scaled_average=open_), "digit")
    assert text.startswith(
        "At 1.25 the NLL may fall by up to 0.030 nats or rise by up to 0.0020 (paired 95 % interval). "
    )
    shown = replace(open_, saved_low=0.004)
    text = words.describe_temperature_evidence(replace(too_sure, scaled_average=shown), "digit")
    assert text.startswith("At 1.25 the NLL falls by 0.0040 to 0.030 nats (paired 95 % interval). ")
