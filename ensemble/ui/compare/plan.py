"""Plan: how many members for how many epochs, of one of the runs that are compared."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.ui.compare import controls
from ensemble.ui.plan import panel
from ensemble.ui.shared import address
from ensemble.wording.run_names import format_unique_run_name


def show_comparison_plan(every: Sequence[runs.Run]) -> None:
    kept = [run for run in every if run.training_config and runs.list_prediction_epochs(run.id)]
    if not kept:
        st.info(
            "A plan is computed from the predictions after every epoch, and none of these runs was "
            "trained here and has finished an epoch.",
            icon=":material/event_busy:",
        )
        return
    names = {run.id: format_unique_run_name(run) for run in kept}
    trained_runs = [run for run in kept if run.training_config is not None]  # of others there is no plan
    chosen = controls.select_one_option(
        address.RUN,
        "Plan from",
        names,
        (trained_runs or kept)[0].id,
        width=420,
        help="From the predictions that this run keeps of every epoch.",
    )
    run = next(candidate for candidate in kept if candidate.id == chosen)
    panel.show_plan_panel(run)
