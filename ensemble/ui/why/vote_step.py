"""The first step: what would you say? Then how the members vote."""

import streamlit as st

from ensemble.ui.shared import address, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.why.selected_image import (
    SelectedImage,
    show_image_beside,
    show_related_link,
    show_step_sentence,
)
from ensemble.wording import disagreement_steps, escaping
from ensemble.wording import images as images_words

MAX_CLASS_BUTTONS = 12  # classes that have a button each; of more one is looked for in a list
VOTES_WITHOUT_GUESS = -1  # the votes, without an answer of one's own


def show_vote_step(opened: SelectedImage) -> None:
    """Ask first; then, or once they are asked for, the votes."""
    if opened.key not in tab.guesses:
        show_guess_question(opened)
    else:
        show_member_votes(opened)


def show_guess_question(opened: SelectedImage) -> None:
    """The image, and what it might be."""
    shown = opened.shared_epoch
    show_step_sentence(disagreement_steps.format_first_question(shown.members, shown.noun))
    with show_image_beside(opened):
        key = f"why_guess_{opened.number}"
        names = [escaping.escape_markdown(name) for name in shown.class_names]
        choose = st.pills if len(names) <= MAX_CLASS_BUTTONS else st.selectbox
        more = (
            {} if len(names) <= MAX_CLASS_BUTTONS else {"index": None, "placeholder": "Look for it"}
        )
        choose(
            f"I take this {shown.noun} for",
            range(len(names)),
            key=key,
            format_func=names.__getitem__,
            on_change=save_guess,
            args=(opened.key, key),
            **more,
        )  # type: ignore[operator]
        st.button("Show the votes", key="why_votes", on_click=save_guess, args=(opened.key, ""))


def save_guess(which: tuple[str, int], key: str) -> None:
    """Callback: the person's answer, or that they would rather see the votes."""
    said = widget_state.get_widget_value(key) if key else None
    if key and said is None:
        return
    tab.guesses = {**tab.guesses, which: None if said is None else int(said)}


def show_member_votes(opened: SelectedImage) -> None:
    """The votes, one by one or counted, and what it is."""
    shown, number = opened.shared_epoch, opened.number
    made, names = shown.predictions, shown.class_names
    show_step_sentence(disagreement_steps.describe_vote_split(made, number, names))
    with show_image_beside(opened):
        label = int(made.labels[number])
        listed = images_words.can_list_votes(made, names)
        with st.container(horizontal=True, gap="small"):
            for m, (vote, text) in enumerate(
                images_words.list_vote_texts(made, number, names)[:MAX_CLASS_BUTTONS]
            ):
                who = f"member {m + 1}: {text}" if listed else text
                mark = "✓" if vote == label else "✗"
                st.badge(
                    escaping.escape_markdown(f"{mark} {who}"),
                    color="blue" if vote == label else "orange",
                )
        st.markdown(
            escaping.escape_markdown(
                disagreement_steps.describe_own_guess(made, number, tab.guesses[opened.key], names)
            )
        )
        show_related_link(
            opened,
            "predictions",
            f"Open this {escaping.escape_markdown(shown.noun)} on Predictions",
            (address.DIGIT, number),
        )
