"""Who works on this machine now, and who waits, in the order of their turns."""

from dataclasses import dataclass

import streamlit as st

from ensemble import regression, runs
from ensemble.jobs.queue import Job, Place, in_order
from ensemble.shift.status import read_stress_status
from ensemble.ui.shared.guard import guarded
from ensemble.ui.shared.run_panel import plain
from ensemble.wording import formats

SECONDS_BETWEEN = 2.0
SHOWN = 8
KINDS = {
    "training": ("Training", "pages/train.py", "run"),
    "stress": ("Measuring under shift", "pages/inspect.py", "run"),
    "solving": ("Regression", "pages/parallel.py", "solve"),
    "race": ("Measuring this machine", "", ""),
}


@dataclass(frozen=True)
class Entry:
    """One that works or waits: what it is called, its kind, and how it stands in words."""

    name: str
    kind: str
    stands: str


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
            st.page_link("pages/train.py", label="Train an ensemble",
                         icon=":material/arrow_forward:")  # fmt: skip
        for number, (place, job) in enumerate(every[:SHOWN]):
            line(place, job, entry(place, job, number))
        if (more := len(every) - SHOWN) > 0:
            st.caption(f"And {more} more.")


def line(place: Place, job: Job, shown: Entry) -> None:
    """One row: a link to its screen, its kind, how it stands."""
    _, page, word = KINDS[place.job]
    if page:
        st.page_link(page, label=plain(shown.name), query_params={word: job.id})
    else:
        st.markdown(shown.kind)
    st.caption(f"{shown.kind} · {shown.stands}" if page else shown.stands)


def entry(place: Place, job: Job, number: int) -> Entry:
    """What is said of one.

    Args:
      place: its place in the order.
      job: the run, regression or race.
      number: how many come before it.
    """
    if place.job == "stress" and isinstance(job, runs.Run):
        status = read_stress_status(job.path)
        state = status.state if status else "queued"
        share, left = (status.progress, status.seconds_left) if status else (0.0, None)
    else:
        state, share, left = job.state, progress(job), job.status.seconds_left
    return Entry(job.name, KINDS[place.job][0], stands(state, share, left, number))


def progress(job: Job) -> float:
    """The share that is done, in [0, 1]."""
    if isinstance(job, runs.Run):
        return job.status.step / job.status.steps if job.status.steps else 0.0
    if isinstance(job, regression.Solve):
        return job.status.iteration / job.status.iterations if job.status.iterations else 0.0
    return job.status.progress


def stands(state: str, share: float, left: float | None, number: int) -> str:
    """How far it is, or its place: "training · 40 % · 30 s left", "waits, 1 job before it"."""
    if state == "queued" and number:
        return f"waits, {formats.count(number, 'job')} before it"
    if state in ("queued", "starting"):
        return "starting"
    said = f"{state} · {formats.progress(share)}"
    return f"{said} · {formats.duration(left)} left" if left is not None else said
