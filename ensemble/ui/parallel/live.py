"""One regression as it goes on: the answer, how far it is, its pictures."""

import streamlit as st

from ensemble import regression
from ensemble.figures.solves import both
from ensemble.jobs.queue import ahead_of
from ensemble.ui.jobs import job_panel
from ensemble.ui.jobs.screen import forget_jobs, shown_state
from ensemble.ui.parallel import answer, loader, pictures
from ensemble.ui.shared.guard import guarded
from ensemble.ui.train import live
from ensemble.wording import jobs as jobs_words
from ensemble.wording.runs import regression as regression_words

SECONDS_BETWEEN = 1.0
SECONDS_BETWEEN_PICTURES = 3.0  # Plotly draws a picture with new data from the ground up.


def watch(solve: regression.Solve) -> None:
    """Show `solve`, and again while it is active: figures every second, pictures less often."""
    every = SECONDS_BETWEEN if solve.active else None
    st.fragment(watched, run_every=every)(solve.id, shown_state(solve))
    # The first pictures are waited for.
    begins = solve.active and not both(loader.traces(solve))
    later = SECONDS_BETWEEN if begins else SECONDS_BETWEEN_PICTURES
    st.fragment(pictured, run_every=later if solve.active else None)(solve.id, begins)


def watched(solve_id: str, last_state: str) -> None:
    """The body of `watch`: what changes while a regression goes on."""
    with guarded():
        solve = regression.find_solve(solve_id)
        if shown_state(solve) != last_state:
            forget_jobs()
            st.rerun()
        answer.show(solve, loader.traces(solve))
        state(solve)


def pictured(solve_id: str, waited: bool) -> None:
    """The pictures, or room for them; reruns the page once when the first can be drawn."""
    with guarded():
        solve = regression.find_solve(solve_id)
        traces = loader.traces(solve)
        if waited and both(traces):
            st.rerun()
        if both(traces):
            pictures.show(solve, traces)
        elif solve.active:
            live.place_for("The pictures stand here from the first iterations on.")


def state(solve: regression.Solve) -> None:
    """How far it is with Stop beside it, or how it ended where it has not finished."""
    if solve.active:
        ahead = ahead_of(solve) if solve.state == "queued" else []
        said = jobs_words.stage(solve, ahead, regression_words.iterations(solve))
        job_panel.show(solve, said, prefix="solve_")
    else:
        job_panel.ended(solve)
