"""The first step: what would you say? Then how the members vote."""

import streamlit as st

from ensemble.ui.shared import address, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.why.selected_image import SelectedImage, show_image_beside, show_related_link, show_step_sentence
from ensemble.wording import disagreement_steps, escaping
from ensemble.wording import images as images_words

_MAX_CLASS_BUTTONS = 12  # classes that have a button each; of more one is looked for in a list


def show_vote_step(selected: SelectedImage) -> None:
    """Ask first; then, or once they are asked for, the votes."""
    if selected.key not in tab.guesses:
        _show_guess_question(selected)
    else:
        _show_member_votes(selected)


def _show_guess_question(selected: SelectedImage) -> None:
    shared_epoch = selected.shared_epoch
    show_step_sentence(disagreement_steps.format_first_question(shared_epoch.members, shared_epoch.noun))
    with show_image_beside(selected):
        key = f"why_guess_{selected.number}"
        names = [escaping.escape_markdown(name) for name in shared_epoch.class_names]
        choose = st.pills if len(names) <= _MAX_CLASS_BUTTONS else st.selectbox
        more = {} if len(names) <= _MAX_CLASS_BUTTONS else {"index": None, "placeholder": "Look for it"}
        choose(
            f"I take this {shared_epoch.noun} for",
            range(len(names)),
            key=key,
            format_func=names.__getitem__,
            on_change=_save_guess,
            args=(selected.key, key),
            **more,
        )  # type: ignore[operator]
        st.button("Show the votes", key="why_votes", on_click=_save_guess, args=(selected.key, ""))


def _save_guess(which: tuple[str, int], key: str) -> None:
    """Callback: the person's answer, or that they would rather see the votes."""
    widget_value = widget_state.get_widget_value(key) if key else None
    if key and widget_value is None:
        return
    tab.guesses = {**tab.guesses, which: None if widget_value is None else int(widget_value)}


def _show_member_votes(selected: SelectedImage) -> None:
    shared_epoch, number = selected.shared_epoch, selected.number
    predictions, names = shared_epoch.predictions, shared_epoch.class_names
    show_step_sentence(disagreement_steps.describe_vote_split(predictions, number, names))
    with show_image_beside(selected):
        label = int(predictions.labels[number])
        listed = images_words.can_list_votes(predictions, names)
        with st.container(horizontal=True, gap="small"):
            for m, (vote, text) in enumerate(
                images_words.list_vote_texts(predictions, number, names)[:_MAX_CLASS_BUTTONS]
            ):
                who = f"member {m + 1}: {text}" if listed else text
                mark = "✓" if vote == label else "✗"
                st.badge(escaping.escape_markdown(f"{mark} {who}"), color="blue" if vote == label else "orange")
        st.markdown(
            escaping.escape_markdown(
                disagreement_steps.describe_own_guess(predictions, number, tab.guesses[selected.key], names)
            )
        )
        show_related_link(
            selected,
            "predictions",
            f"Open this {escaping.escape_markdown(shared_epoch.noun)} on Predictions",
            (address.DIGIT, number),
        )
