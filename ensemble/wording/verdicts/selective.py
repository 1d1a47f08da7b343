"""To answer only where it is sure: the threshold, what is answered and what is wrong of it."""

import pandas as pd

from ensemble.analysis.quality.selective import ConfidenceThreshold, RiskCoverage
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun


def describe_threshold_images(threshold: ConfidenceThreshold, noun: str) -> str:
    if threshold.halved:
        return (
            f"Thresholds are set on one half of the test set ({threshold.fitted:,}); "
            f"answers and mistakes are counted on the other ({threshold.n:,}), where more may be wrong"
        )
    return (
        f"Thresholds are set on the {threshold.fitted:,} validation "
        f"{pluralize_noun(noun)}; answers and mistakes are counted on the "
        f"{threshold.n:,} test {pluralize_noun(noun)}, where more may be wrong"
    )


def describe_selective_answer(threshold: ConfidenceThreshold, rate: float, who: str, noun: str) -> str:
    """What is answered and what is wrong of it, with the threshold for an error rate."""
    if not threshold.is_reached:
        return (
            f"No threshold keeps wrong answers to {format_accepted_rate(rate)}: even of the "
            f"{pluralize_noun(noun)} that {who} is surest of, more are wrong."
        )
    if not threshold.answered:
        sure = formats.format_confidence_threshold(threshold.threshold)
        of_these = "on the other half" if threshold.halved else f"of the test {pluralize_noun(noun)}"
        return (
            f"The threshold for {format_accepted_rate(rate)} wrong answers is so high ({sure}) "
            f"that {who} answers none {of_these}."
        )
    errs = f"is wrong on {threshold.wrong:,} of these {threshold.answered:,}, {_format_error_interval(threshold)}"
    accepted = format_accepted_rate(rate)
    if threshold.is_above(rate):
        errs += f": more than the {accepted} that you accept"
    elif threshold.error > rate:
        errs += f": above the {accepted} that you accept, on too few answers to say that it is more"
    elif threshold.high > rate:
        errs += f": too few answers to show {accepted}"
    if threshold.coverage == 1:
        return f"Answering every {noun}, {who} {errs}."
    sure = formats.format_confidence_threshold(threshold.threshold)
    return (
        f"Answering only where it is at least {sure} sure, "
        f"{who} answers {formats.format_percent(threshold.coverage, threshold.n)} "
        f"of the {pluralize_noun(noun)} and {errs}."
    )


def format_accepted_rate(rate: float) -> str:
    """An error rate that was chosen: "5 %", "0.5 %"."""
    return formats.format_percent(rate, figures=2)


def _format_error_interval(threshold: ConfidenceThreshold) -> str:
    """The share that is wrong with the ends of its 95 % interval: "0.52 % (0.10 to 2.31 %)"."""
    low, high = threshold.low, threshold.high
    ends = formats.format_percent_range(low, high, places=2)
    return f"{_format_error_rate(threshold.error)} ({ends})"


def _format_error_rate(error: float) -> str:
    """The share of answers that are wrong, to two decimals: there are to be few."""
    return formats.format_percent(error, places=2)


def explain_risk_coverage_chart(ensemble: RiskCoverage, noun: str) -> str:
    return (
        f"From left to right more {pluralize_noun(noun)} are answered, the surest first: the "
        "longer a curve stays low, the better wrong answers are told from right ones. With every "
        f"{noun} answered, {_format_error_rate(float(ensemble.risk[-1]))} of the answers are wrong."
    )


def tabulate_selective_metrics(
    curves: list[RiskCoverage], confidence_thresholds: list[ConfidenceThreshold], n: int
) -> pd.DataFrame:
    """One row for the ensemble, then each member: AURC, and what the threshold gives."""
    M = len(curves) - 1
    rows = zip(curves, confidence_thresholds, strict=True)
    return pd.DataFrame(
        [
            {
                "who": "ensemble" if M and not place else f"member {max(1, place)}",
                "AURC": formats.format_significant(curve.aurc),
                "threshold": formats.format_confidence_threshold(threshold.threshold)
                if threshold.is_reached
                else "none",
                "answered": formats.format_percent(threshold.coverage, n) if threshold.is_reached else "–",
                "of these wrong": _format_error_interval(threshold) if threshold.answered else "–",
            }
            for place, (curve, threshold) in enumerate(rows)
        ]
    )


def explain_selective_table(curve: RiskCoverage, threshold: ConfidenceThreshold, who: str, noun: str) -> str:
    """What the columns of `tabulate_selective_metrics` are, and on what they were counted."""
    return (
        "AURC: the area under the curve, the mean share of wrong answers over all coverages. "
        f"Were every wrong {noun} the least sure, {who}'s would be {formats.format_significant(curve.aurc_best)}. "
        f"{describe_threshold_images(threshold, noun)}; in brackets the 95 % interval."
    )
