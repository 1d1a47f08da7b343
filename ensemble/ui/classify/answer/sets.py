"""The conformal set of each mark: which classes it may be, and of what that is a promise."""

from __future__ import annotations

import streamlit as st

from ensemble.analysis.quality.conformal import Calibrated, calibrate
from ensemble.errors import EnsembleError
from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.predictions import fitting, loader, sets
from ensemble.wording import escaping
from ensemble.wording.verdicts import sets as words

MOST = 12  # sets that are listed beside each other


def show(shown: Shown) -> None:
    """The sets of the marks that are read, the rate behind a button, and what is not promised."""
    noun = shown.noun
    if all(digit.rejected for digit in shown.reading.digits) or shown.reading.refused:
        return
    made, set_on = calibrated(shown)
    if made is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(escaping.markdown(said(shown, made)), width="content")
        with st.popover("Error rate", type="tertiary"):
            sets.control(noun, "classify_sets")
    st.caption(words.too_few(made, noun) or words.not_exchangeable(noun, set_on))


def calibrated(shown: Shown) -> tuple[Calibrated | None, str]:
    """The threshold, and the images it is from: those held out, "validation", or all of "test".

    None where there are too few, or no predictions.
    """
    rate, method = sets.asked()
    try:
        apart = fitting.of(shown.run, shown.epoch)
        made = apart.made if apart else loader.predictions(shown.run, shown.epoch)
    except EnsembleError:  # of this epoch the members are kept, but not what they said
        return None, ""
    if not sets.enough(made, apart):
        return None, ""
    set_on = "validation" if apart else "test"
    return calibrate(made.averaged, made.labels, rate, method), set_on


def said(shown: Shown, made: Calibrated) -> str:
    """The sets in reading order, or of many marks that of the open one."""
    digits, names = shown.reading.digits, shown.names
    if 1 < len(digits) <= MOST:
        each = ", ".join(
            "?" if one.rejected else words.braces(made.sets(one.probabilities[None])[0], names)
            for one in digits
        )
        return f"Sets at {words.level(made.error_rate)}: {each}."
    if shown.digit.rejected:
        return f"Sets at {words.level(made.error_rate)}: open a mark that is read to see its own."
    row = made.sets(shown.digit.probabilities[None])[0]
    return f"The set: {words.one(row, made.error_rate, names)}."
