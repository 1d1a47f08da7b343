"""Tune: search for the best settings, watch the search, and go on with what it found."""

import streamlit as st

from ensemble.ui.jobs import picker
from ensemble.ui.shared import entry
from ensemble.ui.tune import launch, live
from ensemble.ui.tune.screen import SCREEN


def main() -> None:
    choice = picker.choose(SCREEN)
    with st.sidebar:
        with st.container(key="launch_settings"):
            launch.controls()
        with st.container(key="launch_bar", gap="xsmall"):
            launch.launch_button()
    if choice.problem:
        picker.show_problem(SCREEN, choice.problem)
    elif choice.job:
        picker.header(SCREEN, choice.job)
        live.watch(choice.job)
    else:
        nothing_yet()


def nothing_yet() -> None:
    """The first visit: what will be here, and the button that makes it so."""
    st.subheader("Which settings are best?", anchor=False)
    st.markdown(
        "A sweep trains many small ensembles, its trials, that differ in the settings you tick, "
        "and judges each on validation images, which none of them learns from. Trials are runs "
        "like any other: you can open and compare them."
    )
    st.caption("What is searched is set on the left; on a phone, behind the arrows at the top.")
    with st.container(width=480):
        launch.quick_button()
    st.caption(
        "Here you will see, live, the best settings so far, how each setting bears on the "
        "result, and what to do with them."
    )


entry.draw("tune", main)
