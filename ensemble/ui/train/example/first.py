"""The first screen: what a run looks like, on one that was recorded, until there is one."""

import streamlit as st

from ensemble.ui.predictions.grid import grid
from ensemble.ui.shared import run_figures
from ensemble.ui.train import history
from ensemble.ui.train.curves import learning_curves
from ensemble.ui.train.example import recording
from ensemble.wording import escaping, run_names
from ensemble.wording import images as images_words

SMOOTHING = 0.6


def show() -> None:
    """The example's answer, its curves, and the digits its members dispute most."""
    kept, rows = recording.run(), recording.history()
    made, images = recording.predictions(kept.config.epochs), recording.test_set()
    info, numbers = kept.data, recording.disputed()
    called = run_names.ensemble(recording.config())
    with st.container(border=True, key="example"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("Recorded example", icon=":material/history:", color="orange")
            st.caption(
                f"{called}: not a run of yours, which will stand in its place.", width="content"
            )
        if last := history.latest(rows):
            with st.container(horizontal=True, gap="medium"):
                run_figures.accuracy(last, info)
                run_figures.gain(last, info)
        learning_curves(
            "example",
            rows,
            caption=f"Recorded example · {called}",
            epochs=kept.config.epochs,
            members=kept.config.members,
            n_test=info.test_size,
            log=True,
            smoothing=SMOOTHING,
        )
        st.caption(images_words.answer(made, info.noun))
        grid(
            images.tiles[numbers],
            made,
            numbers,
            info.class_names,
            info.noun,
            opened,
            "example_grid",
        )


def opened(number: int) -> None:
    """One of the digits was pressed: what was said of it, in a sentence."""
    kept = recording.run()
    made = recording.predictions(kept.config.epochs)
    st.toast(escaping.markdown(images_words.sentence(made, number, kept.data.class_names)))
