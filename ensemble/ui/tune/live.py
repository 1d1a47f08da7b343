"""One sweep as it goes on: the best so far, how far it is, what runs now, its pictures."""

import streamlit as st

from ensemble import runs, sweeps
from ensemble.errors import RunError
from ensemble.jobs.queue import list_jobs_ahead
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.jobs import job_panel
from ensemble.ui.jobs.job_screen import find_displayed_state, forget_jobs
from ensemble.ui.shared import address, guard
from ensemble.ui.tune import actions, answer, loader, sweep_views
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words

REFRESH_INTERVAL_S = 2.0
_IDLE_REFRESH_INTERVAL_S = 5.0  # it may be resumed or enlarged elsewhere: in another tab, or by a command
ENDED_STATES = ("complete", "pruned", "failed")
_MAX_LISTED_TRIALS = 6  # trials at work that have a line each


def show_live_sweep(sweep: Sweep) -> None:
    """Show `sweep`, and again and again: often while it is active."""
    every = REFRESH_INTERVAL_S if sweep.active else _IDLE_REFRESH_INTERVAL_S
    st.fragment(refresh_live_sweep, run_every=every)(sweep.id, find_displayed_state(sweep))


def refresh_live_sweep(sweep_id: str, last_state: str) -> None:
    """The body of `show_live_sweep`."""
    with guard.guard_page():
        sweep = sweeps.find_sweep(sweep_id)
        if find_displayed_state(sweep) != last_state:
            forget_jobs()
            st.rerun()
        try:
            trials = loader.load_sweep_trials(sweep)
        except RunError as error:
            guard.show_error_message(error)
            actions.show_sweep_deletion(sweep)  # There is no other way to be rid of it.
            return
        answer.show_sweep_answer(sweep, trials)
        _show_sweep_progress(sweep, trials)
        _show_running_trials(trials)
        actions.show_sweep_actions(sweep, trials)
        if trials:
            sweep_views.show_sweep_views(sweep, trials)
        else:
            st.caption("Charts appear after the first trial.")
        actions.show_sweep_deletion(sweep)


def _show_sweep_progress(sweep: Sweep, trials: list[Trial]) -> None:
    """How far it is with Stop beside it; Resume where it was stopped or failed."""
    done = sum(trial.state in ENDED_STATES for trial in trials)
    detail = f"{done:,} of {formats.format_count(sweep.config.trial_count, 'trial')}"
    if sweep.active:
        ahead = list_jobs_ahead(sweep) if sweep.state == "queued" else []
        job_panel.show_job_progress(sweep, jobs_words.describe_job_stage(sweep, ahead, detail), prefix="tune_")
        return
    job_panel.show_job_ending(sweep)
    if sweep.state in sweep.kind.resumable:
        job_panel.show_job_progress(sweep, detail, prefix="tune_", resume=lambda: _resume_shown_sweep(sweep.id))


def _resume_shown_sweep(sweep_id: str) -> None:
    sweeps.resume_sweep(sweep_id)
    forget_jobs()


def _show_running_trials(trials: list[Trial]) -> None:
    """What is trained now: a link to each run, its settings, and how far it is."""
    active = [running_trial for running_trial in trials if running_trial.state == "running"]
    for trial in active[:_MAX_LISTED_TRIALS]:
        run = answer.find_trial_run(trial)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            title = f"Trial {trial.number + 1}"
            if run:
                st.page_link(
                    "pages/train.py",
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
