"""The button that launches a job as its controls say: what it will do, or why it cannot."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.jobs.job import Job
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import list_blocking_jobs
from ensemble.ui.jobs.job_screen import J, JobScreen, forget_jobs
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording import jobs as jobs_words

_DOUBLE_CLICK_SECONDS = 2.0

C = TypeVar("C")


@dataclass(frozen=True)
class LaunchPlan(Generic[C]):
    """What the button will do: the config of the job, or the reason why it cannot be launched."""

    config: C | None
    label: str
    reason: str = ""
    note: str = ""
    placement: Placement | None = None


_LaunchFunction = Callable[[C, Placement | None], None]


def show_launch_button(
    key: str,
    make_plan: Callable[[], LaunchPlan[C]],
    still_asked: Callable[[], bool],
    press: _LaunchFunction[C],
    below: Callable[[LaunchPlan[C]], None],
    primary: bool = True,
) -> None:
    """The button that starts what the settings say, with the reason where it cannot.

    Args:
      below: what else stands below it.
    """

    def refresh_button(was_waiting: bool) -> None:
        """Looks again until all is known."""
        if still_asked() != was_waiting:
            st.rerun()
        show_planned_button(planned := make_plan(), key, press, primary)
        if planned.reason:
            st.caption(f":material/block: {escaping.escape_markdown(planned.reason)}")
        if planned.note:
            st.caption(escaping.escape_markdown(planned.note))
        below(planned)

    waiting = still_asked()
    st.fragment(refresh_button, run_every=0.5 if waiting else None)(waiting)


def is_launch_main_action(job: Job | None) -> bool:
    """Whether Launch beside a job is the page's one main action.

    On a first visit the page itself has a button that launches; beside what was cut off that is
    Resume.
    """
    return job is not None and job.state not in job.kind.resumable


def show_queue_note(planned: LaunchPlan[C]) -> None:
    if (after := jobs_words.describe_start_order(list_blocking_jobs())) and not planned.reason:
        st.caption(escaping.escape_markdown(after))


def show_planned_button(planned: LaunchPlan[C], key: str, press: _LaunchFunction[C], primary: bool = True) -> None:
    pressed = st.button(
        planned.label,
        type="primary" if primary else "secondary",
        icon=":material/play_arrow:",
        key=key,
        width="stretch",
        **rights.build_control_arguments(Action.LAUNCH, disabled=planned.config is None),
    )
    if pressed and planned.config:
        press(planned.config, planned.placement)


def launch_job_once(screen: JobScreen[J], request: object, begin: Callable[[], J], show: Callable[[J], object]) -> None:
    """Start a job and show it; a second click does not start two."""
    last, when = tab.job_launched[screen.memory_name]
    if last == request and time.monotonic() - when < _DOUBLE_CLICK_SECONDS:
        return
    try:
        job = begin()
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    tab.launched_at = time.monotonic()
    tab.job_launched[screen.memory_name] = request, tab.launched_at
    forget_jobs()
    show(job)
    st.rerun()
