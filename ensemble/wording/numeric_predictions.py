"""What is said of an ensemble that predicts numbers."""

import math

from ensemble.analysis.numeric.numeric_evaluation import NumericEvaluation
from ensemble.analysis.numeric.numeric_quality import IntervalCoverage
from ensemble.wording import formats

METRIC_NAMES = {"squared_error": "squared error", "nll": "NLL", "crps": "CRPS"}


def describe_numeric_answer(evaluation: NumericEvaluation) -> str:
    """The two things asked first: how far off it is, and whether its intervals hold."""
    quality = evaluation.ensemble
    held = _describe_coverage(evaluation.main_coverage)
    return f"It is off by {formats.format_significant(quality.rmse)} (RMSE); {held}."


def _describe_coverage(coverage: IntervalCoverage) -> str:
    promised = formats.format_percent(coverage.level, figures=2)
    share, low, high = (
        formats.format_percent(value, figures=3)
        for value in (coverage.held, coverage.low, coverage.high)
    )
    found = f"its {promised} intervals hold {share} of the targets ({low} to {high})"
    if coverage.high < coverage.level:
        return f"{found}: they are too narrow"
    if coverage.low > coverage.level:
        return f"{found}: they are wider than they need be"
    return f"{found}: no sign that they promise too much or too little"


def list_numeric_sentences(evaluation: NumericEvaluation) -> list[str]:
    """The answer, and what it rests on; each a sentence."""
    quality, count = evaluation.ensemble, evaluation.ensemble.examples
    sentences = [
        describe_numeric_answer(evaluation),
        f"On {formats.format_count(count, 'example')}: mean absolute error "
        f"{formats.format_significant(quality.mae)}, R² {formats.format_significant(quality.r2)}, "
        f"NLL {formats.format_significant(quality.nll)} nats, "
        f"CRPS {formats.format_significant(quality.crps)}.",
        describe_variance_parts(evaluation),
    ]
    if evaluation.gains:
        sentences.append(describe_numeric_gains(evaluation))
    if evaluation.conformal:
        sentences.append(describe_conformal_intervals(evaluation))
    return sentences


def describe_variance_parts(evaluation: NumericEvaluation) -> str:
    """What of the predicted variance is noise, and what is the members' disagreement."""
    total = evaluation.aleatoric + evaluation.epistemic
    if len(evaluation.members) == 1:
        return "One member says nothing of what more members would disagree on."
    share = formats.format_percent(evaluation.epistemic / total, figures=2)
    return (
        f"{share} of the predicted variance is the members' disagreement (epistemic); the rest is "
        "the noise that each of them expects (aleatoric)."
    )


def describe_numeric_gains(evaluation: NumericEvaluation) -> str:
    """What the ensemble saves against a member drawn at random, with intervals."""
    parts = [
        f"{METRIC_NAMES[gain.metric]} {formats.format_significant(gain.gain)} "
        f"({formats.format_significant(gain.low)} to {formats.format_significant(gain.high)})"
        for gain in evaluation.gains
    ]
    return (
        f"Against a member drawn at random the ensemble saves on these examples: "
        f"{', '.join(parts)}; intervals of 95 %. By Jensen's inequality it never loses; only the "
        "size is a finding."
    )


def describe_conformal_intervals(evaluation: NumericEvaluation) -> str:
    """The intervals with a promise, and on which examples they were set and counted."""
    conformal = evaluation.conformal
    assert conformal
    level = formats.format_percent(conformal.level, figures=2)
    if math.isinf(conformal.factor):
        return f"Too few examples to promise that intervals hold {level} of new targets."
    held = formats.format_percent(conformal.held, figures=3)
    counted = evaluation.ensemble.examples - conformal.calibrated_on
    return (
        f"Mean ± {formats.format_significant(conformal.factor)} σ is promised to hold {level} of "
        f"new targets like these: the factor was chosen on {conformal.calibrated_on:,} of the "
        f"examples and held {held} of the other {counted:,}."
    )
