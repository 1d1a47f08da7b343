"""The row of figures on Inspect: the ensemble's, and whether they are better than a member's."""

from typing import Any

import streamlit as st

from ensemble.analysis.members.ece_gain import EceGain, ece_gain
from ensemble.analysis.members.gain import MeanGain, gain_over_mean
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.summary import Quality, qualities
from ensemble.ui.frame.plain_words import heading, on
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.wording import formats
from ensemble.wording.terms import behind
from ensemble.wording.verdicts import calibration as calibration_words
from ensemble.wording.verdicts import inspect as inspect_words

# What each figure is, in a line: the help of its column and of its metric.
HELP = {metric.term: f"{metric.gloss} {metric.detail}".strip() for metric in METRICS}

# A metric's second line by what is shown: better, worse, or neither. It always begins with the
# word; the colours are those of right and wrong, as dark or light as text has to be.
LOOKS: dict[int, dict[str, Any]] = {
    1: {"delta_color": "blue", "delta_arrow": "off"},
    -1: {"delta_color": "orange", "delta_arrow": "off"},
    0: {"delta_color": "off", "delta_arrow": "off"},
}
WORDS = {1: "better: ", -1: "worse: ", 0: ""}


def metrics(shown: SharedEpoch) -> None:
    """The ensemble's figures in short, and how the mean member compares."""
    found = shown.measure(qualities)
    if shown.members > 1:
        accuracy(found.ensemble, "Ensemble", shown)
        against_member(found.ensemble, shown.measure(gain_over_mean), shown.noun)
        against_errors(shown.measure(ece_gain), ece_help(shown))
        return
    accuracy(found.ensemble, "Accuracy", shown)
    for name, value in (("NLL", found.ensemble.nll), ("ECE", found.ensemble.ece)):
        said = behind(name, ece_help(shown) if name == "ECE" else HELP[name], on())
        st.metric(heading(name), formats.significant(value), width="content", help=said)


def accuracy(quality: Quality, label: str, shown: SharedEpoch) -> None:
    """The accuracy with its interval."""
    share = formats.percent(quality.accuracy, quality.n)
    value = f"{share} {formats.plus_minus(quality.accuracy, quality.n)}"
    st.metric(
        f"{label} on {formats.count(shown.n, f'test {shown.noun}')}",
        value,
        width="content",
        help=HELP["accuracy"],
    )


def against_member(quality: Quality, gained: MeanGain, noun: str) -> None:
    """What is gained in images and in NLL over a member drawn at random."""
    st.metric(
        "Over the mean member",
        formats.digits(gained.digits, noun),
        width="content",
        delta=WORDS[gained.in_digits] + interval(gained),
        **LOOKS[gained.in_digits],
        help="How many more the ensemble gets right than a member drawn at random, which is the "
        "mean over the members, and below it the 95 % interval: by a score, on the same images.",
    )
    st.metric(
        heading("NLL (nats)"),
        formats.significant(quality.nll),
        width="content",
        delta=WORDS[gained.in_nll] + saved(gained),
        **LOOKS[gained.in_nll],
        help=behind(
            "NLL",
            f"{HELP['NLL']} Below it: how far that is from the mean member's, the "
            "95 % interval on the same images. Averaging never raises it above their mean; how "
            "much lower it is, is the finding.",
            on(),
        ),
    )


def ece_help(shown: SharedEpoch) -> str:
    """What the ECE is, its interval, and what chance alone would give."""
    return f"{HELP['ECE']} {calibration_words.error(shown.measure(ensemble_error))}"


def against_errors(found: EceGain, ece_is: str) -> None:
    """The calibration error beside the mean member's, marked where it is shown to differ."""
    st.metric(
        heading("ECE"),
        formats.significant(found.ensemble),
        width="content",
        **LOOKS[found.better],
        delta=WORDS[found.better] + errors(found),
        help=behind(
            "ECE",
            f"{ece_is} It is marked better or worse than the mean member's where "
            "the 95 % interval of their difference leaves 0 out (paired bootstrap).",
            on(),
        ),
    )


def errors(found: EceGain) -> str:
    """The mean member's calibration error, and whether chance may have put it there."""
    said = f"mean member {formats.significant(found.members)}"
    return said if found.better else f"{said}, may be chance"


def interval(gained: MeanGain) -> str:
    """Both ends of the interval of the digits, as "+9 to +27"."""
    ends = gained.digits_low, gained.digits_high
    return " to ".join(inspect_words.signed(end, 0) for end in ends)


def saved(gained: MeanGain) -> str:
    """How far the NLL is below the mean member's, as "0.0030 to 0.0043 lower"."""
    return f"{inspect_words.nll_ends(gained)} lower" if gained.nll_high else "equal"
