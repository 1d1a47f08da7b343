"""One regression as it goes on: the answer, how far it is, its pictures."""

import streamlit as st

from ensemble import regression
from ensemble.figures.regression_charts import list_started_solves
from ensemble.ui.jobs import job_panel
from ensemble.ui.parallel import answer, figures, loader
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.train import live
from ensemble.wording.runs import regression as regression_words

REFRESH_INTERVAL_S = 1.0
_FIGURE_REFRESH_INTERVAL_S = 3.0  # Plotly draws a picture with new data from the ground up.


def show_live_regression(solve: regression.Regression) -> None:
    """Show `solve`, and again while it is active: figures every second, pictures less often."""
    job_panel.show_live_job(lambda: regression.find_regression(solve.id), _draw_live_regression, REFRESH_INTERVAL_S)
    # The first pictures are waited for.
    begins = solve.active and not list_started_solves(loader.load_solve_traces(solve))
    later = REFRESH_INTERVAL_S if begins else _FIGURE_REFRESH_INTERVAL_S
    st.fragment(_refresh_regression_figures, run_every=later if solve.active else None)(solve.id, begins)


def _draw_live_regression(solve: regression.Regression) -> None:
    answer.show_regression_answer(solve, loader.load_solve_traces(solve))
    job_panel.show_job_progress(solve, regression_words.format_iteration_progress(solve), prefix="solve_")


def _refresh_regression_figures(solve_id: str, waited: bool) -> None:
    """The pictures, or room for them; reruns the page once when the first can be drawn."""
    with guard_page():
        solve = regression.find_regression(solve_id)
        traces = loader.load_solve_traces(solve)
        if waited and list_started_solves(traces):
            st.rerun()
        if list_started_solves(traces):
            figures.show_regression_figures(solve, traces)
        elif solve.active:
            live.show_placeholder("The charts appear with the first iterations.")
