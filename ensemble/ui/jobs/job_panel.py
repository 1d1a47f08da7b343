"""A job of any kind on a page: how far it is, Stop and Resume, and how it ended."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.jobs.job import Job, is_stop_requested, request_job_stop
from ensemble.storage.plain_files import open_plain_file
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import Tab, tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping

_LOG_LINES, _LOG_BYTES = 40, 20_000


def show_job_progress(job: Job, text: str, *, prefix: str = "", resume: Callable[[], object] | None = None) -> None:
    """How far a job is, beside the button that stops it, or goes on with it.

    Args:
      resume: goes on with it; None where it cannot be gone on with.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(job.status.share, text=escaping.escape_markdown(text))
        if job.active:
            show_stop_button(job, prefix)
        elif resume and job.state in job.kind.resumable:
            _show_resume_button(resume, prefix, job.path)


def show_stop_button(job: Job, prefix: str = "") -> None:
    """Asks the job to stop; says so until it has, in every tab."""
    if is_stop_requested(job):
        st.button("Stopping…", disabled=True, key=f"{prefix}stopping", help=f"It stops {job.kind.stop_delay}.")
    else:
        # It may just have ended: then there is nobody to ask, which the page shows next.
        st.button(
            "Stop",
            icon=":material/stop:",
            key=f"{prefix}stop",
            on_click=_request_worker_stop,
            args=(job,),
            **rights.build_control_arguments(Action.STOP, job.path, help=job.kind.stop_help),
        )
        if problem := Tab.stop_problem.pop():
            guard.show_error_message(problem)


def _request_worker_stop(job: Job) -> None:
    """Callback: ask the worker to stop, or keep the reason why it cannot be asked."""
    try:
        request_job_stop(job)
    except EnsembleError as error:
        tab.stop_problem = str(error)


def _show_resume_button(resume: Callable[[], object], prefix: str = "", folder: Path | None = None) -> None:
    """Goes on where the job in `folder` ended, or says why not."""
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
