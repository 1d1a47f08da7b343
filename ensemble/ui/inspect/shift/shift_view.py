"""Shift: what becomes of the ensemble on images that are not like those it learnt from.

The members have to be asked anew, which takes minutes: a job does it, and this view starts
and stops the job, shows how far it is, and what it has found so far.
"""

import streamlit as st

from ensemble import shift
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.inspect.shift import stress_job
from ensemble.ui.render import render_view
from ensemble.ui.shared.guard import guard_page
from ensemble.views.shift import shift_results_view

POLL_INTERVAL_S = 1.0


def show_shift_view(shared: SharedEpoch) -> None:
    """Draw the view; while the job works, again every second."""
    active = shift.read_stress(shared.run.id).active
    st.fragment(_refresh_shift_view, run_every=POLL_INTERVAL_S if active else None)(shared, active)


def _refresh_shift_view(shared: SharedEpoch, was_active: bool) -> None:
    """The body of `show_shift_view`: what changes while the job works."""
    with guard_page():
        stress = shift.read_stress(shared.run.id)
        if stress.active != was_active:
            st.rerun()
        stress_job.show_stress_job(shared, stress)
        if stress.results and stress.results.clean:
            render_view(shift_results_view(shared, stress.results), shared)
