"""What the screen Classify shows while there is no picture, and the next step."""

import contextlib

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.errors import ImageError
from ensemble.pictures.files.picture import open_picture
from ensemble.ui.classify.answer import overrides
from ensemble.ui.classify.input import annotated_picture, drawing_sheet
from ensemble.ui.classify.state import InputPicture
from ensemble.ui.predictions import epoch_availability
from ensemble.wording import escaping
from ensemble.wording.marks import select_article

_NEXT_STEPS = {
    "upload": "Pictures of one digit, or of several side by side; up to 200 at once.",
    "draw": "Draw one digit or several, as large as the sheet allows. The answer comes when the pen rests.",
    "camera": "Write a digit on plain paper, hold it up, and take the photograph.",
}
# Where no pen wrote what the networks have learnt, one picture is one image.
_NEXT_STEPS_FOR_IMAGES = {
    "upload": "Give it pictures, up to two hundred at once: each is taken for one {noun}.",
    "camera": "Hold {article} {noun} up so that it fills the middle, and take the photograph.",
}
_SHEET_HINT = "Draw a digit here, or several side by side"


def show_classify_introduction() -> None:
    epoch_availability.show_no_runs_notice(
        "Classify a digit of your own",
        "Upload it, draw it or hold it up to the camera, and see what each network says, "
        "and when not to believe them. It takes a run that has finished an epoch: "
        "the quick one on Train does in well under a minute.",
    )


def show_input_instructions(way: str, run: runs.Run, left: DeltaGenerator, right: DeltaGenerator | None) -> None:
    """What to do next on this way in, and what will be here.

    Args:
      way: one of `INPUTS`.
      right: where the answer will; None where the browser answers, and says it itself.
    """
    noun, pen = run.data.noun, run.data.is_mnist_like
    steps = _NEXT_STEPS[way] if pen else _NEXT_STEPS_FOR_IMAGES[way]
    reads = "the number it reads" if pen else "what it takes it for"
    with left:
        if way == "draw":
            drawing_sheet.show_drawing_sheet([], drawing_sheet.read_drawing_serial(), _SHEET_HINT)
    if right is None:
        return
    with right:
        st.subheader("What does it say?", anchor=False)
        st.markdown(steps.format(noun=escaping.escape_markdown(noun), article=select_article(noun)))
        st.caption(f"You will see {reads}, how sure it is, and each vote.")


def show_unread_picture(way: str, source: InputPicture, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """A picture whose readers are still being opened; the sheet goes on being drawn on."""
    if way == "draw":
        with left:
            drawing_sheet.show_drawing_sheet([], drawing_sheet.read_drawing_serial(), "")
        return
    with right:
        st.caption(escaping.escape_markdown(source.name))
    # What is wrong with a picture is said when it is read.
    with left, contextlib.suppress(ImageError):
        if source.content is not None:
            annotated_picture.show_annotated_picture(
                open_picture(source.content), source.key, [], overrides.find_overrides(source.id), source.id
            )
