"""The conformal set of each mark: which classes it may be, and of what that is a promise."""

from __future__ import annotations

import streamlit as st

from ensemble.analysis.quality.conformal import ConformalThreshold, fit_conformal_threshold
from ensemble.errors import EnsembleError
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.predictions import conformal_sets, loader, validation_source
from ensemble.views import conformal as words
from ensemble.wording import escaping

_MAX_LISTED_SETS = 12  # sets that are listed beside each other


def show_mark_sets(mark: ClassifiedMark) -> None:
    noun = mark.noun
    if all(digit.rejected for digit in mark.reading.digits) or mark.reading.picture_rejection:
        return
    threshold, set_on = _calibrate_mark_sets(mark)
    if threshold is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(escaping.escape_markdown(_describe_mark_sets(mark, threshold)), width="content")
        with st.popover("Error rate", type="tertiary"):
            conformal_sets.show_conformal_controls(noun, "classify_sets")
    st.caption(words.explain_uncalibrated_sets(threshold, noun) or words.explain_lost_promise(noun, set_on))


def _calibrate_mark_sets(mark: ClassifiedMark) -> tuple[ConformalThreshold | None, str]:
    """The threshold, and the images it is from: those held out, "validation", or all of "test".

    None where there are too few, or no predictions.
    """
    rate, method = conformal_sets.get_conformal_settings()
    try:
        apart = validation_source.find_validation_source(mark.run, mark.epoch)
        predictions = apart.predictions if apart else loader.load_test_predictions(mark.run, mark.epoch)
    except EnsembleError:  # of this epoch the members are kept, but not what they said
        return None, ""
    if not conformal_sets.can_calibrate_sets(predictions, apart):
        return None, ""
    set_on = "validation" if apart else "test"
    return fit_conformal_threshold(predictions.averaged, predictions.labels, rate, method), set_on


def _describe_mark_sets(mark: ClassifiedMark, threshold: ConformalThreshold) -> str:
    digits, names = mark.reading.digits, mark.names
    if 1 < len(digits) <= _MAX_LISTED_SETS:
        each = ", ".join(
            "?" if digit.rejected else words.format_class_set(threshold.build_sets(digit.probabilities[None])[0], names)
            for digit in digits
        )
        return (
            f"Short lists that hold the right {mark.noun} "
            f"{words.format_set_level(threshold.error_rate)} of the time: {each}."
        )
    if mark.digit.rejected:
        return (
            f"Short lists that hold the right {mark.noun} "
            f"{words.format_set_level(threshold.error_rate)} of the time: open a mark "
            "that is read to see its own."
        )
    row = threshold.build_sets(mark.digit.probabilities[None])[0]
    text = f"Short list: {words.format_image_set(row, threshold.error_rate, names)}."
    why = words.explain_unsure_set(row, mark.digit.probabilities)
    return f"{text} {why}".rstrip()
