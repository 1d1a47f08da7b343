"""To answer only where it is sure: the threshold, what is answered and what is wrong of it."""

import pandas as pd

from ensemble.analysis.quality.selective import ConfidenceThreshold, RiskCoverage
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun


def describe_threshold_images(one: ConfidenceThreshold, noun: str) -> str:
    """On which images a threshold was found, and on which what comes of it was counted."""
    if one.halved:
        return (
            f"Thresholds are set on one half of the test set ({one.fitted:,}); answers and "
            f"mistakes are counted on the other ({one.n:,}), where more may be wrong"
        )
    return (
        f"Thresholds are set on the {one.fitted:,} validation {pluralize_noun(noun)}; answers and "
        f"mistakes are counted on the {one.n:,} test {pluralize_noun(noun)}, where more may be "
        "wrong"
    )


def describe_selective_answer(found: ConfidenceThreshold, rate: float, who: str, noun: str) -> str:
    """What is answered and what is wrong of it, with the threshold for an error rate."""
    if not found.is_reached:
        return (
            f"No threshold keeps wrong answers to {format_accepted_rate(rate)}: even of the "
            f"{pluralize_noun(noun)} that {who} is surest of, more are wrong."
        )
    if not found.answered:
        sure = formats.format_confidence_threshold(found.threshold)
        return (
            f"The threshold for {format_accepted_rate(rate)} wrong answers is so high ({sure}) "
            f"that {who} "
            "answers none "
            f"{'on the other half' if found.halved else f'of the test {pluralize_noun(noun)}'}."
        )
    errs = f"is wrong on {format_error_interval(found)} of them"
    if found.error > rate:
        errs += f": more than the {format_accepted_rate(rate)} that you accept"
    elif found.high > rate:
        errs += f": too few answers to show {format_accepted_rate(rate)}"
    if found.coverage == 1:
        return f"Answering every {noun}, {who} {errs}."
    sure = formats.format_confidence_threshold(found.threshold)
    return (
        f"Answering only where it is at least {sure} sure, {who} answers "
        f"{formats.format_percent(found.coverage, found.n)} of the {pluralize_noun(noun)} and "
        f"{errs}."
    )


def format_accepted_rate(rate: float) -> str:
    """An error rate that was chosen: "5 %", "0.5 %"."""
    return formats.format_percent(rate, figures=2)


def format_error_interval(found: ConfidenceThreshold) -> str:
    """The share that is wrong with the ends of its 95 % interval: "0.52 % (0.10 to 2.31 %)"."""
    return (
        f"{format_error_rate(found.error)} "
        f"({formats.format_percent_range(found.low, found.high, places=2)})"
    )


def format_error_rate(error: float) -> str:
    """The share of answers that are wrong, to two decimals: there are to be few."""
    return formats.format_percent(error, places=2)


def explain_risk_coverage_chart(ensemble: RiskCoverage, noun: str) -> str:
    """What to see in the curve."""
    return (
        f"From left to right more {pluralize_noun(noun)} are answered, the surest first: the later "
        f"a curve rises, the better it knows which of its answers are wrong. All answered, "
        f"{format_error_rate(float(ensemble.risk[-1]))} are."
    )


def tabulate_selective_metrics(
    curves: list[RiskCoverage], found: list[ConfidenceThreshold], n: int
) -> pd.DataFrame:
    """One row for the ensemble, then each member: AURC, and what the threshold gives."""
    M = len(curves) - 1
    rows = zip(curves, found, strict=True)
    return pd.DataFrame(
        [
            {
                "who": "ensemble" if M and not place else f"member {max(1, place)}",
                "AURC": formats.format_significant(curve.aurc),
                "threshold": formats.format_confidence_threshold(one.threshold)
                if one.is_reached
                else "none",
                "answered": formats.format_percent(one.coverage, n) if one.is_reached else "–",
                "of these wrong": format_error_interval(one) if one.answered else "–",
            }
            for place, (curve, one) in enumerate(rows)
        ]
    )


def explain_selective_table(
    curve: RiskCoverage, found: ConfidenceThreshold, who: str, noun: str
) -> str:
    """What the columns of `tabulate_selective_metrics` are, and on what they were counted."""
    return (
        "AURC: the area under the curve, the mean share of wrong answers over all coverages. Were "
        f"every wrong {noun} the least sure, {who}'s would be "
        f"{formats.format_significant(curve.aurc_best)}. {describe_threshold_images(found, noun)}; "
        f"in brackets the 95 % "
        "interval."
    )
