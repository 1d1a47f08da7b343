"""Two classifiers compared in words: which is better, how surely, and what is left open.

Accuracy and NLL are tested at once, so their p-values are adjusted for being two (Holm).
"""

from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, PairedGain
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts.ensemble_gain import (
    describe_undecided_gain,
    format_gain_interval,
    format_nll_change,
    format_p_value,
)


def compute_gain_signs(paired_gain: PairedGain) -> tuple[int, int]:
    """What both tests together show of accuracy and of NLL: 1 better, −1 worse, 0 neither."""
    accuracy, nll = adjust_p_holm([paired_gain.p, paired_gain.nll_p]) < SIGNIFICANCE_LEVEL
    return (
        int(accuracy) * (1 if paired_gain.digits > 0 else -1),
        int(nll) * (1 if paired_gain.nll > 0 else -1),
    )


def describe_run_comparison(paired_gain: PairedGain, other: str, noun: str) -> str:
    """Which of two runs is better on the images they share: one claim.

    Args:
      paired_gain: what this run is better by than the other.
      other: the other's name, as it is to be written.
      noun: what an image is called.
    """
    accuracy, nll = compute_gain_signs(paired_gain)
    lower = "a lower" if nll > 0 else "a higher"
    if accuracy:
        more = (
            f"{abs(formats.round_half_away(paired_gain.digits)):,} "
            f"{'more' if accuracy > 0 else 'fewer'}"
        )
        but = f", but {lower} NLL" if nll == -accuracy else ""
        return f"This run gets {more} {pluralize_noun(noun)} right than {other}{but}."
    if not paired_gain.won + paired_gain.lost:
        return (
            f"Both get the same {pluralize_noun(noun)} "
            f"right{f', this run at {lower} NLL' if nll else ''}."
        )
    if nll:
        these = formats.format_finding_subject(paired_gain.n, noun)
        return f"{these} {lower} NLL than {other}, not which is right more often."
    return f"{formats.format_finding_subject(paired_gain.n, noun)} no difference from {other}."


def describe_comparison_evidence(paired_gain: PairedGain, noun: str) -> str:
    """The figures that the headline rests on."""
    if (
        not paired_gain.won + paired_gain.lost
        and not paired_gain.nll_low
        and not paired_gain.nll_high
    ):
        return ""
    accuracy, nll = adjust_p_holm([paired_gain.p, paired_gain.nll_p])
    open_ = "" if accuracy < SIGNIFICANCE_LEVEL else describe_undecided_gain(paired_gain, noun)
    return (
        f"{paired_gain.won:,} right only in this run, {paired_gain.lost:,} only in the other, "
        f"{format_p_value(float(accuracy))}: "
        f"{formats.format_image_difference(paired_gain.digits, noun)} "
        f"{format_gain_interval(paired_gain)}{open_}. NLL is "
        f"{format_nll_change(paired_gain)}, {format_p_value(float(nll))}. Both p are adjusted for "
        "two "
        "tests (Holm); each interval is for one test alone."
    )


def describe_pair_choice(available: int) -> str:
    """That one pair of several was picked; "" where there was no choice.

    Args:
      available: how many runs this one could be compared with.
    """
    if available < 2:
        return ""
    return (
        f"You chose this pair: of {available:,} runs to choose from, one in 20 differs by luck. "
        "“Against all runs” corrects for that."
    )
