"""The five steps: what each says, draws and leads to, and the way from one to the next."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from ensemble.ui.frame import plain_words
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.shared import address
from ensemble.ui.why import evidence, image_choice, vote_step
from ensemble.ui.why.selected_image import SelectedImage
from ensemble.wording import escaping


@dataclass(frozen=True)
class _WhyStep:
    """A step.

    Attributes:
      title: what it asks, also on the button that leads to it.
      show: draws its sentence, its picture and what carries it.
    """

    title: str
    show: Callable[[SelectedImage], None]


STEPS = (
    _WhyStep("How do they vote?", vote_step.show_vote_step),
    _WhyStep("How sure is each?", evidence.show_average_step),
    _WhyStep("Unclear, or disputed?", evidence.show_uncertainty_step),
    _WhyStep("What would others say?", evidence.show_others_step),
    _WhyStep("What to do with it?", evidence.show_decision_step),
)


def show_why_steps(shared: SharedEpoch) -> None:
    step, number = address.STEP.read(), image_choice.select_image_number(shared)
    selected_image = SelectedImage(shared, number, plain_words.is_plain_wording_on())
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="why_bar"):
        _show_step_button("Back", "Left", step - 1)
        st.caption(f"Step {step} of {len(STEPS)}", width="content")
        follows = STEPS[step].title if step < len(STEPS) else "Start again"
        _show_step_button(follows, "Right", step % len(STEPS) + 1)
    noun = escaping.escape_markdown(shared.noun.capitalize())
    st.caption(f"{noun} {number} · epoch {shared.epoch} · {STEPS[step - 1].title}")
    with st.container(key=f"why_step_{step}"):
        STEPS[step - 1].show(selected_image)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        image_choice.show_image_choice(shared, number)


def _show_step_button(label: str, key: str, step: int) -> None:
    forward = key == "Right"
    st.button(
        label,
        key="why_next" if forward else "why_back",
        shortcut=key,
        type="primary" if forward else "secondary",
        disabled=step < 1,
        on_click=address.STEP.set_value,
        args=(step,),
    )
