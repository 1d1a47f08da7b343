"""The five steps: what each says, draws and leads to, and the way from one to the next."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from ensemble.ui.frame import plain_words
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.shared import address
from ensemble.ui.why import evidence, first, which
from ensemble.ui.why.opened import Opened
from ensemble.wording import escaping


@dataclass(frozen=True)
class Step:
    """A step.

    Attributes:
      title: what it asks, also on the button that leads to it.
      show: draws its sentence, its picture and what carries it.
    """

    title: str
    show: Callable[[Opened], None]


STEPS = (
    Step("How do they vote?", first.show),
    Step("How sure is each?", evidence.average),
    Step("Unclear, or disputed?", evidence.uncertainty),
    Step("What would others say?", evidence.others),
    Step("What to do with it?", evidence.passed_on),
)


def show(shown: SharedEpoch) -> None:
    """The step that the address names, and the buttons to the others."""
    step, number = address.STEP.read(), which.number(shown)
    opened = Opened(shown, number, plain_words.on())
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="why_bar"):
        turn("Back", "Left", step - 1)
        st.caption(f"Step {step} of {len(STEPS)}", width="content")
        follows = STEPS[step].title if step < len(STEPS) else "Start again"
        turn(follows, "Right", step % len(STEPS) + 1)
    st.caption(
        f"{escaping.markdown(shown.noun.capitalize())} {number} · epoch {shown.epoch} · "
        f"{STEPS[step - 1].title}"
    )
    with st.container(key=f"why_step_{step}"):
        STEPS[step - 1].show(opened)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        which.controls(shown, number)


def turn(label: str, key: str, step: int) -> None:
    """A button to another step, which an arrow key presses too."""
    forward = key == "Right"
    st.button(
        label,
        key="why_next" if forward else "why_back",
        shortcut=key,
        type="primary" if forward else "secondary",
        disabled=step < 1,
        on_click=address.STEP.put,
        args=(step,),
    )
