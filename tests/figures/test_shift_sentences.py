"""What is said of a corruption: whether confidence, uncertainty and a threshold hold there."""

from typing import Any

import pytest

from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.views.shift import describe_corruption_effect, describe_shift_trust

KIND = CORRUPTION_KINDS["rotation"]


def measured(**changes: Any) -> dict[str, Any]:
    """The figures of two members on 500 images, 12 % of which are right at 74 % confidence."""
    return {
        "amount": KIND.amounts[-1],
        "ensemble_accuracy": 0.12,
        "ensemble_nll": 4.0,
        "member_accuracy": [0.11, 0.12],
        "member_nll": [4.2, 4.3],
        "mean_epistemic": 0.3,
        "mean_confidence": 0.74,
        "confidence_gap": [0.584, 0.652],
        "error_auroc": [0.52, 0.45, 0.59],
        "answer_threshold": 0.9,
        "answered": 200,
        "answered_wrong": 170,
        **changes,
    }


CLEAN = measured(amount=KIND.neutral_amount, ensemble_accuracy=0.98, member_accuracy=[0.97, 0.97], mean_epistemic=0.01)


def test_an_ensemble_that_is_sure_and_wrong_is_never_said_to_notice() -> None:
    said = describe_corruption_effect([CLEAN, measured()], KIND, 500, "digit")
    assert "notice" not in said
    assert "It is 74 % sure on average: **too sure** by 58 to 65 points (95 %)." in said
    assert (
        "Its uncertainty is not shown to tell wrong answers from right ones (AUROC 0.52, 95 % "
        "interval 0.45 to 0.59)." in said
    )
    assert (
        "The threshold that lets 1 % errors through on the digits as they are answers 40.0 % of "
        "these, 85.0 % of them wrongly (79.4 % to 89.3 %)." in said
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"confidence_gap": [-0.2, -0.1]},
            "It is 74 % sure on average: less sure than right, by 10 to 20 points (95 %).",
        ),
        (
            {"confidence_gap": [-0.02, 0.03]},
            "It is 74 % sure on average, which is not shown to differ from its accuracy (−2 to +3 points, 95 %).",
        ),
        (
            {"error_auroc": [0.9, 0.85, 0.94]},
            "Its uncertainty tells wrong answers from right ones (AUROC 0.90, 95 % interval 0.85 to 0.94).",
        ),
        (
            {"error_auroc": [0.65, 0.6, 0.7]},
            "Its uncertainty tells little of which answers are wrong (AUROC 0.65, 95 % interval 0.60 to 0.70).",
        ),
        ({"error_auroc": None}, "Too few answers are wrong, or right, to say whether uncertainty tells which."),
        (
            {"answered": 0, "answered_wrong": 0},
            "The threshold that lets 1 % errors through on the digits as they are answers none of these.",
        ),
    ],
)
def test_each_finding_has_its_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in describe_shift_trust(CLEAN, measured(**changes), 500, "digit")


def test_without_a_threshold_on_the_images_as_they_are_none_is_promised() -> None:
    clean = {**CLEAN, "answer_threshold": None}
    said = describe_shift_trust(clean, measured(), 500, "digit")[-1]
    assert said == "No threshold keeps errors to 1 % on the digits as they are."


def test_results_of_an_earlier_version_are_to_be_measured_again() -> None:
    new = ("mean_confidence", "confidence_gap", "error_auroc", "answer_threshold", "answered")
    old = {name: value for name, value in measured().items() if name not in new}
    (said,) = describe_shift_trust(CLEAN, old, 500, "digit")
    assert said == (
        "Epistemic uncertainty goes from 0.0100 to 0.300 nats; measure again to see whether the "
        "uncertainty can be relied on."
    )
