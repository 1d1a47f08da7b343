"""What can be done with a run that predicts numbers: name it, note something, delete it."""

import streamlit as st

from ensemble.runs.store import Run
from ensemble.ui.jobs import deletion
from ensemble.ui.numbers.screen import NUMERIC_SCREEN
from ensemble.ui.runs import groups, run_action_panel, run_actions, tag_editor
from ensemble.wording.run_names import format_run_name


def show_numeric_actions(run: Run) -> None:
    with st.container(border=True, key="run_actions"):
        if deletion.is_deletion_requested(NUMERIC_SCREEN, run):
            deletion.show_delete_confirmation(
                NUMERIC_SCREEN, run, lambda act: run_actions.attempt_run_action(act, f"Deleted {format_run_name(run)}.")
            )
            return
        groups.show_run_groups(run, "numeric_")
        run_action_panel.show_name_and_note(run)
        tag_editor.show_tag_editor([run], NUMERIC_SCREEN.list_jobs())
        with st.container(horizontal=True):
            st.space("stretch")
            deletion.show_delete_button(NUMERIC_SCREEN, run)
