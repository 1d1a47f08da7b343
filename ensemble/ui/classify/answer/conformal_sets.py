"""The conformal set of each mark: which classes it may be, and of what that is a promise."""

from __future__ import annotations

import streamlit as st

from ensemble.analysis.quality.conformal import ConformalThreshold, fit_conformal_threshold
from ensemble.errors import EnsembleError
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.predictions import conformal_sets, loader, validation_source
from ensemble.wording import escaping
from ensemble.wording.verdicts import conformal_sets as words

MAX_LISTED_SETS = 12  # sets that are listed beside each other


def show_mark_sets(shown: ClassifiedMark) -> None:
    """The sets of the marks that are read, the rate behind a button, and what is not promised."""
    noun = shown.noun
    if all(digit.rejected for digit in shown.reading.digits) or shown.reading.picture_rejection:
        return
    made, set_on = calibrate_mark_sets(shown)
    if made is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(escaping.escape_markdown(describe_mark_sets(shown, made)), width="content")
        with st.popover("Error rate", type="tertiary"):
            conformal_sets.show_conformal_controls(noun, "classify_sets")
    st.caption(
        words.explain_uncalibrated_sets(made, noun) or words.explain_lost_promise(noun, set_on)
    )


def calibrate_mark_sets(shown: ClassifiedMark) -> tuple[ConformalThreshold | None, str]:
    """The threshold, and the images it is from: those held out, "validation", or all of "test".

    None where there are too few, or no predictions.
    """
    rate, method = conformal_sets.get_conformal_settings()
    try:
        apart = validation_source.find_validation_source(shown.run, shown.epoch)
        made = apart.predictions if apart else loader.load_test_predictions(shown.run, shown.epoch)
    except EnsembleError:  # of this epoch the members are kept, but not what they said
        return None, ""
    if not conformal_sets.can_calibrate_sets(made, apart):
        return None, ""
    set_on = "validation" if apart else "test"
    return fit_conformal_threshold(made.averaged, made.labels, rate, method), set_on


def describe_mark_sets(shown: ClassifiedMark, made: ConformalThreshold) -> str:
    """The sets in reading order, or of many marks that of the open one."""
    digits, names = shown.reading.digits, shown.names
    if 1 < len(digits) <= MAX_LISTED_SETS:
        each = ", ".join(
            "?"
            if one.rejected
            else words.format_class_set(made.build_sets(one.probabilities[None])[0], names)
            for one in digits
        )
        return (
            f"Short lists that hold the right {shown.noun} "
            f"{words.format_set_level(made.error_rate)} of the time: {each}."
        )
    if shown.digit.rejected:
        return (
            f"Short lists that hold the right {shown.noun} "
            f"{words.format_set_level(made.error_rate)} of the time: open a mark that is read to "
            "see its own."
        )
    row = made.build_sets(shown.digit.probabilities[None])[0]
    return f"Short list: {words.format_image_set(row, made.error_rate, names)}."
