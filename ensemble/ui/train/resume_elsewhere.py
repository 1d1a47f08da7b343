"""Going on with a run somewhere else than where it was, or with more there."""

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.cluster.schedulers import EXTERNAL_TARGETS
from ensemble.errors import EnsembleError
from ensemble.jobs.placement import Placement
from ensemble.jobs.remote.task_record import find_placement
from ensemble.ui.devices import placement_control, schedulers
from ensemble.ui.shared import guard, loaders
from ensemble.ui.sign_in import rights


def show_resume_elsewhere(run: runs.Run) -> None:
    """Where an ended run goes on, and what is asked for there; nothing where there is no choice."""
    if not run.can_resume or not (run.in_groups or not run.status.step):
        return
    before = find_placement(run.path)
    if before and before.on in EXTERNAL_TARGETS:
        return
    if not (before or schedulers.read_scheduler_snapshot().is_present):
        return
    with st.popover("Resume elsewhere", type="tertiary", width="content", key="resume_elsewhere"):
        prefix = f"resume_{run.id}_"
        choice = placement_control.select_placement(
            f"{prefix}where", "It goes on from its checkpoint to the same figures.", before
        )
        if choice != placement_control.THIS_MACHINE:
            placement_control.show_free_resources(choice)
            placement_control.show_task_requests(choice, prefix, before)
        if st.button(
            "Resume there",
            icon=":material/resume:",
            key="resume_there",
            **rights.build_control_arguments(Action.CHANGE, run.path),
        ):
            _resume_run_elsewhere(run.id, choice, prefix, before)


def _resume_run_elsewhere(run_id: str, choice: str, prefix: str, before: Placement | None) -> None:
    try:
        place = placement_control.build_fitting_placement(choice, prefix, before)
        runs.resume_run(run_id, place)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    loaders.forget_runs()
    st.rerun()
