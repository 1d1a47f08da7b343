"""Train: set an ensemble up, launch it, watch it learn, stop it and go on."""

import streamlit as st

from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs import launch as launching
from ensemble.ui.shared import navigation, run_panel
from ensemble.ui.train import controls, launch, live


def show_train_page() -> None:
    launch.prepare_next_worker(drawn=False)  # It starts while the page is drawn.
    choice = job_picker.select_shown_job(run_panel.RUN_SCREEN)
    if not choice.job:
        # And compiles, for the settings that a first visit begins with.
        launch.prepare_next_worker()
    with st.sidebar:
        with st.container(key="launch_settings"):
            controls.show_main_settings()
        with st.container(key="launch_bar", gap="xsmall"):
            primary = launching.is_launch_main_action(choice.job)
            launch.show_run_launch_button("launch", primary)
            launch.show_seed_count()
        with st.container(key="launch_more"):
            controls.show_more_settings(choice.job)
            controls.show_mnist_offer()
    if choice.problem:
        run_panel.show_missing_run(run_panel.RUN_SCREEN, choice.problem)
    elif choice.job:
        run_panel.show_run_header(choice.job)
        live.show_live_run(choice.job)
        run_panel.show_citation_panel(choice.job)
    else:
        show_train_introduction()
    launch.prepare_next_worker()


def show_train_introduction() -> None:
    """The first visit: the thing itself, on a recorded run, and the button that makes one."""
    # What draws digits takes a moment to import, and a page with a run does without.
    from ensemble.ui.train.example import first_visit

    st.subheader("Train several small networks on the same images, and let them vote", anchor=False)
    left, right = st.columns(2, gap="large", vertical_alignment="center")
    left.markdown(
        "Each starts from its own random numbers, so each errs elsewhere. Their averaged answer "
        "is usually better than any one of them, and where they disagree, you know to look twice."
    )
    with right:
        launch.show_run_launch_button("first_launch")
    first_visit.show_recorded_example()


navigation.draw_page("train", show_train_page)
