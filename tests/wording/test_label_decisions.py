"""Decisions about labels in words: what mending labels did, and what is not shown."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ensemble.analysis.members.gain import PairedGain
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.comparison.mended_labels import MendedComparison
from ensemble.wording import label_decisions as words


def gain(digits: float, low: float, high: float, n: int = 1000) -> PairedGain:
    return PairedGain(n, digits, low, high, 0.0, 0.0, 0.0, 1, 1, p=0.01, nll_p=1.0)


def compared(**changes: Any) -> MendedComparison:
    usual = MendedComparison(gain(3, 1, 6), gain(1, -2, 4, 990), 10, 2, (41, 0), 8, 7)
    return replace(usual, **changes)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (gain(3, 1, 6), "+0.3 points (0.1 to 0.6)"),
        (gain(-3, -6, -1), "−0.3 points (−0.6 to −0.1)"),
        (gain(3, -1, 6), "+0.3 points (−0.1 to +0.6), which shows no difference"),
        (gain(0, 0, 0), "±0.0 points (±0.0 to ±0.0), which shows no difference"),
    ],
)
def test_a_gain_has_its_interval_and_where_it_holds_nothing_that_is_said(found: PairedGain, expected: str) -> None:
    assert words.format_point_gain(found) == expected


def test_the_claim_says_what_was_mended_and_the_caution_whom_it_favours() -> None:
    assert words.describe_mended_gain(compared()) == ("With 41 labels mended: +0.3 points (0.1 to 0.6).")
    both = words.describe_mended_gain(compared(mended=(1, 3)))
    assert both.startswith("With 1 label mended and 3 images removed: ")
    assert words.describe_mended_gain(compared(mended=None)).startswith("With other labels: ")
    caution = words.describe_test_label_caution(compared(), "digit")
    assert caution.startswith("10 test labels were changed and 2 test digits are left out, ")
    assert "that favours the members" in caution
    assert "On the 990 digits whose label nobody changed: +0.1 points" in caution
    assert words.describe_test_label_caution(compared(relabeled=0, left_out=0), "digit") == ""
    basis = words.describe_mended_basis(compared(), "new", "old", "digit")
    assert "“new” after epoch 8 less that of “old” after epoch 7" in basis
    assert "these two trained runs" in basis


def test_votes_are_counted_by_the_class_and_the_label_is_named_where_nobody_says_it() -> None:
    probabilities = np.full((3, 1, 3), 0.1)
    for member, vote in enumerate((2, 2, 1)):
        probabilities[member, 0, vote] = 0.8
    predictions = evaluate_predictions(probabilities.astype(np.float32), np.array([0], np.int32))
    votes = words.describe_queue_votes(predictions, 0, ("ox", "bee", "ant"))
    assert votes.startswith("Of 3 members 2 say “ant”, 1 says “bee”, none says ox. They give the ")
