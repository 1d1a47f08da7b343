"""Train: set an ensemble up, launch it, watch it learn, stop it and go on."""

import streamlit as st

from ensemble.ui.jobs import picker
from ensemble.ui.plan import offer
from ensemble.ui.shared import entry, run_panel
from ensemble.ui.train import controls, launch, live


def main() -> None:
    launch.make_ready(drawn=False)  # It starts while the page is drawn.
    choice = picker.choose(run_panel.SCREEN)
    if not choice.job:
        launch.make_ready()  # And compiles, for the settings that a first visit begins with.
    with st.sidebar:
        with st.container(key="launch_settings"):
            controls.panel(choice.job)
            # Folded to a line, the settings have Launch directly below.
            folded = controls.is_folded(choice.job)
            if not folded:
                controls.offer_mnist()
        with st.container(key="launch_bar", gap="xsmall"):
            launch.launch_button("launch")
        if folded:
            controls.offer_mnist()
    if choice.problem:
        picker.show_problem(run_panel.SCREEN, choice.problem)
    elif choice.job:
        run_panel.header(choice.job)
        live.watch(choice.job)
        offer.show(choice.job)
        run_panel.cite_or_repeat(choice.job)
    else:
        nothing_yet()
    launch.make_ready()


def nothing_yet() -> None:
    """The first visit: the thing itself, on a recorded run, and the button that makes one."""
    # What draws digits takes a moment to import, and a page with a run does without.
    from ensemble.ui.train.example import first

    st.subheader("Train several small networks on the same images, and let them vote", anchor=False)
    left, right = st.columns(2, gap="large", vertical_alignment="center")
    left.markdown(
        "Each starts from its own random numbers, so each errs elsewhere. Their averaged answer "
        "is usually better than any one of them, and where they disagree, you know to look twice."
    )
    with right:
        launch.launch_button("first_launch")
    first.show()


entry.draw("train", main)
