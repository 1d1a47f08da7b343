"""Classify: give an ensemble an image of your own, and see what it makes of it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import runs
from ensemble.errors import NotPreparedError
from ensemble.recognition.classifier import Classifier
from ensemble.ui.classify.answer import classified_mark, live_answer, picture_answer
from ensemble.ui.classify.input import (
    classifier_loader,
    empty_state,
    input_methods,
    live_members,
    picture_list,
    training_source,
)
from ensemble.ui.classify.input import epoch_selection as input_epoch
from ensemble.ui.classify.state import InputPicture
from ensemble.ui.predictions import epoch_availability
from ensemble.ui.shared import navigation, run_panel
from ensemble.views.evaluated_epoch import describe_shown_epoch


def show_classify_page() -> None:
    run_panel.show_run_screen(show_classify_run, empty_state.show_classify_introduction, has_try_link=False)


def show_classify_run(run: runs.Run) -> None:
    """The way in and what the ensemble says, side by side; below, how it came to say so."""
    chosen = input_epoch.select_classifier_epoch(run)
    if not chosen:
        return
    epoch, epochs = chosen
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        way = input_methods.select_input_method(run)
        st.space("stretch")
        input_epoch.show_classifier_epoch_slider(epochs, epoch, run)
    training_source.show_training_source(run)
    if sentence := describe_shown_epoch(run, epoch, epochs):
        st.caption(sentence)
    input_epoch.watch_classifier_epochs(run, epochs, epoch)
    live = live_members.find_live_members(run, epoch) if way == "draw" else None
    left, right = st.columns([6, 5], gap="large")
    with left:
        source = input_methods.show_input_method(way, run)
        picture = st.container()
    missing, classifier = None, None
    try:
        classifier = classifier_loader.poll_classifier(run, epoch, 0 if live else classifier_loader.OPENING_PATIENCE_S)
    except NotPreparedError as error:
        missing = error
    if live:
        with right:
            live_answer.show_live_answer(run, live, classifier)
    if not source:
        empty_state.show_input_instructions(way, run, picture, None if live else right)
    if missing:
        if source:
            empty_state.show_unread_picture(way, source, picture, right)
        epoch_availability.show_missing_images_notice(run, missing)
        return
    if classifier is None:
        if source:
            empty_state.show_unread_picture(way, source, picture, right)
        with right:
            classifier_loader.show_opening_progress(run, epoch, source is not None, bool(live))
    elif source:
        show_classify_reading(run, classifier, source=source, way=way, picture=picture, right=right)


def show_classify_reading(
    run: runs.Run,
    classifier: Classifier,
    source: InputPicture,
    way: str,
    picture: DeltaGenerator,
    right: DeltaGenerator,
) -> None:
    """What the members say of the picture, and of others that were handed in with it."""
    picture_answer.show_picture_answer(run, classifier, source=source, way=way, left=picture, right=right)
    if way == "upload":
        with right:
            picture_list.show_picture_list(classifier, classified_mark.read_rejection_allowance())


navigation.draw_page("classify", show_classify_page)
