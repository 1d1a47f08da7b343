"""The row of figures on Inspect: the ensemble's, and whether they are better than a member's."""

from typing import Any

import streamlit as st

from ensemble.analysis.members.ece_gain import EceGain, estimate_ece_gain
from ensemble.analysis.members.gain import MeanGain, gain_over_mean_member
from ensemble.analysis.quality.calibration_noise import estimate_ensemble_calibration_error
from ensemble.analysis.quality.metrics import METRICS
from ensemble.analysis.quality.quality import Quality, measure_qualities
from ensemble.ui.frame.plain_words import choose_term_heading, is_plain_wording_on
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.views import calibration as calibration_words
from ensemble.wording import formats
from ensemble.wording.terms import format_term_help
from ensemble.wording.verdicts import ensemble_gain as inspect_words

# What each figure is, in a line: the help of its column and of its metric.
METRIC_HELP = {metric.term: f"{metric.gloss} {metric.detail}".strip() for metric in METRICS}

# A metric's second line by what is shown: better, worse, or neither. It always begins with the
# word; the colours are those of right and wrong, as dark or light as text has to be.
_DELTA_STYLES: dict[int, dict[str, Any]] = {
    1: {"delta_color": "blue", "delta_arrow": "off"},
    -1: {"delta_color": "orange", "delta_arrow": "off"},
    0: {"delta_color": "off", "delta_arrow": "off"},
}
_DELTA_PREFIXES = {1: "better, ", -1: "worse, ", 0: ""}


def show_inspect_metrics(shared: SharedEpoch) -> None:
    qualities = shared.measure(measure_qualities)
    if shared.members > 1:
        _show_test_accuracy(qualities.ensemble, "Ensemble", shared)
        _show_gain_metrics(qualities.ensemble, shared.measure(gain_over_mean_member), shared.noun)
        _show_ece_metric(shared.measure(estimate_ece_gain), describe_ece_metric(shared))
        return
    _show_test_accuracy(qualities.ensemble, "Accuracy", shared)
    for name, value in (("NLL", qualities.ensemble.nll), ("ECE", qualities.ensemble.ece)):
        term_help = format_term_help(
            name, describe_ece_metric(shared) if name == "ECE" else METRIC_HELP[name], is_plain_wording_on()
        )
        st.metric(choose_term_heading(name), formats.format_significant(value), width="content", help=term_help)


def _show_test_accuracy(quality: Quality, label: str, shared: SharedEpoch) -> None:
    share = formats.format_percent(quality.accuracy, quality.n)
    value = f"{share} {inspect_words.format_accuracy_interval(quality)}"
    caution = inspect_words.describe_digits_caution(shared.run.config.dataset)
    st.metric(
        f"{label} on {formats.format_count(shared.n, f'test {shared.noun}')}",
        value,
        width="content",
        help=f"{METRIC_HELP['accuracy']} {caution}".rstrip(),
    )


def _show_gain_metrics(quality: Quality, gained: MeanGain, noun: str) -> None:
    st.metric(
        "Over the average member",
        formats.format_image_difference(gained.digits, noun),
        width="content",
        delta=_DELTA_PREFIXES[gained.accuracy_sign] + _format_accuracy_gain_ends(gained),
        **_DELTA_STYLES[gained.accuracy_sign],
        help="How many more images the ensemble gets right than its members do on average; below "
        "it the 95 % score interval, on the same images.",
    )
    st.metric(
        choose_term_heading("NLL (nats)"),
        formats.format_significant(quality.nll),
        width="content",
        delta=_DELTA_PREFIXES[gained.nll_sign] + format_nll_saving(gained),
        **_DELTA_STYLES[gained.nll_sign],
        help=format_term_help(
            "NLL",
            f"{METRIC_HELP['NLL']} Below it: how far that is from the average member's, the 95 % interval "
            "on the same images. Averaging never raises it above their mean; the question is how much lower it is.",
            is_plain_wording_on(),
        ),
    )


def describe_ece_metric(shared: SharedEpoch) -> str:
    error = shared.measure(estimate_ensemble_calibration_error)
    return f"{METRIC_HELP['ECE']} {calibration_words.describe_calibration_error(error)}"


def _show_ece_metric(gain: EceGain, ece_is: str) -> None:
    """The calibration error beside the average member's, marked where it is shown to differ."""
    st.metric(
        choose_term_heading("ECE"),
        formats.format_significant(gain.ensemble),
        width="content",
        **_DELTA_STYLES[gain.ece_sign],
        delta=_DELTA_PREFIXES[gain.ece_sign] + _describe_mean_member_ece(gain),
        help=format_term_help(
            "ECE",
            f"{ece_is} It is marked better or worse than the average member's where the 95 % "
            "interval of their difference leaves 0 out (paired bootstrap).",
            is_plain_wording_on(),
        ),
    )


def _describe_mean_member_ece(gain: EceGain) -> str:
    """The average member's calibration error, and whether chance may have put it there."""
    average = formats.format_significant(gain.members)
    if not gain.ece_sign:
        return f"average member {average}, may be chance"
    lower = "lower" if gain.ece_sign > 0 else "higher"
    return f"{lower} than the average member's {average}"


def _format_accuracy_gain_ends(gained: MeanGain) -> str:
    """Both ends of the interval of the digits, as "+9 to +27"."""
    ends = gained.digits_low, gained.digits_high
    return " to ".join(inspect_words.format_signed(end, 0) for end in ends)


def format_nll_saving(gained: MeanGain) -> str:
    """How far the NLL is below the average member's, as "0.0030 to 0.0043 lower"."""
    return f"{inspect_words.format_nll_ends(gained)} lower" if gained.nll_high else "equal"
