"""Tune: search for the best settings, watch the search, and go on with what it found."""

import streamlit as st

from ensemble.ui.jobs import job_picker
from ensemble.ui.shared import navigation
from ensemble.ui.tune import launch, live
from ensemble.ui.tune.screen import SWEEP_SCREEN


def show_tune_page() -> None:
    choice = job_picker.select_shown_job(SWEEP_SCREEN)
    with st.sidebar:
        with st.container(key="launch_more"):
            table = launch.show_sweep_controls()
        with st.container(key="launch_bar", gap="xsmall"):
            launch.show_sweep_launch_button(table, choice.job is not None and choice.job.active)
    if choice.problem:
        job_picker.show_missing_job(SWEEP_SCREEN, choice.problem)
    elif choice.job:
        job_picker.show_job_header(SWEEP_SCREEN, choice.job)
        live.show_live_sweep(choice.job)
    else:
        show_tune_introduction()


def show_tune_introduction() -> None:
    """The first visit: what will be here, and the button that makes it so."""
    st.subheader("Which settings are best?", anchor=False)
    st.markdown(
        "A sweep trains many small ensembles, its trials, that differ in the settings you tick, "
        "and judges each on validation images, or rows of your table, which none of them learns from."
    )
    with st.container(width=480):
        launch.show_quick_sweep_button()
    st.caption(
        "Here you will see, live, the best settings so far, how each setting bears on the "
        "result, and what to do with them."
    )


navigation.draw_page("tune", show_tune_page)
