"""Estimated against true accuracy under shift: what is drawn, said and tabulated of it."""

from dataclasses import replace
from typing import Any

import pytest

from ensemble.figures.palette import DARK, LIGHT, Palette
from ensemble.shift import StressResults
from ensemble.views.accuracy_estimates import (
    EstimatedStep,
    collect_estimated_steps,
    describe_estimated_steps,
    plot_estimated_steps,
    tabulate_estimated_steps,
)
from ensemble.wording.accuracy_estimates import describe_estimate_basis

FIT = {"source": "half", "images": 250, "accuracy": 0.9, "calibration": "none"}


def estimated(accuracy: float, confidence: float, p: float) -> dict[str, Any]:
    return {
        "images": 250,
        "accuracy": accuracy,
        "agreement": None,
        "confidence": [confidence, confidence - 0.05, confidence + 0.05],
        "threshold": [accuracy, accuracy, accuracy],
        "unlike_p": p,
        "unlike_measure": "entropy",
    }


def results(**fit: Any) -> StressResults:
    """On the images as they are all is well; noise deceives, and is noticed where it is strong."""
    steps = [
        {"kind": "noise", "amount": 0.1, "accuracy_estimate": estimated(0.89, 0.905, 0.4)},
        {"kind": "noise", "amount": 0.6, "accuracy_estimate": estimated(0.61, 0.84, 1e-9)},
        {"kind": "blur", "amount": 3, "accuracy_estimate": estimated(0.7, 0.5, 1e-9)},
    ]
    clean = {"accuracy_fit": FIT | fit, "accuracy_estimate": estimated(0.9, 0.904, 0.9)}
    return StressResults(11, 1, 0, "digits", 500, 2, clean=clean, steps=steps)


def test_the_sentence_names_the_worst_promise_and_how_often_a_check_fails() -> None:
    steps = collect_estimated_steps(results())
    assert [step.refused for step in steps] == [False, False, True, True]
    assert describe_estimated_steps(steps, "digit") == (
        "On the digits as they are, all estimates are within 0.4 points of the accuracy. At noise "
        "σ 0.6, confidence at a temperature says that **84 %** are right; **61 %** are. For 2 of "
        "the 3 corruptions a check fails; the range of lower trust holds the accuracy of 2 of "
        "them; for the other one the estimates are at most 1.5 points off."
    )
    # Of the noise an estimate has changed by more than 10 points: there is no lower end.
    assert steps[2].range == pytest.approx((0, 0.95))
    # 90.5 ± 5 points and a change of 0.5 by one estimate; 89 and a change of 1 by the other.
    assert steps[1].range == pytest.approx((0.85, 0.96))


def test_every_estimate_has_lower_trust_if_confidence_is_not_calibrated() -> None:
    uncalibrated = results(calibration="too sure")
    steps = collect_estimated_steps(uncalibrated)
    assert all(step.refused for step in steps)
    assert describe_estimated_steps(steps, "digit").endswith(
        "For 3 of the 3 corruptions a check fails; the range of lower trust holds the accuracy of 3 of them."
    )
    assert uncalibrated.clean
    clean = uncalibrated.clean
    said = describe_estimate_basis(clean["accuracy_fit"], clean["accuracy_estimate"], "digit")
    assert "lower trust is shown, because confidence is not calibrated on those" in said


def test_what_was_not_estimated_is_left_out() -> None:
    nothing = replace(results(), clean={"accuracy_fit": None, "accuracy_estimate": None})
    assert collect_estimated_steps(nothing) == []
    assert collect_estimated_steps(replace(results(), clean=None)) == []
    (alone,) = collect_estimated_steps(replace(results(), steps=[]))
    assert describe_estimated_steps([alone], "digit").endswith("points of the accuracy.")


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_a_point_is_hollow_if_a_check_fails(palette: Palette) -> None:
    steps = collect_estimated_steps(results())
    drawn = {trace.name: trace for trace in plot_estimated_steps(steps, "digit", "", palette).data}
    assert "agreement of members" not in drawn, "no two disagree"
    confidence = drawn["confidence at a temperature"]
    assert list(confidence.x) == [0.904, 0.905, 0.84, 0.5]
    for x, y, symbol in zip(confidence.x, confidence.y, confidence.marker.symbol, strict=True):
        assert symbol.endswith("-open") == (y < 0.8), (x, y)
    assert "84 % (79 to 89 %),<br>61 % are right" in " ".join(confidence.hovertext)


def test_the_table_has_every_estimate_with_its_interval() -> None:
    frame = tabulate_estimated_steps(collect_estimated_steps(results()))
    assert len(frame) == 4 * 2
    row = frame[(frame["corruption"] == "noise") & (frame["estimate"] == "confidence")].iloc[-1]
    assert row[["amount", "estimated", "low", "right", "kept_back"]].tolist() == pytest.approx(
        [0.6, 0.84, 0.79, 0.61, True]
    )


def test_the_furthest_estimate_is_told_from_the_highest() -> None:
    step = EstimatedStep("", None, "", 0.5, {"agreement": (0.1, 0, 1), "threshold": (0.6, 0, 1)}, False, "", 1.0)
    assert step.find_largest_error() == ("agreement", pytest.approx(-0.4))
    assert step.find_worst_promise() == ("threshold", pytest.approx(0.1))
