"""The rejection threshold: how it was set, what it rejects, and how strict it is."""

from typing import TYPE_CHECKING

import streamlit as st

from ensemble.figures.rejection import alt, figure, shares, table
from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording import marks as marks_words
from ensemble.wording.formats import plural

if TYPE_CHECKING:  # it draws in JAX
    from ensemble.recognition.rejection_threshold import RejectionThreshold

CHOICES = (1, 2, 3, 5, 10)  # per cent

SCORE = (
    "The OOD score (out of distribution) says how strange an image is to the members: how rare it "
    "is among held-out real ones. The rejection threshold is the score that this share of them "
    "exceeds. Each dot is an image: blue where it is treated rightly, orange where a real one is "
    "rejected or another accepted."
)


def show(shown: Shown) -> None:
    """The control, what it comes to, the scores behind it, and a row for each kind of image."""
    noun = shown.noun
    control(shown, noun)
    with st.spinner(
        f"Showing {plural(noun)} and {marks_words.non(noun)} to the members, once", show_time=True
    ):
        threshold = shown.classifier.rejection_threshold(shown.refuse)
    known = shown.run.data.title
    title = f"Rejected or accepted · {shown.source}"
    pictures.show(
        figure(threshold, shown.digit.score, known, title, theme.palette()),
        key="classify_rejection",
        of=shown.run,
        epoch=shown.epoch,
        name=f"{shown.stem}-threshold",
        title="OOD scores and threshold",
        alt=alt(threshold, known),
        table=lambda: table(threshold, known, shown.digit.score),
        sees=sentence(threshold, noun),
        help=SCORE,
    )
    st.dataframe(
        shares(threshold, known, noun),
        hide_index=True,
        key="classify_rejection_table",
        width="content",
    )
    st.caption(marks_words.threshold_set_on(threshold, known))


def control(shown: Shown, noun: str) -> None:
    """How many real digits may be rejected; what it says stands in the address."""
    now = round(100 * shown.refuse)
    options = {str(one): formats.percent(one / 100, figures=2) for one in sorted({*CHOICES, now})}
    address.choose(
        address.REFUSE,
        f"Real {plural(noun)} that may be rejected",
        options,
        str(address.REFUSE.default),
        help=f"The fewer real ones are rejected, the more {marks_words.non(noun)} pass for one.",
    )


def sentence(threshold: "RejectionThreshold", noun: str) -> str:
    """What share it accepts, how well that is read, and what share of the others it rejects."""
    coverage = formats.percent(threshold.coverage, threshold.judged)
    said = f"It accepts **{coverage}** of other real {plural(noun)}"
    if threshold.coverage:
        right = (
            "all"
            if threshold.accuracy == 1
            else formats.percent(threshold.accuracy, threshold.judged)
        )
        said += f" and reads {right} of these right"
    if not threshold.non_digits:
        return f"{said}."
    low, high = (bound(one.share for one in threshold.non_digits) for bound in (min, max))
    rejected = formats.percent(low, 500)
    if rejected != formats.percent(high, 500):
        rejected = f"{rejected} to {formats.percent(high, 500)}"
    others = marks_words.non(noun)
    kinds = others if len(threshold.non_digits) == 1 else f"each kind of {others}"
    return f"{said}; of {kinds} it rejects **{rejected}**."
