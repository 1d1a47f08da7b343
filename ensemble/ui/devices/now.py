"""Who works on this machine now, and who waits, in the order of their turns."""

import streamlit as st

from ensemble.jobs.kinds import REGRESSION, STRESS, SWEEP, TRAINING
from ensemble.jobs.queue import QueuedJob, in_order
from ensemble.ui.shared import address
from ensemble.ui.shared.guard import guarded
from ensemble.wording import escaping
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import called

SECONDS_BETWEEN = 2.0
SHOWN = 8
# The screen of each kind of job, and its word in the address there.
SCREENS = {
    TRAINING: ("pages/train.py", address.RUN),
    STRESS: ("pages/inspect.py", address.RUN),
    REGRESSION: ("pages/parallel.py", address.SOLVE),
    SWEEP: ("pages/tune.py", address.SWEEP),
}


def show() -> None:
    """The list; looks again by itself while there is anybody."""
    busy = bool(in_order())
    st.fragment(watched, run_every=SECONDS_BETWEEN if busy else None)(busy)


def watched(was_busy: bool) -> None:
    """The body of `show`."""
    with guarded():
        every = in_order()
        if bool(every) != was_busy:
            st.rerun()
        if not every:
            st.caption("Nothing runs and nothing waits.")
            st.page_link(
                "pages/train.py", label="Train an ensemble", icon=":material/arrow_forward:"
            )
        for number, job in enumerate(every[:SHOWN]):
            line(job, jobs_words.stands(job, number))
        if (more := len(every) - SHOWN) > 0:
            st.caption(f"And {more} more.")


def line(job: QueuedJob, said: str) -> None:
    """One row: a link to its screen, its kind, how it stands."""
    if job.kind in SCREENS:
        page, word = SCREENS[job.kind]
        st.page_link(page, label=escaping.markdown(called(job)), query_params=word.link(job.id))
        st.caption(f"{job.kind.title} · {escaping.markdown(said)}")
    else:
        st.markdown(job.kind.title)
        st.caption(escaping.markdown(said))
