"""Shift: what becomes of the ensemble on images that are not like those it learnt from.

The members have to be asked anew, which takes minutes: a job does it, and this view starts
and stops the job, shows how far it is, and what it has found so far.
"""

import streamlit as st

from ensemble import shift
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.inspect.shift import job
from ensemble.ui.render import render_view
from ensemble.ui.shared.guard import guarded
from ensemble.views.shift import build_results

SECONDS_BETWEEN = 1.0


def show(shown: SharedEpoch) -> None:
    """Draw the view; while the job works, again every second."""
    active = shift.read_stress(shown.run.id).active
    st.fragment(watched, run_every=SECONDS_BETWEEN if active else None)(shown, active)


def watched(shown: SharedEpoch, was_active: bool) -> None:
    """The body of `show`: what changes while the job works."""
    with guarded():
        stress = shift.read_stress(shown.run.id)
        if stress.active != was_active:
            st.rerun()
        job.show(shown, stress)
        if stress.results and stress.results.clean:
            render_view(build_results(shown, stress.results), shown)
