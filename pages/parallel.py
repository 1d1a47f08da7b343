"""Parallel: solve one regression with and without pmap, and see what the devices bought."""

import streamlit as st

from ensemble.ui.parallel import actions, launch, live, picker
from ensemble.ui.shared import entry


def main() -> None:
    choice = picker.choose()
    with st.sidebar:
        launch.controls()
        launch.launch_button()
    if choice.problem:
        picker.show_problem(choice.problem)
    elif choice.solve:
        picker.header(choice.solve)
        live.watch(choice.solve)
        actions.actions(choice.solve)
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
