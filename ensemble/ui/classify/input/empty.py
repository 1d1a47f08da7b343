"""What the screen Classify shows while there is no picture, and the next step."""

import contextlib

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.errors import ImageError
from ensemble.pictures.files.opening import open_picture
from ensemble.ui.classify.answer import overrule
from ensemble.ui.classify.input import picture, sheet
from ensemble.ui.classify.state import Source
from ensemble.ui.predictions import waiting
from ensemble.wording import escaping
from ensemble.wording.marks import article

NEXT_STEPS = {
    "upload": "Drop pictures on the left, press **Ctrl+V** to paste one, or browse. One digit or "
    "a whole number, on one picture or on two hundred.",
    "draw": "Draw one digit or several, as large as the sheet allows. The answer comes when the "
    "pen rests.",
    "camera": "Write a digit on plain paper, hold it up, and take the photograph.",
}
# Where no pen wrote what the networks have learnt, one picture is one image.
OF_ANYTHING = {
    "upload": "Drop pictures on the left, press **Ctrl+V** to paste one, or browse: each is taken "
    "for one {noun}. Up to two hundred at once.",
    "camera": "Hold {article} {noun} up so that it fills the middle, and take the photograph.",
}
HINT = "Draw a digit here, or several side by side"


def no_runs() -> None:
    """The first visit."""
    waiting.no_runs(
        "Give an ensemble a digit of your own",
        "Upload it, draw it or hold it up to the camera, and see what each network makes of it, "
        "and when they had better not be believed. It takes a run that has finished an epoch: "
        "the quick one on Train does in well under a minute.",
    )


def no_picture(way: str, run: runs.Run, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """What to do next on this way in, and what will be here."""
    noun, pen = run.data.noun, run.data.written
    steps = NEXT_STEPS[way] if pen else OF_ANYTHING[way]
    reads = "the number it reads" if pen else "what it takes it for"
    with left:
        if way == "draw":
            sheet.show([], sheet.serial(), HINT)
    with right:
        st.subheader("What does it say?", anchor=False)
        st.markdown(steps.format(noun=escaping.markdown(noun), article=article(noun)))
        st.markdown(
            f"You will see {reads}, how sure it is, what every member votes, and "
            "when it would rather not say."
        )
        if way == "upload":
            st.caption(f"No picture at hand? Try a test {escaping.markdown(noun)}.")


def not_read_yet(way: str, source: Source, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """A picture whose readers are still being opened; the sheet goes on being drawn on."""
    if way == "draw":
        with left:
            sheet.show([], sheet.serial(), "")
        return
    with right:
        st.caption(escaping.markdown(source.name))
    # What is wrong with a picture is said when it is read.
    with left, contextlib.suppress(ImageError):
        if source.content is not None:
            picture.show(
                open_picture(source.content), source.key, [], overrule.of(source.id), source.id
            )
