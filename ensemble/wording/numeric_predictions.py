"""Sentences about an ensemble that predicts numbers."""

import math
from collections.abc import Sequence

from ensemble.analysis.numeric.numeric_diagnosis import ErrorRatio, LeftOutMember, MeanError, PitHistogram, SpreadSkill
from ensemble.analysis.numeric.numeric_evaluation import NumericEvaluation
from ensemble.analysis.numeric.numeric_quality import IntervalCoverage
from ensemble.analysis.numeric.repeated_splits import SplitSummary
from ensemble.wording import formats
from ensemble.wording.formats import format_significant
from ensemble.wording.terms import SPLIT_LIMIT
from ensemble.wording.verdicts.ensemble_gain import format_p_value

METRIC_NAMES = {
    "squared_error": "squared error",
    "absolute_error": "absolute error",
    "nll": "NLL",
    "crps": "CRPS",
    "pinball": "pinball loss",
}
NO_SPREAD_SENTENCE = "Members gave numbers without a spread: there is no NLL, no CRPS and no interval of theirs."
_MAX_LISTED_SUSPECTS = 5
PIT_SHAPES = {
    "even": "No sign that its spreads are wrong: targets fall about as evenly as they should in what is predicted",
    "narrow": "Too many targets fall at the ends of what is predicted: its spreads are too small",
    "wide": "Too many targets fall in the middle of what is predicted: its spreads are too large",
    "low": "Too many targets fall above what is predicted: its numbers are too low",
    "high": "Too many targets fall below what is predicted: its numbers are too high",
    "uneven": "Targets do not fall as evenly within what is predicted as they should",
}


def format_with_unit(value: float | None, unit: str = "") -> str:
    text = format_significant(value)
    return f"{text} {unit}" if unit and value is not None else text


def describe_numeric_headline(evaluation: NumericEvaluation, ratio: ErrorRatio | None, unit: str = "") -> str:
    """The answer in a line: how far off the ensemble is, and what it saves against a member."""
    rmse = format_with_unit(evaluation.ensemble.rmse, unit)
    if ratio is None:
        return f"The one member’s RMSE is {rmse}"
    saved, low, high = (formats.format_percent(1 - share, figures=2) for share in (ratio.ratio, ratio.high, ratio.low))
    interval = ""
    if ratio.low > 0:
        interval = f" (95 %: {low} to {high})"
    elif ratio.high < 1:  # How large the saving may be is not known.
        interval = f" (95 %: at least {low})"
    return f"The ensemble’s RMSE is {rmse}, {saved} below a member’s{interval}"


def _describe_numeric_answer(evaluation: NumericEvaluation) -> str:
    """The two things asked first: how far off it is, and whether its intervals hold."""
    quality = evaluation.ensemble
    start = f"It is off by {format_significant(quality.rmse)} (RMSE)"
    coverage = evaluation.main_coverage
    return f"{start}; {describe_coverage(coverage)}." if coverage else f"{start}."


def describe_coverage(coverage: IntervalCoverage) -> str:
    """Whether intervals of one level hold as often as they promise; a clause."""
    promised = formats.format_percent(coverage.level, figures=2)
    share, low, high = (
        formats.format_percent(value, figures=3) for value in (coverage.held, coverage.low, coverage.high)
    )
    found = f"its {promised} intervals hold {share} of the targets ({low} to {high})"
    if coverage.high < coverage.level:
        return f"{found}: they are too narrow"
    if coverage.low > coverage.level:
        return f"{found}: they are wider than they need be"
    return f"{found}: no sign that they promise too much or too little"


def list_numeric_sentences(evaluation: NumericEvaluation) -> list[str]:
    """The answer, and what it rests on; each a sentence."""
    sentences = [
        _describe_numeric_answer(evaluation),
        describe_numeric_figures(evaluation),
        describe_variance_parts(evaluation),
    ]
    if evaluation.form == "points":
        sentences.append(NO_SPREAD_SENTENCE)
    if evaluation.gains:
        sentences.append(_describe_numeric_gains(evaluation))
    if evaluation.conformal:
        sentences.append(describe_conformal_intervals(evaluation))
    return sentences


def describe_numeric_figures(evaluation: NumericEvaluation, unit: str = "") -> str:
    quality = evaluation.ensemble
    parts = [f"mean absolute error {format_with_unit(quality.mae, unit)}", f"R² {format_significant(quality.r2)}"]
    if quality.nll is not None:
        parts.append(f"NLL {format_significant(quality.nll)} nats")
    if quality.pinball is not None:
        parts.append(f"pinball loss {format_with_unit(quality.pinball, unit)}")
    if quality.crps is not None:
        about = "about " if evaluation.form == "quantiles" else ""
        parts.append(f"CRPS {about}{format_with_unit(quality.crps, unit)}")
    return f"On {formats.format_count(quality.examples, 'example')}: {', '.join(parts)}."


def describe_variance_parts(evaluation: NumericEvaluation) -> str:
    if len(evaluation.members) == 1:
        return "One member says nothing of what more members would disagree on."
    if evaluation.aleatoric is None:
        spread = format_significant(math.sqrt(evaluation.epistemic))
        what = "medians" if evaluation.form == "quantiles" else "numbers"
        return (
            f"The members’ {what} differ by {spread} (root of the mean variance): "
            "that is their disagreement (epistemic); how much of the rest is noise (aleatoric) "
            f"is not told by {evaluation.form if evaluation.form == 'quantiles' else 'numbers alone'}. {SPLIT_LIMIT}"
        )
    total = evaluation.aleatoric + evaluation.epistemic
    share = formats.format_percent(evaluation.epistemic / total, figures=2)
    return (
        f"{share} of the predicted variance is the members' disagreement (epistemic); the rest is "
        f"the noise that each of them expects (aleatoric). {SPLIT_LIMIT}"
    )


def _describe_numeric_gains(evaluation: NumericEvaluation) -> str:
    parts = [
        f"{METRIC_NAMES[gain.metric]} {format_significant(gain.gain)} "
        f"({format_significant(gain.low)} to {format_significant(gain.high)})"
        for gain in evaluation.gains
    ]
    return (
        f"Against a member drawn at random the ensemble saves on these examples: "
        f"{', '.join(parts)}; 95 % intervals. By Jensen's inequality it never loses."
    )


def describe_conformal_intervals(evaluation: NumericEvaluation) -> str:
    conformal = evaluation.conformal
    assert conformal
    level = formats.format_percent(conformal.level, figures=2)
    if math.isinf(conformal.factor):
        return f"Too few examples to promise that intervals hold {level} of new targets."
    held = formats.format_percent(conformal.held, figures=3)
    factor = format_significant(abs(conformal.factor))
    way = "out" if conformal.factor >= 0 else "in"
    what, chosen = {
        "normal": (f"Mean ± {factor} σ", "factor"),
        "points": (f"Mean ± {factor}", "margin"),
        "quantiles": (f"Its widest intervals, moved {way} by {factor} at both ends,", "margin"),
    }[evaluation.form]
    verb = "are" if evaluation.form == "quantiles" else "is"
    if conformal.in_time_order:
        return (
            f"Intervals that adapt after each example in time order, begun on the first "
            f"{conformal.calibrated_on:,}, held {held} of the {conformal.counted_on:,} after them, "
            f"where {level} are promised in the long run; the next one {verb} {what.lower()}."
        )
    return (
        f"{what} {verb} promised to hold {level} of "
        f"new targets like these: the {chosen} was chosen on {conformal.calibrated_on:,} of the "
        f"examples and held {held} of {conformal.counted_on:,} others."
    )


def describe_pit_evidence(histogram: PitHistogram, examples: int) -> str:
    return (
        f"Kolmogorov-Smirnov test that the histogram is even, on "
        f"{formats.format_count(examples, 'example')}: {format_p_value(histogram.p_value)}. "
        "Histogram, coverage and mean error are three tests, so each counts below p = 0.017."
    )


def describe_mean_error(error: MeanError, unit: str = "") -> str:
    low, high = (format_with_unit(end, unit) for end in (error.low, error.high))
    found = (
        f"On average targets lie {format_with_unit(abs(error.mean), unit)} "
        f"{'above' if error.mean > 0 else 'below'} the predictions ({low} to {high})"
    )
    if error.low > 0:
        return f"{found}: the predictions are too low."
    if error.high < 0:
        return f"{found}: the predictions are too high."
    return f"{found}."


def describe_spread_skill(skill: SpreadSkill, unit: str = "", noun: str = "predicted spread") -> str:
    """Whether the error grows with the predicted spread, or what stands for it."""
    what = noun.removeprefix("predicted ")
    first, last = skill.bins[0], skill.bins[-1]
    ends = (
        f"it is off by {format_with_unit(first.rmse, unit)} where the {noun} is "
        f"smallest, and by {format_with_unit(last.rmse, unit)} where it is largest"
    )
    if math.isnan(skill.rank_correlation):
        return f"Every example has the same {noun}: it tells none from another"
    if skill.p_value < 0.05 and skill.rank_correlation > 0:
        return f"The {what} follows the error: {ends}"
    if skill.p_value < 0.05:
        return f"The {what} runs against the error: {ends}"
    return f"No sign that the {what} follows the error: {ends}"


def describe_spread_evidence(skill: SpreadSkill) -> str:
    count = sum(each.examples for each in skill.bins)
    return (
        f"Spearman’s rank correlation of spread and absolute error, on "
        f"{formats.format_count(count, 'example')}: {skill.rank_correlation:.2f} "
        f"({format_p_value(skill.p_value)})."
    )


def describe_left_out_member(name: str, member: LeftOutMember) -> str:
    ratio = member.ratio
    if ratio.ratio >= 1:
        return "Leaving out any one member does not lower the RMSE on these examples."
    change = f"Without {name} the RMSE is {_format_error_change(ratio.ratio)}"
    if ratio.high < 1:
        return f"{change}, which is significant ({format_error_range(ratio)})."
    return f"{change} on these examples, which is not significant ({format_error_range(ratio)})."


def describe_furthest_member(name: str, member: LeftOutMember) -> str:
    change = _format_error_change(member.against_others.ratio)
    return f"{name[:1].upper()}{name[1:]} has the highest RMSE, {change} than a random other one’s."


def format_error_range(ratio: ErrorRatio) -> str:
    """Format the interval of a ratio: "95 % interval: 4 % lower to 2 % higher".

    It is "too few examples for an interval" if an end is missing and the other does not rule out 1.
    """
    low, high = _format_error_change(ratio.low), _format_error_change(ratio.high)
    if ratio.low and math.isfinite(ratio.high):
        return f"95 % interval: {low} to {high}"
    if ratio.high < 1:
        return f"95 % interval: at least {high}"
    return f"95 % interval: at least {low}" if ratio.low > 1 else "too few examples for an interval"


def _format_error_change(share: float) -> str:
    """Format a share of another quantity as a change: "4 % lower" or "2 % higher"."""
    if not math.isfinite(share):
        return "any amount higher"
    change = formats.format_percent(abs(share - 1), figures=2)
    return f"{change} {'lower' if share < 1 else 'higher'}"


def describe_groups(groups: int, examples: int) -> str:
    counted = formats.format_count(groups, "group")
    return (
        f"The {formats.format_count(examples, 'example')} form {counted} (a group column, or exact "
        "copies); intervals and tests count groups."
    )


def describe_cross_validation(
    rmse: tuple[float, float, float], nll: tuple[float, float, float], rows: int, unit: str = ""
) -> str:
    """Describe figures of the members that left each training row out, with their intervals."""
    ranges = [f"{format_significant(low)} to {format_significant(high)}" for _, low, high in (rmse, nll)]
    return (
        f"Cross-validated on the {formats.format_count(rows, 'training row')}: RMSE {format_with_unit(rmse[0], unit)} "
        f"(95 %: {ranges[0]}), NLL {format_significant(nll[0])} nats ({ranges[1]})."
    )


def describe_suspect_targets(names: Sequence[str]) -> str:
    """Describe which targets may be wrong, at least one, the most suspect first."""
    listed = ", ".join(names[:_MAX_LISTED_SUSPECTS])
    more = len(names) - _MAX_LISTED_SUSPECTS
    verb = "is" if len(names) == 1 else "are"
    return (
        f"{formats.format_count(len(names), 'target')} {verb} further from the prediction than "
        f"normal noise explains: {listed}{f' and {more:,} more' if more > 0 else ''}. Check "
        "whether they are mislabeled; heavy-tailed noise looks the same."
    )


def list_split_sentences(summary: SplitSummary, splits: int) -> list[str]:
    """List what an ensemble and a member achieve on average over splits; each a sentence."""

    def format_figures(who: str) -> str:
        return ", ".join(
            f"{name.upper()} {format_significant(figure['mean'])} ± {format_significant(figure['standard_error'], 2)}"
            for name, figure in summary[who].items()
        )

    return [
        f"Mean ± standard error over {splits} splits: ensemble {format_figures('ensemble')}.",
        f"One member: {format_figures('member')}. Saved: {format_figures('saved')}.",
    ]
