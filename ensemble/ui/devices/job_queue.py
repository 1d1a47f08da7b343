"""Who works on this machine now, and who waits, in the order of their turns."""

import streamlit as st

from ensemble import config
from ensemble.acquisition.learning_job import LEARNING
from ensemble.jobs.kinds import SWEEP, TRAINING
from ensemble.jobs.queue import QueuedJob, list_queued_jobs
from ensemble.regression.regression_job import REGRESSION
from ensemble.shift.stress_job import STRESS
from ensemble.ui.shared import address
from ensemble.ui.shared.guard import guard_page
from ensemble.wording import escaping, formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import format_run_name

POLL_INTERVAL_S = 2.0
_MAX_SHOWN_JOBS = 8
# The screen of each kind of job, and its word in the address there.
SCREENS = {
    TRAINING: ("pages/train.py", address.RUN),
    STRESS: ("pages/inspect.py", address.RUN),
    REGRESSION: ("pages/parallel.py", address.SOLVE),
    SWEEP: ("pages/tune.py", address.SWEEP),
    LEARNING: ("pages/labels.py", address.LEARNING),
}


def show_job_queue() -> None:
    """The list; looks again by itself while there is anybody."""
    busy = bool(list_queued_jobs())
    st.fragment(_refresh_job_queue, run_every=POLL_INTERVAL_S if busy else None)(busy)


def _refresh_job_queue(was_busy: bool) -> None:
    """The body of `show_job_queue`."""
    with guard_page():
        every = list_queued_jobs()
        if bool(every) != was_busy:
            st.rerun()
        going = formats.format_count(len(every), "job") if every else "Nothing"
        is_or_are = "are" if len(every) > 1 else "is"
        st.markdown(f"### {going} {is_or_are} running or queued")
        if not every:
            st.page_link("pages/train.py", label="Train an ensemble", icon=":material/arrow_forward:")
        for number, job in enumerate(every[:_MAX_SHOWN_JOBS]):
            _show_queued_job(job, jobs_words.describe_queued_job(job, number))
        if (more := len(every) - _MAX_SHOWN_JOBS) > 0:
            st.caption(f"And {more} more.")


def _show_queued_job(job: QueuedJob, sentence: str) -> None:
    """One row: a link to its screen, its kind, how it stands."""
    if job.kind in SCREENS:
        page, word = SCREENS[job.kind]
        page = "pages/numbers.py" if job.task == config.REGRESSION else page
        st.page_link(page, label=escaping.escape_markdown(format_run_name(job)), query_params=word.build_query(job.id))
        st.caption(f"{job.kind.title} · {escaping.escape_markdown(sentence)}")
    else:
        st.markdown(job.kind.title)
        st.caption(escaping.escape_markdown(sentence))
