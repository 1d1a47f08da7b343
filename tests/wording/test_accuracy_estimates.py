"""The accuracy of images without labels, in words."""

from typing import Any

import pytest

from ensemble.analysis.unlabelled.accuracy_estimate import AccuracyEstimate, EstimatedShare
from ensemble.wording.accuracy_estimates import _describe_accuracy_estimate


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.912, 0.912), "About 91.2 % of these 300 images"),
        ((0.934, 0.912), "About 91.2 to 93.4 % of these 300 images"),
    ],
)
def test_estimates_that_differ_are_a_range(values: tuple[float, float], said: str) -> None:
    shares = {str(place): EstimatedShare(value, value - 0.02, value + 0.02) for place, value in enumerate(values)}
    estimate = AccuracyEstimate(300, 500, shares, None, 0.1, None, (), (0.89, 0.96))
    fit: Any = None  # only a refusal refers to it
    sentence = _describe_accuracy_estimate(estimate, fit, "test", "image")
    assert sentence.startswith(f"{said} will be right")
    assert sentence.endswith("(89.0 to 96.0 %).")
