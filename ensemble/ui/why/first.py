"""The first step: what would you say? Then how the members vote."""

import streamlit as st

from ensemble.ui.shared import address, widget
from ensemble.ui.shared.tab import tab
from ensemble.ui.why.opened import Opened, beside, link, sentence
from ensemble.wording import escaping, why
from ensemble.wording import images as images_words

BUTTONS = 12  # classes that have a button each; of more one is looked for in a list
SHOWN = -1  # the votes, without an answer of one's own


def show(opened: Opened) -> None:
    """Ask first; then, or once they are asked for, the votes."""
    if opened.key not in tab.guesses:
        ask(opened)
    else:
        votes(opened)


def ask(opened: Opened) -> None:
    """The image, and what it might be."""
    shown = opened.shown
    sentence(why.question(shown.members, shown.noun))
    with beside(opened):
        key = f"why_guess_{opened.number}"
        names = [escaping.markdown(name) for name in shown.class_names]
        choose = st.pills if len(names) <= BUTTONS else st.selectbox
        more = {} if len(names) <= BUTTONS else {"index": None, "placeholder": "Look for it"}
        choose(
            f"I take this {shown.noun} for",
            range(len(names)),
            key=key,
            format_func=names.__getitem__,
            on_change=guessed,
            args=(opened.key, key),
            **more,
        )  # type: ignore[operator]
        st.button("Show the votes", key="why_votes", on_click=guessed, args=(opened.key, ""))


def guessed(which: tuple[str, int], key: str) -> None:
    """Callback: the person's answer, or that they would rather see the votes."""
    said = widget.value(key) if key else None
    if key and said is None:
        return
    tab.guesses = {**tab.guesses, which: None if said is None else int(said)}


def votes(opened: Opened) -> None:
    """The votes, one by one or counted, and what it is."""
    shown, number = opened.shown, opened.number
    made, names = shown.predictions, shown.class_names
    sentence(why.votes(made, number, names))
    with beside(opened):
        label = int(made.labels[number])
        listed = images_words.listed(made, names)
        with st.container(horizontal=True, gap="small"):
            for m, (vote, text) in enumerate(images_words.ballot(made, number, names)[:BUTTONS]):
                who = f"member {m + 1}: {text}" if listed else text
                mark = "✓" if vote == label else "✗"
                st.badge(
                    escaping.markdown(f"{mark} {who}"), color="blue" if vote == label else "orange"
                )
        st.markdown(escaping.markdown(why.answered(made, number, tab.guesses[opened.key], names)))
        link(
            opened,
            "predictions",
            f"Open this {escaping.markdown(shown.noun)} on Predictions",
            (address.DIGIT, number),
        )
