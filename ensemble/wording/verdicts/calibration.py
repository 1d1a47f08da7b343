"""Calibration in words: one claim in one line, and the figures that carry it in the next."""

import math
from collections.abc import Mapping

import pandas as pd

from ensemble.analysis.quality.calibration_noise import CalibrationError
from ensemble.analysis.quality.calibration_test import (
    BINS_LEVEL,
    OVERALL_LEVEL,
    Apart,
    CalibrationTest,
)
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.temperature import Temperatures, Tempered
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts.inspect import p_value

DIRECTIONS = {"less sure": "Less sure than it could be", "too sure": "Surer than it should be"}
# The columns of `in_words`, of several members and of one alone.
TEMPERED = {"as_it_is": "as it is", "before": "before averaging", "after": "after averaging"}
ALONE = {"as_it_is": "as it is", "after": "with a temperature"}


def verdict(found: CalibrationTest, noun: str) -> str:
    """Whether it is right as often as it says, in one line of at most 90 characters.

    Args:
      found: the test.
      noun: what one example is called.
    """
    whole = found.overall
    if found.verdict in DIRECTIONS:
        says, right = shares(whole)
        return f"{DIRECTIONS[found.verdict]}: {says} sure on average, {right} right."
    if found.verdict == "a bin":
        return f"On average no difference shows, but {of_bin(found.worst[0])}."
    return f"{formats.these(whole.n, noun)} no difference between confidence and accuracy."


def of_bin(one: Apart) -> str:
    """A bin that is not right as often as it says; where it helps, by how many."""
    within, right = formats.percents(one.low, one.high), formats.percent(one.accuracy, places=0)
    if round(100 * one.accuracy) < round(100 * one.low):
        return f"of those said with {within} only {right} are right"
    if round(100 * one.accuracy) > round(100 * one.high):
        return f"of those said with {within}, {right} are right"
    return f"those said with {within} err {'less' if one.z > 0 else 'more'} often than said"


def evidence(found: CalibrationTest, noun: str) -> str:
    """The figures of the verdict: z, the exact p, and of how many."""
    whole = f"{figures(found.overall, noun)}"
    if found.verdict in DIRECTIONS:
        return f"{whole}."
    if found.verdict == "none":
        return f"{whole}. A difference counts at p < {OVERALL_LEVEL:g}, in one bin {BINS_LEVEL:g}."
    one, p = found.worst
    says, right = shares(one)
    return (
        f"{formats.percents(one.low, one.high)}: {says} sure on average, {right} right, "
        f"{formats.count(one.n, noun)}, z = {standard(one.z)}, {p_value(p)} after Holm's "
        f"correction for {formats.count(len(found.bins), 'bin')}. All: {whole}."
    )


def figures(one: Apart, noun: str) -> str:
    """z, p and N, and the counts behind them."""
    return (
        f"z = {standard(one.z)}, {p_value(one.p)} (exact, Poisson binomial), "
        f"{formats.count(one.n, noun)}: {one.right:,} right, {one.expected:,.1f} expected"
    )


def shares(one: Apart) -> tuple[str, str]:
    """Mean confidence and accuracy, with as many decimals as tell the two apart."""
    for places in range(formats.decimals(one.n), 6):
        says = formats.percent(one.confidence, places=places)
        right = formats.percent(one.accuracy, places=places)
        if says != right:
            break
    return says, right


def standard(z: float) -> str:
    """A z as "3.1" or "−0.4"; of what was certain and wrong "−∞"."""
    size = "∞" if math.isinf(z) else f"{abs(z):.1f}"
    return f"−{size}" if z < 0 and size != "0.0" else size


def error(found: CalibrationError) -> str:
    """The ECE with its interval, beside what chance alone would give."""
    return (
        f"ECE {formats.significant(found.ece)} (95 %: {ends(found.low, found.high)}). "
        f"{by_chance(found)}"
    )


def by_chance(found: CalibrationError) -> str:
    """What the ECE would be were each right as often as it says; for a help or a caption."""
    mean, draws = formats.significant(found.chance), ends(found.chance_low, found.chance_high)
    return (
        f"Chance alone would give {mean} (95 % of draws: {draws}), were each answer right exactly "
        "as often as it says."
    )


def temperature(scaled: Temperatures, noun: str) -> str:
    """What a temperature after averaging is worth, in one line of at most 90 characters."""
    one = scaled.after
    number = formats.significant(one.temperature)
    if one.helps:
        saved = formats.significant(one.saved, 2)
        return f"A temperature of {number} improves calibration: NLL lower by {saved} nats."
    if one.saved_high < 0:
        return f"The fitted temperature, {number}, makes the NLL worse: leave it at 1."
    return f"These {scaled.judged:,} {plural(noun)} show no gain from a temperature."


def temperature_evidence(scaled: Temperatures, noun: str) -> str:
    """The interval of what it saves, on which images it was fitted and on which judged."""
    one = scaled.after
    whole = scaled.fitted == scaled.offered
    some = "" if whole else f"{scaled.fitted:,} of "  # the rest would take long
    fitted_on = (
        f"Fitted on {some}one half of the test {plural(noun)} ({scaled.offered:,}), judged on "
        f"the other {scaled.judged:,}."
        if scaled.halved
        else f"Fitted on {some}the {scaled.offered:,} validation {plural(noun)}, judged on the "
        f"{scaled.judged:,} test {plural(noun)}."
    )
    return (
        f"At {formats.significant(one.temperature)} the NLL falls by {saving(one)} nats (paired "
        f"95 % interval). {fitted_on}"
    )


def saving(one: Tempered) -> str:
    """Both ends of the interval of the NLL that a temperature saves."""
    return ends(one.saved_low, one.saved_high)


def ends(low: float, high: float) -> str:
    """An interval as "0.0021 to 0.023", with a true minus."""
    return " to ".join(
        ("−" if end < 0 else "") + formats.significant(abs(end), 2) for end in (low, high)
    )


def in_words(scaled: Temperatures, named: Mapping[str, str]) -> pd.DataFrame:
    """One column each as it is, tempered before, and tempered after averaging."""
    # What a temperature changes: the loss that it is fitted by, and all that looks at confidence.
    metrics = [one for one in METRICS if one.name == "nll" or one.view == "calibration"]
    terms = [metric.term for metric in metrics]
    columns: dict[str, list[str]] = {"figure": ["temperature", *terms, "NLL saved"]}
    for field, name in named.items():
        one: Tempered = getattr(scaled, field)
        figures = [one.temperature, *(one.quality[metric.name] for metric in metrics)]
        saved = "–" if field == "as_it_is" else saving(one)
        columns[name] = [*(formats.significant(value) for value in figures), saved]
    return pd.DataFrame(columns)


def notes(noun: str) -> str:
    """How to read `in_words`."""
    return (
        f"A temperature below 1 makes it surer, above 1 less sure; which {plural(noun)} it gets "
        "right hardly changes. NLL: what the label's probability costs, in nats; saved: the 95 % "
        "interval of how much less than as it is. ECE: how far confidence and accuracy lie apart, "
        "over 15 bins of equal width; adaptive: of equal count; SmoothECE: without bins; MCE: in "
        "the worst bin, which may hold a single one."
    )


def too_few(least: int, noun: str) -> str:
    """Why nothing is said of a temperature."""
    return f"Fewer than {least} test {plural(noun)}: too few to tell what a temperature saves."
