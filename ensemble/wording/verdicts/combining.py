"""Whether another way of combining the members than their mean makes a better answer."""

import numpy as np
import pandas as pd

from ensemble.analysis.members import combining
from ensemble.analysis.members.combining import CombinationComparison
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL
from ensemble.analysis.quality.metrics import MAIN_METRICS
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import ensemble_gain as inspect_words

# The four ways by their names in `CombinationComparison`.
RULE_NAMES = {
    "arithmetic": "arithmetic mean",
    "geometric": "geometric mean",
    "majority": "majority vote",
    "weighted": "fitted weights",
}
COMBINATION_NOTES = (
    "± is half the 95 % interval of the accuracy; both ends stand where it is lopsided. Corrected "
    "and spoilt: against the arithmetic mean. Votes are not probabilities: a label that nobody "
    "votes for costs the majority vote up to 87 nats, so its NLL is high."
)


def describe_best_combination(combined: CombinationComparison, noun: str) -> str:
    """Whether some way is shown to be better or worse than the mean: one claim."""
    n = combined.arithmetic.quality.n
    ways = {name: getattr(combined, name).gain for name in combining.OTHER_RULES}
    significant_ways = {
        name: ways[name] for name, (p, _) in combined.adjusted_p_values.items() if p < SIGNIFICANCE_LEVEL
    }
    alike = not any(way.won + way.lost for way in ways.values())
    nll = ", ".join(
        f"{RULE_NAMES[name]} {'lower' if ways[name].nll > 0 else 'higher'}"
        for name, (_, p) in combined.adjusted_p_values.items()
        if p < SIGNIFICANCE_LEVEL
    )
    if nll and not significant_ways:
        lead = (
            f"All four ways get the same {pluralize_noun(noun)} right"
            if alike
            else ("No way is shown to get more right")
        )
        return f"{lead}; NLL: {nll}."
    if alike:
        return f"All four ways of combining get the same of {formats.format_count(n, noun)} right."
    if not significant_ways:
        return f"On these {n:,} {pluralize_noun(noun)} no way of combining is shown to beat the mean."
    text = ", ".join(
        f"{RULE_NAMES[name]} {abs(way.digits):,} {'more' if way.digits > 0 else 'fewer'} right"
        for name, way in significant_ways.items()
    )
    return f"Against the mean, on {formats.format_count(n, noun)}: {text}."


def describe_combination_evidence(combined: CombinationComparison, noun: str) -> str:
    parts = []
    for name, (p, nll_p) in combined.adjusted_p_values.items():
        gain = getattr(combined, name).gain
        nll = (
            ""
            if np.isnan(nll_p) or not (gain.nll_low or gain.nll_high)
            else (f", NLL {inspect_words.format_nll_change(gain)}, {inspect_words.format_p_value(nll_p)}")
        )
        parts.append(
            f"{RULE_NAMES[name]} {formats.format_image_difference(gain.digits, noun)} "
            f"{inspect_words.format_gain_interval(gain)}, {inspect_words.format_p_value(p)}{nll}"
        )
    return (
        f"Against the mean: {'; '.join(parts)}. Each p is adjusted for all of these tests (Holm), "
        "each interval is for one test alone; from p = 0.05 on a difference is not shown, which "
        "does not mean that there is none."
    )


def explain_combinations_chart(combined: CombinationComparison) -> str:
    judged = combined.arithmetic.quality.n
    where = (
        f"one half of the test images ({combined.fitted:,}), all four ways are judged on the other ({judged:,})"
        if combined.uses_held_out_half
        else f"the validation images ({combined.fitted:,}), all four ways are judged on the test images ({judged:,})"
    )
    return (
        "The arithmetic mean, in bold, is the ensemble's answer on every other screen. Weights "
        f"are fitted on {where}. Below: each member's weight; the dashed line is equal weights."
    )


def tabulate_combination_gains(combined: CombinationComparison, noun: str) -> pd.DataFrame:
    """One row a way: its figures, and what it wins and loses against the mean."""
    rows = []
    adjusted = combined.adjusted_p_values
    for name, words in RULE_NAMES.items():
        combination = getattr(combined, name)
        quality, gained = combination.quality, combination.gain
        versus = (
            ""
            if name not in adjusted
            else (
                f"{formats.format_image_difference(gained.digits, noun)} ({gained.won:,} "
                f"corrected, {gained.lost:,} spoilt, "
                f"{inspect_words.format_p_value(adjusted[name][0])})"
            )
        )
        rows.append(
            {
                "rule": words,
                "accuracy": f"{formats.format_percent(quality.accuracy, quality.n)} "
                f"{inspect_words.format_accuracy_interval(quality)}",
                "against the mean": versus,
                **{
                    metric.term: formats.format_significant(quality[metric.name])
                    for metric in MAIN_METRICS
                    if metric.name != "accuracy"
                },
            }
        )
    return pd.DataFrame(rows)
