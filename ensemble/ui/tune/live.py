"""One sweep as it goes on: the best so far, how far it is, what runs now, its pictures."""

import streamlit as st

from ensemble import runs, sweeps
from ensemble.errors import RunError
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import address, guard
from ensemble.ui.tune import actions, answer, loader, sweep_views
from ensemble.ui.tune.screen import get_trial_page
from ensemble.wording import escaping, formats

REFRESH_INTERVAL_S = 2.0
_IDLE_REFRESH_INTERVAL_S = 5.0  # it may be resumed or enlarged elsewhere: in another tab, or by a command
ENDED_STATES = ("complete", "pruned", "failed")
_MAX_LISTED_TRIALS = 6  # trials at work that have a line each


def show_live_sweep(sweep: Sweep) -> None:
    """Show `sweep`, and again: often while it is active."""
    job_panel.show_live_job(
        lambda: sweeps.find_sweep(sweep.id), _draw_live_sweep, REFRESH_INTERVAL_S, _IDLE_REFRESH_INTERVAL_S
    )


def _draw_live_sweep(sweep: Sweep) -> None:
    try:
        trials = loader.load_sweep_trials(sweep)
    except RunError as error:
        guard.show_error_message(error)
        actions.show_sweep_deletion(sweep)  # There is no other way to be rid of it.
        return
    answer.show_sweep_answer(sweep, trials)
    done = sum(trial.state in ENDED_STATES for trial in trials)
    detail = f"{done:,} of {formats.format_count(sweep.config.trial_count, 'trial')}"
    job_panel.show_job_progress(sweep, detail, prefix="tune_", resume=lambda: sweeps.resume_sweep(sweep.id))
    _show_running_trials(sweep, trials)
    actions.show_sweep_actions(sweep, trials)
    if trials:
        sweep_views.show_sweep_views(sweep, trials)
    else:
        st.caption("Charts appear after the first trial.")
    actions.show_sweep_deletion(sweep)


def _show_running_trials(sweep: Sweep, trials: list[Trial]) -> None:
    """What is trained now: a link to each run, its settings, and how far it is."""
    active = [running_trial for running_trial in trials if running_trial.state == "running"]
    for trial in active[:_MAX_LISTED_TRIALS]:
        run = answer.find_trial_run(trial)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            title = f"Trial {trial.number + 1}"
            if run:
                st.page_link(
                    get_trial_page(sweep),
                    label=title,
                    icon=":material/show_chart:",
                    query_params=address.RUN.build_query(run.id),
                    width="content",
                )
            else:
                st.markdown(title, width="content")
            parts = [answer.describe_trial_settings(trial), *(_describe_trial_progress(run) if run else ())]
            st.caption(escaping.escape_markdown(" · ".join(parts)), width="content")
    if len(active) > _MAX_LISTED_TRIALS:
        st.caption(f"And {len(active) - _MAX_LISTED_TRIALS} more trials running.")


def _describe_trial_progress(run: runs.Run) -> list[str]:
    if run.state != "training":
        return [run.state]
    parts = [f"epoch {run.status.epoch} of {run.config.epochs}"]
    if (nll := run.status.best_ensemble_validation_nll) is not None:
        parts.append(f"validation NLL {formats.format_significant(nll)} at best")
    return parts
