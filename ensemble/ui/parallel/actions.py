"""What can be done with a regression besides watching it: solve it again, reuse it, delete it."""

import streamlit as st

from ensemble import regression
from ensemble.access import Action
from ensemble.ui.frame import report_download
from ensemble.ui.jobs import deletion
from ensemble.ui.parallel import launch, settings
from ensemble.ui.parallel.screen import REGRESSION_SCREEN
from ensemble.ui.sign_in import rights


def show_regression_actions(solve: regression.Regression) -> None:
    deletion.show_job_action_problem(REGRESSION_SCREEN)
    if deletion.is_deletion_requested(REGRESSION_SCREEN, solve):
        deletion.show_delete_confirmation(REGRESSION_SCREEN, solve)
        return
    with st.container(horizontal=True, gap="small"):
        if not solve.active and st.button(
            "Solve the same again",
            key="solve_again",
            icon=":material/play_arrow:",
            **rights.build_control_arguments(Action.LAUNCH),
        ):
            launch.launch_and_show_regression(solve.config)
        st.button(
            "Use these settings again",
            key="solve_reuse",
            icon=":material/replay:",
            on_click=settings.fill_regression_settings,
            args=(solve.config,),
            help="Copies these settings to the controls, ready to change and launch.",
        )
        if not solve.active:
            report_download.show_report_download([solve], "solve_report")
        deletion.show_delete_button(REGRESSION_SCREEN, solve)
