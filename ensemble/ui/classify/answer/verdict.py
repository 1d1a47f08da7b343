"""What the ensemble says of one mark: its verdict, how the members agree, and how it was seen."""

import html

import streamlit as st

from ensemble.figures import palette, thumbnails
from ensemble.figures.mark_probabilities import (
    describe_mark_chart,
    plot_mark_probabilities,
    tabulate_mark_probabilities,
)
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.classify.details.detail_selection import DETAILS
from ensemble.ui.classify.input import classifier_loader
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording import escaping
from ensemble.wording import images as images_words
from ensemble.wording import marks as marks_words

_IMAGE_SIDE_PX = 112  # pixels of the screen: four for one of 28

_OOD_SCORE_HELP = (
    "The OOD score (out of distribution): how strange an image is to the members, counted against "
    f"real {{0}}s of the test set that were held out. “{DETAILS['gate']}”, below, says how the "
    "threshold was set, and sets it."
)


def show_mark_verdict(mark: ClassifiedMark) -> None:
    digit, names = mark.digit, mark.names
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        high, wide = mark.image.shape[:2]
        st.image(
            thumbnails.encode_enlarged_image(mark.image, _IMAGE_SIDE_PX),
            width=thumbnails.compute_display_size(mark.image.shape, _IMAGE_SIDE_PX)[0],
            alt=f"{mark.title} as the networks see it, {wide} by {high} pixels",
        )
        with st.container(width=230, gap="xsmall"):
            st.subheader(
                escaping.escape_markdown(marks_words.format_mark_verdict(digit, names, mark.noun)), anchor=False
            )
            if digit.rejected:
                class_name = escaping.escape_markdown(marks_words.format_mark_class(digit, names))
                st.caption(f"It would have said {class_name}.")
            if votes := render_vote_strip(mark):
                st.html(votes)
    st.markdown(escaping.escape_markdown(marks_words.describe_mark_agreement(digit, names)))
    if disagreement := marks_words.format_mark_disagreement(digit):
        st.caption(disagreement, help=marks_words.explain_epistemic(digit, names))


def show_rejection_evidence(mark: ClassifiedMark) -> None:
    """The mark's OOD score; folded, with the reason, where it is rejected.

    As long as nothing can be rejected, how far that is instead.
    """
    digit = mark.digit
    if not mark.classifier.is_calibrated:
        classifier_loader.show_calibration_progress(mark.run, mark.epoch)
        return
    why = st.expander("Why rejected", key="why_rejected") if digit.rejected else st.container()
    with why:
        if digit.rejected:
            st.markdown(escaping.escape_markdown(digit.rejection_reason))
            st.caption(escaping.escape_markdown(marks_words.describe_score_signs(digit)))
        _show_ood_score(mark)


def _show_ood_score(mark: ClassifiedMark) -> None:
    digit, names = mark.digit, mark.names
    st.caption(
        marks_words.describe_ood_score(digit, mark.refuse, names, mark.noun),
        help=f"{_OOD_SCORE_HELP.format(mark.noun)} {marks_words.format_threshold_distance(digit)}.",
    )


def render_vote_strip(mark: ClassifiedMark) -> str:
    """The votes as HTML: "7 7 7 1 7" in the members' order, each over its member's colour.

    "" where they are counted instead, in words: with many members or long names.
    """
    mark_predictions = marks_words.build_mark_predictions(mark.digit)
    if mark_predictions.members == 1 or not images_words.can_list_votes(mark_predictions, mark.names):
        return ""
    votes = "".join(
        _render_member_vote(m, mark_predictions.members, text, against=voted != mark.digit.label)
        for m, (voted, text) in enumerate(images_words.list_vote_texts(mark_predictions, 0, mark.names))
    )
    dim = ";opacity:.65" if mark.digit.rejected else ""
    return f'<div style="display:flex;flex-wrap:wrap;gap:4px{dim}">{votes}</div>'


def _render_member_vote(m: int, M: int, text: str, *, against: bool) -> str:
    """One member's vote; whoever votes against the ensemble stands out."""
    weight = "font-weight:700;text-decoration:underline" if against else ""
    color = palette.member_color(m, M)
    return (
        f'<span title="Member {m + 1} says {html.escape(text)}" style="min-width:1.5em;'
        f'text-align:center;border-bottom:3px solid {color};{weight}">{html.escape(text)}</span>'
    )


def show_verdict_chart(mark: ClassifiedMark) -> None:
    digit, names = mark.digit, mark.names
    title = f"{mark.title} · {mark.name} · {mark.source_title}"
    sees = "Bars: the averaged probabilities. Dots: each member's own."
    if mark.members == 1:
        sees = "The probabilities that the one member gives."
    pictures.show_figure_panel(
        plot_mark_probabilities(digit, names, title, theme.get_page_palette()),
        key="classify_verdict",
        job=mark.run,
        epoch=mark.epoch,
        name=f"{mark.file_stem}-verdict",
        title="The probabilities",
        alt=describe_mark_chart(digit, names),
        table=lambda: tabulate_mark_probabilities(digit, names),
        sees=sees,
    )
