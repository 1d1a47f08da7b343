"""Parallel: solve one regression with and without pmap, and see what the devices bought."""

import streamlit as st

from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs import launch as launching
from ensemble.ui.parallel import actions, launch, live
from ensemble.ui.parallel.screen import REGRESSION_SCREEN
from ensemble.ui.shared import navigation


def show_parallel_page() -> None:
    choice = job_picker.select_shown_job(REGRESSION_SCREEN)
    with st.sidebar:
        launch.show_regression_controls()
        launch.show_regression_launch_button(launching.is_launch_main_action(choice.job))
    if choice.problem:
        job_picker.show_missing_job(REGRESSION_SCREEN, choice.problem)
    elif choice.job:
        job_picker.show_job_header(REGRESSION_SCREEN, choice.job)
        live.show_live_regression(choice.job)
        actions.show_regression_actions(choice.job)
    else:
        show_parallel_introduction()


def show_parallel_introduction() -> None:
    """The first visit: what will be here, and the button that makes it so."""
    st.subheader("Is a solver faster on several devices than on one?", anchor=False)
    st.markdown("A logistic regression by L-BFGS, on one device and on several with pmap: you will see when pmap pays.")
    with st.container(width=420):
        launch.show_quick_regression_button()


navigation.draw_page("parallel", show_parallel_page)
