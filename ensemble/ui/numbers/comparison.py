"""A run that predicts numbers against another of the same examples."""

import streamlit as st

from ensemble.comparison.run_groups import have_same_table
from ensemble.errors import RunError
from ensemble.runs.store import Run, find_regression_run
from ensemble.ui.compare.selected_runs import MAX_RUNS
from ensemble.ui.render import read_view_choice, render_view
from ensemble.ui.shared import address, guard
from ensemble.ui.shared.run_panel import NUMERIC_SCREEN
from ensemble.views.numeric.regression_groups import build_regression_comparison
from ensemble.views.parts import Choice, View
from ensemble.wording.run_names import format_unique_run_name


def show_numeric_comparison(run: Run) -> None:
    """Show the control for the other run, and how far the errors of both differ."""
    others = [other for other in NUMERIC_SCREEN.list_jobs() if other.id != run.id]
    if not others:
        st.info(
            "Import another run of the same examples: it is compared with this one, example by example.",
            icon=":material/compare_arrows:",
        )
        return
    together = [other.id for other in others if have_same_table(run, other)]
    if together:
        st.page_link(
            "pages/compare.py",
            label=f"Compare all {len(together) + 1} runs of this table by settings and seeds",
            icon=":material/casino:",
            query_params=address.RUNS.build_query((run.id, *together[: MAX_RUNS - 1])),
        )
    names = {other.id: format_unique_run_name(other) for other in others}
    choice = Choice(address.WITH.name, "Compare with", names, next(iter(names)), form="list", width=420)

    def ask_other_run() -> View:
        yield choice

    render_view(ask_other_run(), job=run)
    try:
        other = find_regression_run(read_view_choice(choice))
    except RunError as error:
        guard.show_error_message(error)
        return
    render_view(build_regression_comparison([run, other], other.id), job=run)
