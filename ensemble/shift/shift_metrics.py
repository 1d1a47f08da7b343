"""What images that have changed do to members and ensemble: a few figures for each change."""

import math
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import numpy as np

from ensemble.analysis.inference.image_groups import Groups, grouped_share_interval, select_groups
from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality.averaging import (
    Floats,
    Ints,
    average_probabilities,
    most_likely_classes,
    prediction_confidence,
)
from ensemble.analysis.quality.calibration import expected_calibration_error
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.storage.records.field_checks import Count, MetricValue, NumberRange, Share

_Shares = list[Share]
ERROR_RATE = 0.01  # of the answers given on the images as they are, for `answer_threshold`


class _AccuracyFitMetrics(TypedDict):
    """What `AccuracyReference.fit_images` took from labelled images, as a file has it."""

    source: Literal["validation", "half"]
    images: Count
    accuracy: Share
    disagreement: Share
    temperature: MetricValue
    threshold: MetricValue | None
    errors_per_disagreement: MetricValue | None
    calibration: Literal["none", "less sure", "too sure", "a bin"]


class _AccuracyEstimateMetrics(TypedDict):
    """What `AccuracyReference.estimate_images` says of images, as a file has it."""

    images: Count
    accuracy: Share
    agreement: _Shares | None
    confidence: _Shares | None
    threshold: _Shares | None
    unlike_p: Share
    unlike_measure: str


class ShiftMetrics(TypedDict):
    """The figures of `compute_shift_metrics`, as a file has them."""

    ensemble_accuracy: Share
    ensemble_nll: MetricValue
    ensemble_ece: Share
    member_accuracy: _Shares
    member_nll: list[MetricValue]
    member_ece: _Shares
    mean_epistemic: MetricValue
    mean_entropy: MetricValue
    mean_aleatoric: MetricValue
    # Files of earlier versions are without the rest.
    mean_confidence: NotRequired[Share]
    confidence_gap: NotRequired[list[MetricValue]]
    error_auroc: NotRequired[list[Share] | None]
    answer_threshold: NotRequired[MetricValue | None]
    answered: NotRequired[Count]
    answered_wrong: NotRequired[Count]
    answered_error: NotRequired[list[Share] | None]
    groups: NotRequired[Count | None]
    accuracy_fit: NotRequired[_AccuracyFitMetrics | None]  # of the images as they are alone
    accuracy_estimate: NotRequired[_AccuracyEstimateMetrics | None]


class CorruptionMetrics(ShiftMetrics):
    """The figures of one kind of corruption at one amount."""

    kind: str
    amount: MetricValue


class SeparationMetrics(TypedDict):
    """How well a score tells two sets of images apart."""

    auroc: Share
    fpr95: Share
    # Files of earlier versions are without the rest.
    aupr: NotRequired[Share]
    aupr_chance: NotRequired[Share]


class OodMetrics(TypedDict):
    """The figures of one set of out-of-distribution images."""

    key: str
    title: str
    images: Annotated[int, NumberRange(1, 2**53)]
    measures: dict[str, SeparationMetrics]  # of the ensemble, by the name of each measure
    members: list[SeparationMetrics]


def compute_shift_metrics(
    probabilities: Floats, labels: Ints, threshold: float | None = None, groups: Groups | None = None
) -> dict[str, Any]:
    """The figures of one change, ready for JSON: numbers and lists of numbers.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).
      threshold: of the confidence, found on the images as they are, from which on an answer is
        given; None where these are the images as they are: then it is found on them.
      groups: (N,), numbers from 0, of images that belong together, so that intervals count each
        group as one draw; None where all are independent.

    Returns:
      `ensemble_accuracy`, `ensemble_nll` (nats), `ensemble_ece`; `member_accuracy`,
      `member_nll`, `member_ece`, lists of M; and, all means over examples in nats,
      `mean_entropy` (of the average), `mean_aleatoric` (aleatoric: the mean
      over members of their own) and `mean_epistemic` (epistemic: the first less the second).
      `mean_confidence`, and `confidence_gap`, the 95 % interval of what it is above the accuracy;
      `error_auroc`, how well 1 − confidence tells wrong answers from right ones, with its interval
      (value, low, high), None where hardly any is wrong or right; `answer_threshold`, `answered`,
      how many reach it, `answered_wrong`, how many of those are wrong, and `answered_error`, the
      95 % interval of their share (None of no answer): the threshold lets through `ERROR_RATE`
      errors on the images as they are, None where none does. `groups`, as how many groups the
      images count; None where each counts by itself.

    Raises:
      ValueError: there is no example.

    Source: Y. Ovadia and others, "Can you trust your model's uncertainty? Evaluating
    predictive uncertainty under dataset shift", NeurIPS 2019.
    """
    if not len(labels):
        raise ValueError("There is no example to measure.")
    averaged = average_probabilities(probabilities)
    members = [_compute_classifier_metrics(member, labels) for member in probabilities]
    within = np.mean([figures["entropy"] for figures in members])
    whole = _compute_classifier_metrics(averaged, labels)
    return {
        **_compute_trust_metrics(averaged, labels, threshold, groups),
        "groups": None if groups is None else int(groups.max()) + 1,
        **{f"ensemble_{name}": whole[name] for name in ("accuracy", "nll", "ece")},
        **{f"member_{name}": [figures[name] for figures in members] for name in ("accuracy", "nll", "ece")},
        # Rounding can put an exact zero a little below it.
        "mean_epistemic": max(whole["entropy"] - float(within), 0.0),
        "mean_entropy": whole["entropy"],
        "mean_aleatoric": float(within),
    }


def _compute_trust_metrics(
    averaged: Floats, labels: Ints, threshold: float | None, groups: Groups | None
) -> dict[str, Any]:
    """Whether the ensemble's confidence can be relied on: against accuracy, errors, a threshold."""
    # Here, for they bring SciPy: who only reads results does without.
    from ensemble.analysis.quality.error_detection import estimate_confidence_gap, estimate_error_detection
    from ensemble.analysis.quality.selective import find_confidence_threshold

    confidence = prediction_confidence(averaged)
    right = most_likely_classes(averaged) == labels
    gap = estimate_confidence_gap(confidence, right, groups)
    auroc = estimate_error_detection(1 - confidence, right, groups)
    if threshold is None:
        threshold = find_confidence_threshold(confidence, right, ERROR_RATE)
    answered = confidence >= threshold
    return {
        "mean_confidence": gap.confidence,
        "confidence_gap": [gap.low, gap.high],
        "error_auroc": [auroc.value, auroc.low, auroc.high] if auroc else None,
        "answer_threshold": threshold if math.isfinite(threshold) else None,
        "answered": int(answered.sum()),
        "answered_wrong": int((answered & ~right).sum()),
        "answered_error": list(grouped_share_interval(~right[answered], select_groups(groups, answered)))
        if answered.any()
        else None,
    }


def _compute_classifier_metrics(distributions: Floats, labels: Ints) -> dict[str, float]:
    """Accuracy, NLL, ECE and mean entropy of one classifier (N, C)."""
    right = most_likely_classes(distributions) == labels
    doubles = distributions.astype(np.float64)
    return {
        "accuracy": float(right.mean()),
        "nll": float(log_loss(doubles, labels).mean()),
        "ece": expected_calibration_error(prediction_confidence(doubles), right),
        "entropy": float(entropy(doubles).mean()),
    }
