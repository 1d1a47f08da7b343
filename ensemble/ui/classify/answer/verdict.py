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
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording import escaping
from ensemble.wording import images as images_words
from ensemble.wording import marks as marks_words

IMAGE_SIDE_PX = 112  # pixels of the screen: four for one of 28

OOD_SCORE_HELP = (
    "The OOD score (out of distribution): how strange an image is to the members, counted against "
    f"real {{0}}s of the test set that were held out. “{DETAILS['gate']}”, below, says how the "
    "threshold was set, and sets it."
)


def show_mark_verdict(shown: ClassifiedMark) -> None:
    """The mark, the verdict, the votes, and how sure one may be of it."""
    digit, names = shown.digit, shown.names
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        high, wide = shown.image.shape[:2]
        st.image(
            thumbnails.encode_enlarged_image(shown.image, IMAGE_SIDE_PX),
            width=thumbnails.compute_display_size(shown.image.shape, IMAGE_SIDE_PX)[0],
            alt=f"{shown.title} as the networks see it, {wide} by {high} pixels",
        )
        with st.container(width=230, gap="xsmall"):
            st.subheader(
                escaping.escape_markdown(marks_words.format_mark_verdict(digit, names, shown.noun)),
                anchor=False,
            )
            if digit.rejected:
                said = escaping.escape_markdown(marks_words.format_mark_class(digit, names))
                st.caption(f"It would have said {said}.")
            if votes := render_vote_strip(shown):
                st.html(votes)
    if digit.rejected:
        st.markdown(escaping.escape_markdown(digit.rejection_reason))
        st.caption(escaping.escape_markdown(marks_words.describe_score_signs(digit)))
    st.markdown(escaping.escape_markdown(marks_words.describe_mark_agreement(digit, names)))
    if disagreement := marks_words.format_mark_disagreement(digit):
        st.caption(disagreement, help=marks_words.explain_mutual_information(digit, names))
    st.caption(
        f"{marks_words.describe_ood_score(digit, shown.refuse, names, shown.noun)}",
        help=f"{OOD_SCORE_HELP.format(shown.noun)} {marks_words.format_threshold_distance(digit)}.",
    )


def render_vote_strip(shown: ClassifiedMark) -> str:
    """The votes as HTML: "7 7 7 1 7" in the members' order, each over its member's colour.

    "" where they are counted instead, in words: with many members or long names.
    """
    made = marks_words.build_mark_predictions(shown.digit)
    if made.members == 1 or not images_words.can_list_votes(made, shown.names):
        return ""
    votes = "".join(
        render_member_vote(m, made.members, text, against=voted != shown.digit.label)
        for m, (voted, text) in enumerate(images_words.list_vote_texts(made, 0, shown.names))
    )
    dim = ";opacity:.65" if shown.digit.rejected else ""
    return f'<div style="display:flex;flex-wrap:wrap;gap:4px{dim}">{votes}</div>'


def render_member_vote(m: int, M: int, text: str, *, against: bool) -> str:
    """One member's vote; whoever votes against the ensemble stands out."""
    weight = "font-weight:700;text-decoration:underline" if against else ""
    color = palette.member_color(m, M)
    return (
        f'<span title="Member {m + 1} says {html.escape(text)}" style="min-width:1.5em;'
        f'text-align:center;border-bottom:3px solid {color};{weight}">{html.escape(text)}</span>'
    )


def show_verdict_chart(shown: ClassifiedMark) -> None:
    """Bars and dots, how to read them, and their files."""
    digit, names = shown.digit, shown.names
    title = f"{shown.title} · {shown.name} · {shown.source_title}"
    sees = "Bars: the averaged probabilities. Dots: each member's own."
    if shown.members == 1:
        sees = "The probabilities that the one member gives."
    pictures.show_figure_panel(
        plot_mark_probabilities(digit, names, title, theme.get_page_palette()),
        key="classify_verdict",
        of=shown.run,
        epoch=shown.epoch,
        name=f"{shown.file_stem}-verdict",
        title="The probabilities",
        alt=describe_mark_chart(digit, names),
        table=lambda: tabulate_mark_probabilities(digit, names),
        sees=sees,
    )
