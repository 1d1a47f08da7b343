"""Parallel: solve one regression with and without pmap, and see what the devices bought."""

import streamlit as st

from ensemble.ui.jobs import picker
from ensemble.ui.parallel import actions, launch, live
from ensemble.ui.parallel.screen import SCREEN
from ensemble.ui.shared import entry


def main() -> None:
    choice = picker.choose(SCREEN)
    with st.sidebar:
        launch.controls()
        launch.launch_button()
    if choice.problem:
        picker.show_problem(SCREEN, choice.problem)
    elif choice.job:
        picker.header(SCREEN, choice.job)
        live.watch(choice.job)
        actions.actions(choice.job)
    else:
        nothing_yet()


def nothing_yet() -> None:
    """The first visit: what will be here, and the button that makes it so."""
    st.subheader("Is a solver faster on several devices than on one?", anchor=False)
    st.markdown(
        "A logistic regression is solved by L-BFGS (a method that learns the curvature from its "
        "last steps), once on one device, and once on several with pmap, JAX's way to run one "
        "program on all of them: each has its share of the samples, and they sum their gradients "
        "at every step."
    )
    st.caption("The settings are on the left; on a phone, behind the arrows at the top.")
    with st.container(width=420):
        launch.quick_button()
    st.caption(
        "Here you will see, live, whether both take the same path, how long each step takes, "
        "from which iteration on pmap pays, and what 1, 2, 4 and 8 devices make of it."
    )


entry.draw("parallel", main)
