"""One regression as it goes on: the answer, how far it is, its pictures."""

import contextlib
import time

import streamlit as st

from ensemble import regression, runs
from ensemble.errors import RunError
from ensemble.ui.parallel import answer, loader, pictures
from ensemble.ui.shared import run_advice
from ensemble.ui.shared.guard import guarded
from ensemble.ui.train import live
from ensemble.wording import regression as regression_words
from ensemble.wording.regression import begun

SECONDS_BETWEEN = 1.0
SECONDS_BETWEEN_PICTURES = 3.0  # Plotly draws a picture with new data from the ground up.


def watch(solve: regression.Solve) -> None:
    """Show `solve`, and again while it is active: figures every second, pictures less often."""
    every = SECONDS_BETWEEN if solve.active else None
    st.fragment(watched, run_every=every)(solve.id, loader.shown_state(solve))
    # The first pictures are waited for.
    begins = solve.active and not begun(loader.traces(solve).without)
    later = SECONDS_BETWEEN if begins else SECONDS_BETWEEN_PICTURES
    st.fragment(pictured, run_every=later if solve.active else None)(solve.id, begins)


def watched(solve_id: str, last_state: str) -> None:
    """The body of `watch`: what changes while a regression goes on."""
    with guarded():
        solve = regression.find_solve(solve_id)
        if loader.shown_state(solve) != last_state:
            loader.forget_solves()
            st.rerun()
        answer.show(solve, loader.traces(solve))
        state(solve)


def pictured(solve_id: str, waited: bool) -> None:
    """The pictures, or room for them; reruns the page once when the first can be drawn."""
    with guarded():
        solve = regression.find_solve(solve_id)
        traces = loader.traces(solve)
        if waited and begun(traces.without):
            st.rerun()
        if begun(traces.without):
            pictures.show(solve, traces)
        elif solve.active:
            live.place_for("The pictures stand here from the first iterations on.")


def state(solve: regression.Solve) -> None:
    """How far it is with Stop beside it, or how it ended where it has not finished."""
    if solve.active:
        going_on(solve)
    elif solve.state == "failed":
        st.error(solve.message or "It ended unexpectedly. What was measured is kept.",
                 icon=":material/error:")  # fmt: skip
        if tail := run_advice.log_tail(solve.path / "log.txt"):
            with st.expander("The end of its log"):
                st.code(tail, language=None)
    elif solve.state == "stopped":
        st.info(solve.message or "Stopped. What was measured is kept.", icon=":material/stop:")


def going_on(solve: regression.Solve) -> None:
    """How far an active regression is, and the button that stops it."""
    names = [one.name for one in loader.ahead(solve)] if solve.state == "queued" else []
    status = solve.status
    share = status.iteration / status.iterations if status.iterations else 0.0
    said = regression_words.progress(solve, names, time.time() - status.updated)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(share, 1.0), text=said)
        if runs.stop_requested(solve.id):
            st.button("Stopping…", disabled=True, key="solve_stopping",
                      help="After the current iteration")  # fmt: skip
        else:
            st.button("Stop", icon=":material/stop:", key="solve_stop", on_click=stop,
                      args=(solve.id,), help="What is measured so far is kept.")  # fmt: skip


def stop(solve_id: str) -> None:
    """Callback: ask the worker to stop; it may just have ended, which the page then shows."""
    with contextlib.suppress(RunError):
        regression.stop_solve(solve_id)
