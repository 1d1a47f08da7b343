"""Classify: give an ensemble an image of your own, and see what it makes of it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.errors import NotPreparedError
from ensemble.recognition.classifier import Classifier
from ensemble.ui.classify.answer import read, shown
from ensemble.ui.classify.input import empty, files, members, sources
from ensemble.ui.classify.input import epoch as input_epoch
from ensemble.ui.classify.state import Source
from ensemble.ui.predictions import waiting
from ensemble.ui.shared import entry, run_panel


def main() -> None:
    run_panel.about_a_run(of_run, empty.no_runs)


def of_run(run: runs.Run) -> None:
    """The way in and what the ensemble says, side by side; below, how it came to say so."""
    chosen = input_epoch.choose(run)
    if not chosen:
        return
    epoch, epochs = chosen
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        way = sources.choose(run)
        st.space("stretch")
        input_epoch.slider(epochs, epoch, run)
    input_epoch.watch(run, epochs, epoch)
    left, right = st.columns([6, 5], gap="large")
    with left:
        source = sources.show(way, run)
        picture = st.container()
    if not source:
        empty.no_picture(way, run, picture, right)
    try:
        asked = members.opened(run, epoch, members.PATIENCE)
    except NotPreparedError as error:
        waiting.not_prepared(run, error)
        return
    if asked is None:
        if source:
            empty.not_read_yet(way, source, picture, right)
        with right:
            members.wait(run, epoch, source is not None)
    elif source:
        answer(run, asked, source, way, picture, right)


def answer(
    run: runs.Run,
    asked: Classifier,
    source: Source,
    way: str,
    picture: DeltaGenerator,
    right: DeltaGenerator,
) -> None:
    """What the members say of the picture, and of others that were handed in with it."""
    read.show(run, asked, source, way, picture, right)
    if way == "upload":
        with right:
            files.show(asked, shown.refuse())


entry.draw("classify", main)
