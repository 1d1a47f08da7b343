"""The rejection threshold: how it was set, what it rejects, and how strict it is."""

from typing import TYPE_CHECKING

import streamlit as st

from ensemble.figures.ood_scores import (
    describe_ood_scores_chart,
    plot_ood_scores,
    tabulate_ood_scores,
    tabulate_rejection_rates,
)
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording import marks as marks_words
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:  # it draws in JAX
    from ensemble.recognition.rejection_threshold import RejectionThreshold

_RATE_CHOICES = (1, 2, 3, 5, 10)  # per cent

_OOD_SCORE_HELP = (
    "The OOD score (out of distribution) says how strange an image is to the members: how rare it "
    "is among held-out real ones. The rejection threshold is the score that this share of them "
    "exceeds. Each dot is an image: blue where it is treated rightly, orange where a real one is "
    "rejected or another accepted."
)


def show_rejection_threshold(mark: ClassifiedMark) -> None:
    noun = mark.noun
    _show_rejection_rate_control(mark, noun)
    if not mark.classifier.is_calibrated:
        st.caption("The rejection threshold is shown here once it is set: see above.")
        return
    with st.spinner(
        f"Showing {pluralize_noun(noun)} and {marks_words.format_negated_noun(noun)} to the members, once",
        show_time=True,
    ):
        threshold = mark.classifier.compute_rejection_threshold(mark.refuse)
    dataset_title = mark.run.data.title
    title = f"Rejected or accepted · {mark.source_title}"
    pictures.show_figure_panel(
        plot_ood_scores(threshold, mark.digit.score, dataset_title, title, theme.get_page_palette()),
        key="classify_rejection",
        job=mark.run,
        epoch=mark.epoch,
        name=f"{mark.file_stem}-threshold",
        title="OOD scores and threshold",
        alt=describe_ood_scores_chart(threshold, dataset_title),
        table=lambda: tabulate_ood_scores(threshold, dataset_title, mark.digit.score),
        sees=describe_rejection_threshold(threshold, noun),
        help=_OOD_SCORE_HELP,
    )
    st.dataframe(
        tabulate_rejection_rates(threshold, dataset_title, noun),
        hide_index=True,
        key="classify_rejection_table",
        width="content",
    )
    st.caption(marks_words.describe_threshold_basis(threshold, dataset_title))


def _show_rejection_rate_control(mark: ClassifiedMark, noun: str) -> None:
    """How many real digits may be rejected; what it says stands in the address."""
    now = round(100 * mark.refuse)
    options = {
        str(percent): formats.format_percent(percent / 100, figures=2) for percent in sorted({*_RATE_CHOICES, now})
    }
    address.select_address_option(
        address.REFUSE,
        f"Real {pluralize_noun(noun)} that may be rejected",
        options,
        str(address.REFUSE.default),
        help=f"The fewer real ones are rejected, the more {marks_words.format_negated_noun(noun)} pass for one.",
    )


def describe_rejection_threshold(threshold: "RejectionThreshold", noun: str) -> str:
    coverage = formats.format_percent(threshold.coverage, threshold.judged_count)
    sentence = f"It accepts **{coverage}** of other real {pluralize_noun(noun)}"
    if threshold.coverage:
        right = "all" if threshold.accuracy == 1 else formats.format_percent(threshold.accuracy, threshold.judged_count)
        sentence += f" and reads {right} of these right"
    if not threshold.non_digits:
        return f"{sentence}."
    low, high = (bound(non_digit.share for non_digit in threshold.non_digits) for bound in (min, max))
    rejected = formats.format_percent(low, 500)
    if rejected != formats.format_percent(high, 500):
        rejected = f"{rejected} to {formats.format_percent(high, 500)}"
    negated_noun = marks_words.format_negated_noun(noun)
    kinds = negated_noun if len(threshold.non_digits) == 1 else f"each kind of {negated_noun}"
    return f"{sentence}; of {kinds} it rejects **{rejected}**."
