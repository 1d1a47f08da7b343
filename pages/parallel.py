"""Parallel: solve one regression with and without pmap, and see what the devices bought."""

import streamlit as st

from ensemble.ui.jobs import job_picker
from ensemble.ui.parallel import actions, launch, live
from ensemble.ui.parallel.screen import REGRESSION_SCREEN
from ensemble.ui.shared import navigation


def show_parallel_page() -> None:
    choice = job_picker.select_shown_job(REGRESSION_SCREEN)
    with st.sidebar:
        launch.show_regression_controls()
        launch.show_regression_launch_button()
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
    st.markdown(
        "The same problem, a logistic regression that has nothing to do with your ensembles, is "
        "solved twice by the method L-BFGS: once on one device, and once on several with pmap, "
        "JAX's way to run one program on all of them. Each has its share of the samples, and they "
        "sum their gradients at every step."
    )
    st.caption("The settings are on the left; on a phone, behind the arrows at the top.")
    with st.container(width=420):
        launch.show_quick_regression_button()
    st.caption(
        "Here you will see, live, whether both get the same result, how long each step takes, "
        "after how many steps pmap has made up for its slower start, and how fast 1, 2, 4 and 8 "
        "devices are."
    )


navigation.draw_page("parallel", show_parallel_page)
