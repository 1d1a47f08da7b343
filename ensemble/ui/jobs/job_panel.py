"""A job of any kind on a page: how far it is, Stop and Resume, and how it ended."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import streamlit as st

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.jobs.job import Job, is_stop_requested, request_job_stop
from ensemble.jobs.queue import list_jobs_ahead
from ensemble.storage.plain_files import open_plain_file
from ensemble.ui.jobs.job_screen import find_displayed_state, forget_jobs
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import Tab, tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording import jobs as jobs_words

_LOG_LINES, _LOG_BYTES = 40, 20_000

JobT = TypeVar("JobT", bound=Job)


def show_live_job(
    find: Callable[[], JobT | None],
    draw: Callable[[JobT], object],
    active_interval_s: float = 1.0,
    ended_interval_s: float | None = None,
) -> None:
    """Draw a job, and again while it is active; rerun the page when its state changes.

    Args:
      find: reads the job; None if it does not exist.
      draw: draws it in a fragment.
      active_interval_s: seconds between two looks at an active job.
      ended_interval_s: the same if it has ended, as it may be resumed elsewhere; None for one look.
    """
    job = find()
    every = active_interval_s if job and job.active else ended_interval_s
    st.fragment(refresh_live_job, run_every=every)(find, draw, find_displayed_state(job) if job else None)


def refresh_live_job(find: Callable[[], JobT | None], draw: Callable[[JobT], object], last_state: str | None) -> None:
    with guard.guard_page():
        job = find()
        if (find_displayed_state(job) if job else None) != last_state:
            forget_jobs()
            st.rerun()
        if job:
            draw(job)


def show_job_progress(
    job: Job, detail: str = "", *, prefix: str = "", resume: Callable[[], object] | None = None
) -> None:
    """Show how far a job is with Stop next to it; once it has ended, how, and Resume if it can continue.

    Args:
      job: of any kind.
      detail: how much is done: "3 of 8 trials".
      prefix: begins the keys of its controls.
      resume: continues it; None if it cannot be continued here.
    """
    if job.active:
        ahead = list_jobs_ahead(job) if job.state == "queued" else []
        show_progress_bar(job, jobs_words.describe_job_stage(job, ahead, detail), prefix)
        return
    show_job_ending(job)
    if resume and job.state in job.kind.resumable:
        show_progress_bar(job, detail, prefix, resume)


def show_progress_bar(job: Job, text: str, prefix: str = "", resume: Callable[[], object] | None = None) -> None:
    """Show a bar with a text next to Resume if `resume` is given, else to Stop if the job is active."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(job.status.share, text=escaping.escape_markdown(text))
        if resume:
            _show_resume_button(resume, prefix, job.path)
        elif job.active:
            show_stop_button(job, prefix)


def show_stop_button(job: Job, prefix: str = "") -> None:
    """Asks the job to stop; says so until it has, in every tab."""
    if is_stop_requested(job):
        st.button("Stopping…", disabled=True, key=f"{prefix}stopping", help=f"It stops {job.kind.stop_delay}.")
    else:
        # It may just have ended: then nobody is asked, which the page shows next.
        show_job_button(
            "Stop",
            f"{prefix}stop",
            lambda: request_job_stop(job),
            Action.STOP,
            job.path,
            icon=":material/stop:",
            help=job.kind.stop_help,
        )


def show_job_button(
    label: str,
    key: str,
    press: Callable[[], object],
    action: Action,
    folder: Path | None = None,
    *,
    icon: str,
    help: str,
    primary: bool = False,
) -> None:
    """Show a button that starts or stops a job, and why it could not if it was pressed in vain.

    Args:
      label: of the button.
      key: of the button.
      press: what it does, before the page is drawn again.
      action: what the user must be allowed to do.
      folder: of the job that it is about.
      icon: of the button.
      help: of the button.
      primary: whether it is the main button of the page.
    """
    st.button(
        label,
        key=key,
        icon=icon,
        type="primary" if primary else "secondary",
        on_click=_press_job_button,
        args=(key, press),
        **rights.build_control_arguments(action, folder, help=help),
    )
    if problem := Tab.job_problem.pop(key):
        guard.show_error_message(problem)


def _press_job_button(key: str, press: Callable[[], object]) -> None:
    """Callback: start or stop the job, or keep the reason why that is impossible."""
    try:
        press()
    except EnsembleError as error:
        tab.job_problem[key] = str(error)
    finally:
        forget_jobs()


def _show_resume_button(resume: Callable[[], object], prefix: str, folder: Path) -> None:
    """Continue the job in `folder`, or report why it cannot be continued."""
    if not st.button(
        "Resume",
        icon=":material/resume:",
        key=f"{prefix}resume",
        type="primary",
        **rights.build_control_arguments(Action.CHANGE, folder),
    ):
        return
    try:
        resume()
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    forget_jobs()
    st.rerun()


def show_job_ending(job: Job) -> None:
    if job.state == "stopped":
        message = job.message or f"Stopped: {job.kind.kept_clause}."
        st.info(escaping.escape_markdown(message), icon=":material/stop:")
    elif job.state == "failed":
        guard.show_error_message(job.message or f"It ended unexpectedly; {job.kind.kept_clause}.")
        if tail := read_log_tail(job.path / "log.txt"):
            with st.expander("The end of its log"):
                st.code(tail, language=None)


def read_log_tail(path: Path) -> str:
    """The last lines of a log, "" when there is none."""
    try:
        with open_plain_file(path) as file:
            file.seek(max(0, path.stat().st_size - _LOG_BYTES))
            text = file.read(_LOG_BYTES).decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-_LOG_LINES:])
