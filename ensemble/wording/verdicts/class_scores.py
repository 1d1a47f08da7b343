"""Classes in words: which is right least often, and what the classes come to on average."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ensemble.analysis.quality.class_scores import ClassScores, ClasswiseCalibration, LowestGroup, ScoreInterval
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import format_p_value

_SIGNIFICANT_P = 0.05
MAX_NAME_LETTERS = 24


def describe_lowest_class(scores: ClassScores, names: Sequence[str], noun: str) -> str:
    lowest, present = scores.lowest, int((scores.counts > 0).sum())
    name = _shorten_name(names[lowest])
    if present < 2:
        return f"All test {pluralize_noun(noun)} are of one class, {name}."
    if scores.recall[lowest] == 1:
        return f"Every test {noun} is right, in every class."
    n = int(scores.counts.sum())
    share = formats.format_percent(float(scores.recall[lowest]), n)
    others = formats.format_percent(scores.others_recall, n)
    if scores.lowest_p < _SIGNIFICANT_P:
        return f"“{name}” is right less often than the other classes: {share} against {others}."
    return f"No class is shown to be right less often; lowest is “{name}” with {share}."


def describe_lowest_class_evidence(scores: ClassScores, noun: str) -> str:
    """The counts, the interval and the test of the lowest class; "" where none is lowest."""
    lowest, present = scores.lowest, int((scores.counts > 0).sum())
    if present < 2 or scores.recall[lowest] == 1:
        return ""
    ends = formats.format_percent_range(float(scores.low[lowest]), float(scores.high[lowest]), places=1)
    count = int(scores.counts[lowest])
    return (
        f"{int(scores.right[lowest]):,} of {formats.format_count(count, noun)} right: {ends} "
        f"(95 %, for all {present:,} classes at once); against the others "
        f"{format_p_value(scores.lowest_p)} (Fisher's exact test, corrected for {present:,} "
        f"classes){_explain_silence(scores.lowest_p)}."
    )


def describe_class_averages(scores: ClassScores) -> str:
    """Balanced accuracy and macro F1 with their intervals."""
    n = int(scores.counts.sum())
    return (
        "Balanced accuracy, the mean over classes: "
        f"{_format_score(scores.balanced_accuracy, n)}; macro F1: "
        f"{_format_score(scores.macro_f1, n)}; both with 95 % intervals."
    )


def describe_classwise_calibration(calibration: ClasswiseCalibration) -> str:
    """The class-wise calibration error, beside what chance makes of it."""
    error, chance, high = (
        formats.format_significant(value, 2)
        for value in (calibration.error, calibration.chance, calibration.chance_high)
    )
    verdict = (
        "more than chance makes"
        if calibration.error > calibration.chance_high
        else "not shown to be more than chance makes"
    )
    return (
        f"Class-wise calibration error {error}: {verdict} of labels that are drawn from these "
        f"very probabilities ({chance} on average, in 95 of 100 draws up to {high})."
    )


def describe_lowest_group(lowest: LowestGroup, noun: str) -> str:
    n = lowest.count
    share = formats.format_percent(lowest.right / n, n)
    others = formats.format_percent(lowest.others)
    which = f"that of {noun} {lowest.first:,}"
    begin = (
        f"One group of images is right less often than the others, {which}: {share} against {others}"
        if lowest.p < _SIGNIFICANT_P
        else f"No group of images is shown to be right less often; lowest is {which} with {share}"
    )
    ends = formats.format_percent_range(lowest.low, lowest.high, places=1)
    return (
        f"{begin} ({lowest.right:,} of {n:,}; {ends} for all {lowest.groups:,} groups of at least "
        f"{formats.format_count(lowest.least, noun)} at once, {format_p_value(lowest.p)} after correction for them)."
    )


def tabulate_class_scores(scores: ClassScores, names: Sequence[str], noun: str) -> pd.DataFrame:
    n = int(scores.counts.sum())
    rows = []
    for number in _order_classes(scores):
        low, high = float(scores.low[number]), float(scores.high[number])
        rows.append(
            {
                "class": names[number],
                pluralize_noun(noun): f"{int(scores.counts[number]):,}",
                "right": formats.format_percent(float(scores.recall[number]), n),
                "interval": "–" if np.isnan(low) else formats.format_percent_range(low, high, places=1),
                "precision": formats.format_percent(float(scores.precision[number]), n),
                "F1": formats.format_percent(float(scores.f1[number]), n),
                "says more often by": f"{100 * scores.excess[number]:+.2f}".replace("-", "−"),
            }
        )
    return pd.DataFrame(rows)


def tabulate_class_values(scores: ClassScores, names: Sequence[str]) -> pd.DataFrame:
    """The same to keep: shares in [0, 1], classes in their order."""
    return pd.DataFrame(
        {
            "class": list(names),
            "images": scores.counts,
            "said": scores.said,
            "right": scores.right,
            "recall": scores.recall,
            "recall low": scores.low,
            "recall high": scores.high,
            "precision": scores.precision,
            "f1": scores.f1,
            "mean probability less share": scores.excess,
        }
    )


def explain_class_table(noun: str) -> str:
    """How to read `tabulate_class_scores`."""
    images = pluralize_noun(noun)
    return (
        f"Right: the share of the class's {images} that the ensemble gets right (recall); "
        "its interval holds for all classes at once. Precision: of what is said to be of the class, the share that is. "
        "F1: the harmonic mean of both. Says more often by: "
        f"the mean probability given to the class less the share of {images} that are of it, in percentage points."
    )


def _shorten_name(name: str) -> str:
    return name if len(name) <= MAX_NAME_LETTERS else f"{name[: MAX_NAME_LETTERS - 1]}…"


def _order_classes(scores: ClassScores) -> list[int]:
    used = np.flatnonzero(scores.counts + scores.said)
    recall = np.nan_to_num(scores.recall[used], nan=2.0)
    return [int(number) for number in used[np.lexsort((used, recall))]]


def _format_score(score: ScoreInterval, n: int) -> str:
    places = formats.count_percent_decimals(n)
    ends = formats.format_percent_range(score.low, score.high, places)
    return f"{formats.format_percent(score.value, n)} ({ends})"


def _explain_silence(p: float) -> str:
    return "" if p < _SIGNIFICANT_P else "; of several equal classes chance always makes one the lowest"
