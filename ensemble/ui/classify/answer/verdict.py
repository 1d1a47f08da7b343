"""What the ensemble says of one mark: its verdict, how the members agree, and how it was seen."""

import html

import streamlit as st

from ensemble.figures import palette, thumbnails
from ensemble.figures.verdict import alt, figure, table
from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.classify.details.choice import DETAILS
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording import escaping
from ensemble.wording import images as images_words
from ensemble.wording import marks as marks_words

ROOM = 112  # pixels of the screen: four for one of 28

OOD_SCORE = (
    "The OOD score (out of distribution): how strange an image is to the members, counted against "
    f"real {{0}}s of the test set that were held out. “{DETAILS['gate']}”, below, says how the "
    "threshold was set, and sets it."
)


def words(shown: Shown) -> None:
    """The mark, the verdict, the votes, and how sure one may be of it."""
    digit, names = shown.digit, shown.names
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        high, wide = shown.image.shape[:2]
        st.image(
            thumbnails.enlarged(shown.image, ROOM),
            width=thumbnails.on_screen(shown.image.shape, ROOM)[0],
            alt=f"{shown.called} as the networks see it, {wide} by {high} pixels",
        )
        with st.container(width=230, gap="xsmall"):
            st.subheader(
                escaping.markdown(marks_words.verdict(digit, names, shown.noun)), anchor=False
            )
            if digit.rejected:
                said = escaping.markdown(marks_words.said(digit, names))
                st.caption(f"It would have said {said}.")
            if votes := strip(shown):
                st.html(votes)
    if digit.rejected:
        st.markdown(escaping.markdown(digit.why))
        st.caption(escaping.markdown(marks_words.signs(digit)))
    st.markdown(escaping.markdown(marks_words.agreement(digit, names)))
    if disagreement := marks_words.disagreement(digit):
        st.caption(disagreement, help=marks_words.information(digit, names))
    st.caption(
        f"{marks_words.ood_score(digit, shown.refuse, names, shown.noun)}",
        help=f"{OOD_SCORE.format(shown.noun)} {marks_words.scores(digit)}.",
    )


def strip(shown: Shown) -> str:
    """The votes as HTML: "7 7 7 1 7" in the members' order, each over its member's colour.

    "" where they are counted instead, in words: with many members or long names.
    """
    made = marks_words.predictions(shown.digit)
    if made.members == 1 or not images_words.listed(made, shown.names):
        return ""
    votes = "".join(
        vote(m, made.members, text, against=voted != shown.digit.label)
        for m, (voted, text) in enumerate(images_words.ballot(made, 0, shown.names))
    )
    dim = ";opacity:.65" if shown.digit.rejected else ""
    return f'<div style="display:flex;flex-wrap:wrap;gap:4px{dim}">{votes}</div>'


def vote(m: int, M: int, text: str, *, against: bool) -> str:
    """One member's vote; whoever votes against the ensemble stands out."""
    weight = "font-weight:700;text-decoration:underline" if against else ""
    color = palette.member_color(m, M)
    return (
        f'<span title="Member {m + 1} says {html.escape(text)}" style="min-width:1.5em;'
        f'text-align:center;border-bottom:3px solid {color};{weight}">{html.escape(text)}</span>'
    )


def chart(shown: Shown) -> None:
    """Bars and dots, how to read them, and their files."""
    digit, names = shown.digit, shown.names
    title = f"{shown.called} · {shown.name} · {shown.source}"
    sees = "Bars: the averaged probabilities. Dots: each member's own."
    if shown.members == 1:
        sees = "The probabilities that the one member gives."
    pictures.show(
        figure(digit, names, title, theme.palette()),
        key="classify_verdict",
        of=shown.run,
        epoch=shown.epoch,
        name=f"{shown.stem}-verdict",
        title="The probabilities",
        alt=alt(digit, names),
        table=lambda: table(digit, names),
        sees=sees,
    )
