"""What can be done with a regression besides watching it: solve it again, reuse it, delete it."""

import streamlit as st

from ensemble import regression
from ensemble.access import Action
from ensemble.ui.jobs import deletion
from ensemble.ui.parallel import launch, settings
from ensemble.ui.parallel.screen import SCREEN
from ensemble.ui.sign_in import rights


def actions(solve: regression.Solve) -> None:
    """The same again, its settings again, and Delete, which asks first."""
    deletion.tell(SCREEN)
    if deletion.is_asked(SCREEN, solve):
        deletion.sure(SCREEN, solve)
        return
    with st.container(horizontal=True, gap="small"):
        if not solve.active and st.button(
            "Solve the same again",
            key="solve_again",
            icon=":material/play_arrow:",
            **rights.given(Action.LAUNCH),
        ):
            launch.launch(solve.config)
        st.button(
            "Use these settings again",
            key="solve_reuse",
            icon=":material/replay:",
            on_click=settings.fill,
            args=(solve.config,),
            help="Copies these settings to the controls, ready to change and launch.",
        )
        deletion.ask_button(SCREEN, solve)
