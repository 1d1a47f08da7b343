"""Classify: give an ensemble a digit of your own, and see what it makes of it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.errors import NotPreparedError
from ensemble.recognition.classifier import Classifier
from ensemble.ui import (
    classify_empty,
    classify_epoch,
    classify_files,
    classify_input,
    classify_opening,
    classify_read,
    classify_shown,
    digits_waiting,
    entry,
    run_panel,
)
from ensemble.ui.classify_tray import Source


def main() -> None:
    entry.through_app()
    run_panel.about_a_run(of_run, classify_empty.no_runs)


def of_run(run: runs.Run) -> None:
    """The way in and what the ensemble says, side by side; below, how it came to say so."""
    chosen = classify_epoch.choose(run)
    if not chosen:
        return
    epoch, epochs = chosen
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        way = classify_input.choose()
        st.space("stretch")
        classify_epoch.slider(epochs, epoch)
    classify_epoch.watch(run, epochs, epoch)
    left, right = st.columns([6, 5], gap="large")
    with left:
        source = classify_input.show(way, run)
        picture = st.container()
    if not source:
        classify_empty.no_picture(way, picture, right)
    try:
        asked = classify_opening.opened(run, epoch, classify_opening.PATIENCE)
    except NotPreparedError as error:
        digits_waiting.not_prepared(run, error)
        return
    if asked is None:
        if source:
            classify_empty.not_read_yet(way, source, picture, right)
        with right:
            classify_opening.wait(run, epoch, source is not None)
    elif source:
        answer(run, asked, source, way, picture, right)


def answer(
    run: runs.Run, asked: Classifier, source: Source, way: str,
    picture: DeltaGenerator, right: DeltaGenerator,
) -> None:  # fmt: skip
    """What the members say of the picture, and of others that were handed in with it."""
    classify_read.show(run, asked, source, way, picture, right)
    if way == "upload":
        with right:
            classify_files.show(asked, classify_shown.refuse())


main()
