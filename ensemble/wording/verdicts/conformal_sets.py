"""Conformal sets in words: a set, what is promised of sets, and what they came to."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.quality.conformal import ConformalThreshold
from ensemble.analysis.quality.coverage import ConformalCoverage, coverage_p_value
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

_JudgedSets = Mapping[str, tuple[ConformalThreshold, ConformalCoverage]]

METHOD_NAMES = {"aps": "Adaptive (APS)", "raps": "Regularised (RAPS)", "lac": "Smallest (LAC)"}
_BROKEN_PROMISE_LEVEL = 0.05  # of the draws in which the promise is kept, so many are called broken at most
METHODS_HELP = (
    "Adaptive (APS): the likeliest classes until enough probability stands ahead; never empty. "
    "Regularised (RAPS): the same, with a price on each further class. Smallest (LAC): every class "
    "above one probability, the smallest sets on average; a set can be empty. All keep the promise."
)


def format_class_set(row: NDArray[np.bool_], names: Sequence[str]) -> str:
    """A set of classes, (C,): "{4, 9}", "{}", or "any of the 10"."""
    if row.all() and len(names) > 2:
        return f"any of the {len(names)}"
    return "{" + ", ".join(name for name, kept in zip(names, row, strict=True) if kept) + "}"


def format_set_level(error_rate: float) -> str:
    """What share of sets is to hold the label: "95 %" for an error rate of 0.05."""
    return formats.format_percent(1 - error_rate, figures=2)


def explain_uncalibrated_sets(threshold: ConformalThreshold, noun: str) -> str:
    """Why every set holds all classes; "" where they do not have to."""
    if threshold.has_enough_examples:
        return ""
    return (
        f"{threshold.n:,} calibration {pluralize_noun(noun)} are too few for lists that "
        f"are right {format_set_level(threshold.error_rate)} of the time: it takes "
        f"{threshold.min_examples:,}. Until then every list names all classes."
    )


def describe_conformal_sets(threshold: ConformalThreshold, coverage: ConformalCoverage, noun: str) -> str:
    if few := explain_uncalibrated_sets(threshold, noun):
        return few
    right = noun if noun == "digit" else "class"
    places = formats.count_percent_decimals(coverage.n)
    share = formats.format_percent(coverage.coverage, coverage.n)
    ends = formats.format_percent_range(*coverage.coverage_interval, places)
    text = f"Lists of {_format_mean_set_size(coverage.mean_size)} hold the right {right} {share} of the time"
    level = format_set_level(threshold.error_rate)
    return (
        f"{text} ({ends}): less than promised ({level})."
        if coverage_p_value(threshold, coverage) < _BROKEN_PROMISE_LEVEL
        else f"{text} ({ends}; aim: {level})."
    )


def _format_mean_set_size(mean: float) -> str:
    """A mean size: "1.08 classes on average"."""
    return f"{formats.format_significant(mean)} classes on average"


def describe_calibration_images(fitted: int, judged: int, noun: str, halved: bool) -> str:
    """On which images sets were calibrated and on which judged: a sentence without its end.

    Args:
      halved: whether both are halves of the test images; else the former were held out.
    """
    if halved:
        return f"Calibrated on one half of the test {pluralize_noun(noun)} ({fitted:,}), judged on the other {judged:,}"
    return (
        f"Calibrated on the {fitted:,} validation {pluralize_noun(noun)}, judged on the {judged:,} "
        f"test {pluralize_noun(noun)}"
    )


def describe_coverage_promise(threshold: ConformalThreshold, noun: str, halved: bool = True) -> str:
    """What is promised and of which images, in full.

    Args:
      halved: whether they were calibrated on test images; else on images held out of training.
    """
    low, high = threshold.expected_coverage
    like = "these" if halved else "the validation images"
    text = (
        f"The promise: for new {pluralize_noun(noun)} like {like}, the list holds the right class "
        f"{format_set_level(threshold.error_rate)} of the time or more. That is on "
        "average over calibrations"
    )
    if threshold.has_enough_examples:
        percent_range = formats.format_percent_range(low, high, 1)
        text += f"; with {threshold.n:,} calibration {pluralize_noun(noun)} most give {percent_range}"
    return f"{text}. It is no promise for each class or each image, nor for images from elsewhere or under shift."


def summarize_conformal_sets(sets: NDArray[np.bool_], covered: int, error_rate: float, noun: str) -> str:
    """Sets (N, C) of all test images in a line."""
    sizes = sets.sum(axis=1)
    several, none = int((sizes > 1).sum()), int((sizes == 0).sum())
    text = (
        f"Lists made to hold the right answer {format_set_level(error_rate)} of the time: "
        f"{formats.format_percent(covered / len(sets), len(sets))} do; {several:,} of "
        f"{len(sets):,} name two or more"
    )
    return f"{text}, {none:,} none." if none else f"{text}."


def format_image_set(row: NDArray[np.bool_], error_rate: float, names: Sequence[str]) -> str:
    """One image's set: "{4, 9} at 95 %"."""
    return f"{format_class_set(row, names)} at {format_set_level(error_rate)}"


def explain_unsure_set(row: NDArray[np.bool_], probabilities: NDArray[Any]) -> str:
    """Why one image's list names one class that is not likely; "" where it does not.

    Args:
      row: (C,), whether each class is in the list.
      probabilities: (C,), averaged over the members.
    """
    if row.sum() != 1 or (share := float(probabilities[row][0])) >= _UNSURE_SHARE:
        return ""
    return (
        "Lists keep their promise on average over images; of this one alone the probability, "
        f"{formats.format_probability(share)}, says more."
    )


def explain_lost_promise(noun: str, set_on: str = "test") -> str:
    """That a person's own pictures have no promise.

    Args:
      set_on: the images that the sets were calibrated on: "validation" or "test".
    """
    whose = "the validation images" if set_on == "validation" else "the test set's"
    return (
        f"Lists hold on average, for {pluralize_noun(noun)} like {whose}. Yours were written and "
        "photographed differently, so here they are only a hint and may miss more often."
    )


_UNSURE_SHARE = 0.6  # a single class of a list that is less likely reads as a contradiction
MAX_LISTED_CLASSES = 30  # classes in a table of many


def explain_set_sizes_chart(coverage: ConformalCoverage, noun: str) -> str:
    n = coverage.n
    text = (
        f"{formats.format_percent(coverage.singleton_count / n, n)} "
        f"of the {pluralize_noun(noun)} get a list of one class"
    )
    several = n - coverage.singleton_count - coverage.empty_count
    text += f", {formats.format_percent(several / n, n)} two or more"
    if coverage.empty_count:
        text += f", {formats.format_percent(coverage.empty_count / n, n)} none: no class is likely enough"
    return f"{text}. Orange: lists without the right class."


def tabulate_set_methods(each: _JudgedSets) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "sets": METHOD_NAMES[name],
                "hold it": _format_coverage(coverage.covered, coverage.n),
                "mean size": formats.format_significant(coverage.mean_size),
                "one class": f"{coverage.singleton_count:,}",
                "none": f"{coverage.empty_count:,}",
                "largest": f"{coverage.sizes.nonzero()[0].max():,}",
                "threshold": formats.format_significant(threshold.threshold)
                if threshold.has_enough_examples
                else "none",
            }
            for name, (threshold, coverage) in each.items()
        ]
    )


def select_least_covered_classes(coverage: ConformalCoverage, most: int = MAX_LISTED_CLASSES) -> list[int]:
    """The classes to list: all, or of many those whose sets hold the label least often."""
    classes = np.arange(len(coverage.class_n))
    if len(classes) <= most:
        return [int(index) for index in classes]
    class_numbers = classes[coverage.class_n > 0]
    share = coverage.class_covered[class_numbers] / coverage.class_n[class_numbers]
    return [int(index) for index in class_numbers[np.lexsort((-coverage.class_n[class_numbers], share))[:most]]]


def tabulate_sets_by_class(coverage: ConformalCoverage, names: Sequence[str], listed: Sequence[int]) -> pd.DataFrame:
    """A row for each class: the promise is for all together, and some classes may get less."""
    rows = (
        (names[c], int(coverage.class_n[c]), int(coverage.class_covered[c]), coverage.class_size[c]) for c in listed
    )
    return pd.DataFrame(
        [
            {
                "class": name,
                "images": f"{n:,}",
                "hold it": _format_coverage(covered, n),
                "mean size": formats.format_significant(float(size)) if n else "–",
            }
            for name, n, covered, size in rows
        ]
    )


def _format_coverage(covered: int, n: int) -> str:
    """A share of sets with the ends of its 95 % interval: "96.4 % (93.3 to 98.1 %)"."""
    if not n:
        return "–"
    ends = formats.format_percent_range(*wilson_interval(covered, n), places=formats.count_percent_decimals(n))
    return f"{formats.format_percent(covered / n, n)} ({ends})"
