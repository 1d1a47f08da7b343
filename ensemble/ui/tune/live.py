"""One sweep as it goes on: the best so far, how far it is, what runs now, its pictures."""

import streamlit as st

from ensemble import runs, sweeps
from ensemble.errors import RunError
from ensemble.jobs.queue import ahead_of
from ensemble.sweeps import Sweep, Trial
from ensemble.ui.jobs import job_panel
from ensemble.ui.jobs.screen import forget_jobs, shown_state
from ensemble.ui.shared import address, guard
from ensemble.ui.tune import actions, answer, loader, pictures
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words

SECONDS_BETWEEN = 2.0
SECONDS_ASLEEP = 5.0  # it may be resumed or enlarged elsewhere: in another tab, or by a command
ENDED = ("complete", "pruned", "failed")
MOST_RUNNING = 6  # trials at work that have a line each


def watch(sweep: Sweep) -> None:
    """Show `sweep`, and again and again: often while it is active."""
    every = SECONDS_BETWEEN if sweep.active else SECONDS_ASLEEP
    st.fragment(watched, run_every=every)(sweep.id, shown_state(sweep))


def watched(sweep_id: str, last_state: str) -> None:
    """The body of `watch`."""
    with guard.guarded():
        sweep = sweeps.find(sweep_id)
        if shown_state(sweep) != last_state:
            forget_jobs()
            st.rerun()
        try:
            trials = loader.trials(sweep)
        except RunError as error:
            guard.problem(error)
            actions.removal(sweep)  # There is no other way to be rid of it.
            return
        answer.show(sweep, trials)
        state(sweep, trials)
        running(trials)
        actions.show(sweep, trials)
        if trials:
            pictures.show(sweep, trials)
        else:
            st.caption("Pictures stand here from the first trial on.")
        actions.removal(sweep)


def state(sweep: Sweep, trials: list[Trial]) -> None:
    """How far it is with Stop beside it; Resume where it was stopped or failed."""
    done = sum(one.state in ENDED for one in trials)
    detail = f"{done:,} of {formats.count(sweep.config.wanted, 'trial')}"
    if sweep.active:
        ahead = ahead_of(sweep) if sweep.state == "queued" else []
        job_panel.show(sweep, jobs_words.stage(sweep, ahead, detail), prefix="tune_")
        return
    job_panel.ended(sweep)
    if sweep.state in sweep.kind.resumable:
        job_panel.show(sweep, detail, prefix="tune_", resume=lambda: resume(sweep.id))


def resume(sweep_id: str) -> None:
    """Go on with it, and have the page look again by itself."""
    sweeps.resume(sweep_id)
    forget_jobs()


def running(trials: list[Trial]) -> None:
    """What is trained now: a link to each run, its settings, and how far it is."""
    active = [one for one in trials if one.state == "running"]
    for trial in active[:MOST_RUNNING]:
        run = answer.run_of(trial)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            title = f"Trial {trial.number + 1}"
            if run:
                st.page_link(
                    "pages/train.py",
                    label=title,
                    icon=":material/show_chart:",
                    query_params=address.RUN.link(run.id),
                    width="content",
                )
            else:
                st.markdown(title, width="content")
            said = [answer.params(trial), *(how_far(run) if run else ())]
            st.caption(escaping.markdown(" · ".join(said)), width="content")
    if len(active) > MOST_RUNNING:
        st.caption(f"And {len(active) - MOST_RUNNING} more trials at work.")


def how_far(run: runs.Run) -> list[str]:
    """The epoch that a run is at, and its best value so far."""
    if run.state != "training":
        return [run.state]
    said = [f"epoch {run.status.epoch} of {run.config.epochs}"]
    if (nll := run.status.best_ensemble_validation_nll) is not None:
        said.append(f"validation NLL {formats.significant(nll)} at best")
    return said
