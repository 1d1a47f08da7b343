"""Two classifiers compared in words: which is better, how surely, and what is left open.

Accuracy and NLL are tested at once, so their p-values are adjusted for being two (Holm).
"""

import re
from collections.abc import Sequence

from ensemble.analysis.inference.crossed_means import OVER_IMAGES
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, PairedGain
from ensemble.comparison.seed_groups import SeedComparison
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import (
    describe_undecided_gain,
    format_gain_interval,
    format_nll_change,
    format_p_value,
    format_signed,
)


def compute_gain_signs(gain: PairedGain) -> tuple[int, int]:
    """What both tests together show of accuracy and of NLL: 1 better, −1 worse, 0 neither."""
    accuracy, nll = adjust_p_holm([gain.p, gain.nll_p]) < SIGNIFICANCE_LEVEL
    return (int(accuracy) * (1 if gain.digits > 0 else -1), int(nll) * (1 if gain.nll > 0 else -1))


def describe_run_comparison(gain: PairedGain, other: str, noun: str, seeds: SeedComparison | None = None) -> str:
    """Which of two runs is better on the images they share: one claim.

    Of their settings where other seeds bear it out, else of these two runs.

    Args:
      seeds: what runs of their settings show; None where that is not known.
    """
    if claim := _describe_settings_difference(seeds, other, noun):
        return claim
    begin = "Same settings, another seed: this run" if seeds and seeds.has_same_settings else "Of these two, this run"
    accuracy, nll = compute_gain_signs(gain)
    lower = "a lower" if nll > 0 else "a higher"
    if accuracy:
        more = _format_more_right(gain.digits, noun)
        but = f", but {lower} NLL" if nll == -accuracy else ""
        return f"{begin} gets {more} right than {other}{but}."
    if not gain.won + gain.lost:
        return f"Both get the same {pluralize_noun(noun)} right{f', this run at {lower} NLL' if nll else ''}."
    if nll:
        return f"{begin} has {lower} NLL than {other}; which is right more often is open."
    return f"{formats.format_finding_subject(gain.n, noun)} no difference from {other}."


def _describe_settings_difference(seeds: SeedComparison | None, other: str, noun: str) -> str:
    """What holds for other seeds of both settings; "" where nothing is shown."""
    difference = seeds.difference if seeds else None
    if difference is None:
        return ""
    lower = "a lower" if difference.settings_nll_sign > 0 else "a higher"
    if difference.settings_accuracy_sign:
        contrary = difference.settings_nll_sign == -difference.settings_accuracy_sign
        return (
            f"These settings get {_format_more_right(difference.digits, noun)} right than those of "
            f"{other}{f', but {lower} NLL' if contrary else ''}."
        )
    if difference.settings_nll_sign:
        return f"These settings have {lower} NLL than those of {other}."
    return ""


def _format_more_right(digits: float, noun: str) -> str:
    count = abs(formats.round_half_away(digits))
    which = "more" if digits > 0 else "fewer"
    return f"{count:,} {which} {noun if count == 1 else pluralize_noun(noun)}"


def describe_seed_evidence(seeds: SeedComparison | None, noun: str) -> str:
    if seeds is None:
        return ""
    if seeds.has_same_settings:
        return "Only the seed differs, so neither setting is better: one start happened to do better."
    difference = seeds.difference
    if difference is None:
        return ""
    if difference.settings_p is None or difference.settings_nll_p is None:
        return "This is about these two trained runs: other seeds of the same settings may order them differently."
    accuracy_p, nll_p = (
        format_p_value(p or 0.0) for p in (difference.adjusted_settings_p, difference.adjusted_settings_nll_p)
    )
    if difference.over == OVER_IMAGES:
        return (
            f"Other seeds, told from how members differ: accuracy {accuracy_p}, NLL {nll_p} (jackknife over members)."
        )
    ends = f"{format_signed(difference.digits_low, 1)} to {format_signed(difference.digits_high, 1)}"
    nll = f"{format_signed(-difference.nll_high)} to {format_signed(-difference.nll_low)}"
    return (
        f"Over {len(seeds.runs)} and {len(seeds.other_runs)} seeds: "
        f"{formats.format_image_difference(difference.digits, noun)} ({ends}), {accuracy_p}; "
        f"NLL {format_signed(-difference.nll)} ({nll}), {nll_p}: intervals and p for new seeds and images."
    )


def describe_seed_power(seeds: SeedComparison, counts: Sequence[int]) -> str:
    """How likely so many seeds of each would show a difference like this; "" where unknown."""
    chances = [seeds.compute_power(count) for count in counts]
    if any(chance is None for chance in chances):
        return ""
    # Members that see the images in one order tell the least that seeds may differ by.
    about = "about" if seeds.is_nll_variance_from_runs or seeds.has_independent_members else "at most about"
    parts = [
        f"{count} {'seeds of each would show it in ' + about if not place else 'in'} {_format_chance(chance or 0.0)}"
        for place, (count, chance) in enumerate(zip(counts, chances, strict=True))
    ]
    text = f"If their NLLs differ as much as here, {', '.join(parts)} of cases."
    text = text.replace("at most about over", "perhaps over")
    return re.sub(r"(?:at most )?about (under|over)", r"\1", text)


def describe_comparison_evidence(gain: PairedGain, noun: str) -> str:
    if not gain.won + gain.lost and not gain.nll_low and not gain.nll_high:
        return ""
    accuracy, nll = adjust_p_holm([gain.p, gain.nll_p])
    open_ = "" if accuracy < SIGNIFICANCE_LEVEL else describe_undecided_gain(gain, noun)
    return (
        f"{gain.won:,} right only in this run, {gain.lost:,} only in the other, "
        f"{format_p_value(float(accuracy))}: {formats.format_image_difference(gain.digits, noun)} "
        f"{format_gain_interval(gain)}{open_}. NLL is {format_nll_change(gain)}, "
        f"{format_p_value(float(nll))}. Both p are adjusted for two tests (Holm); each interval is for one test alone."
    )


def _format_chance(chance: float) -> str:
    """A chance as rough as it is known: "40 %", "under 5 %", "over 95 %"."""
    if chance < 0.05:
        return f"under {formats.format_percent(0.05, places=0)}"
    if chance > 0.95:
        return f"over {formats.format_percent(0.95, places=0)}"
    return formats.format_percent(round(20 * chance) / 20, places=0)


def describe_pair_choice(available: int) -> str:
    """That one pair of several was picked; "" where there was no choice."""
    if available < 2:
        return ""
    return (
        f"With {available:,} runs to compare with, about one in 20 of them would look different by "
        "luck alone; “Against all runs” corrects for that."
    )
