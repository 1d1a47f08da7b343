"""Train: set an ensemble up, launch it, watch it learn, stop it and go on."""

import streamlit as st

from ensemble.ui.shared import entry, run_panel, settings
from ensemble.ui.shared.run_panel import Choice
from ensemble.ui.train import launch, live


def main() -> None:
    launch.make_ready(drawn=False)  # It starts while the page is drawn.
    launch.prefer_mnist()
    choice = run_panel.choose()
    with st.sidebar:
        launch.controls()
        launch.launch_button("launch")
        launch.offer_mnist()
    if choice.problem:
        run_panel.show_problem(choice)
    elif choice.run:
        run_panel.header(choice.run)
        live.watch(choice.run)
        below(choice)
    else:
        nothing_yet()
    launch.make_ready()


def nothing_yet() -> None:
    """The first visit: what will be here, and the button that makes it so."""
    st.subheader("Train several small networks on the same images, and let them vote", anchor=False)
    st.markdown(
        "Each starts from its own random numbers, so each errs elsewhere. Their averaged answer "
        "is usually better than any one of them, and where they disagree, you know to look twice."
    )
    st.caption("The settings are on the left; on a phone, behind the arrows at the top.")
    with st.container(width=420):
        launch.launch_button("first_launch")
    st.caption("Here you will see every member learn, live: its loss, its accuracy, its gap.")


def below(choice: Choice) -> None:
    """What else can be done with the run that is shown."""
    if choice.run:
        st.button(
            "Use these settings again", key="reuse", icon=":material/replay:",
            on_click=settings.fill, args=(choice.run.config,),
            help="Copies this run's settings to the controls, ready to change and launch.",
        )  # fmt: skip


entry.draw("train", main)
