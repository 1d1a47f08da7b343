"""Which of two sentences stands where only the surest answers count, at the very edge too."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ensemble.analysis.quality.selective import ConfidenceThreshold, risk_coverage
from ensemble.views import selective as words

FOUND = ConfidenceThreshold(
    0.9, 0.5, error=0.02, low=0.01, high=0.08, answered=50, wrong=1, n=100, fitted=99, halved=True
)


@pytest.mark.parametrize(
    ("rate", "end"),
    [
        (0.0004, ": more than the 0.04 % that you accept."),
        # One of 50, of which 0.9 % were to be wrong: by chance in 36 of 100 draws.
        (0.009, ": above the 0.9 % that you accept, on too few answers to say that it is more."),
        (0.019, ": above the 1.9 % that you accept, on too few answers to say that it is more."),
        (0.02, ": too few answers to show 2 %."),
        (0.079, ": too few answers to show 7.9 %."),
        (0.08, "."),
        (0.5, "."),
    ],
)
def test_a_rate_is_missed_or_not_shown_or_kept(rate: float, end: str) -> None:
    errs = f"is wrong on 1 of these 50, 2.00 % (1.00 to 8.00 %){end}"
    assert words.describe_selective_answer(FOUND, rate, "the ensemble", "digit") == (
        f"Answering only where it is at least 90.0 % sure, the ensemble answers 50.0 % of the digits and {errs}"
    )
    every = replace(FOUND, coverage=1.0)
    assert (
        words.describe_selective_answer(every, rate, "member 2", "digit") == f"Answering every digit, member 2 {errs}"
    )


@pytest.mark.parametrize("halved", [True, False])
def test_on_which_images_is_said_alike_in_every_sentence(halved: bool) -> None:
    found = replace(FOUND, halved=halved)
    where = (
        "Thresholds are set on one half of the test set (99); answers and mistakes are counted on "
        "the other (100), where more may be wrong"
        if halved
        else "Thresholds are set on the 99 validation digits; answers and mistakes are counted on "
        "the 100 test digits, where more may be wrong"
    )
    assert words.describe_threshold_images(found, "digit") == where
    none = replace(found, answered=0, coverage=0.0)
    end = "on the other half." if halved else "of the test digits."
    assert words.describe_selective_answer(none, 0.05, "the ensemble", "digit").endswith(f"answers none {end}")


@pytest.mark.parametrize("accuracy", [0.5, 0.9, 0.99])
def test_augrc_follows_from_auroc_and_accuracy(accuracy: float) -> None:
    draws = np.random.default_rng(7)
    right = draws.random(800) < accuracy
    confidence = draws.permutation(800) / 800 + 0.3001 * right  # no ties
    errors, n = int((~right).sum()), len(right)
    auroc = roc_auc_score(right, confidence)
    expected = (1 - auroc) * errors * (n - errors) / n**2 + errors * (errors + 1) / (2 * n**2)
    assert words.compute_augrc(risk_coverage(confidence, right)) == pytest.approx(expected)


def test_augrc_counts_the_errors_that_are_answered_at_each_coverage() -> None:
    right = np.array([True, False, True, False])
    curve = risk_coverage(np.array([0.9, 0.8, 0.7, 0.6]), right)
    assert words.compute_augrc(curve) == pytest.approx((0 + 1 + 1 + 2) / 4 / 4)
