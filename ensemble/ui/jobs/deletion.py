"""Deleting the job that a screen is about, which is asked twice; and what else is done with it."""

from collections.abc import Callable

import streamlit as st

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.storage.disk_errors import describe_disk_error
from ensemble.ui.frame import destructive_buttons
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs.job_screen import J, JobScreen, forget_jobs
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name, format_unique_run_name


def is_deletion_requested(screen: JobScreen[J], job: J) -> bool:
    """Whether the first press was on Delete: then only `show_delete_confirmation` stands there."""
    return tab.job_to_delete[screen.memory_name] == job.id


def show_delete_button(screen: JobScreen[J], job: J) -> None:
    """The first press, which only asks."""
    destructive_buttons.show_destructive_button(
        "Delete…",
        key=f"{screen.prefix}delete",
        on_click=_request_job_deletion,
        args=(screen, job.id),
        **rights.build_control_arguments(
            Action.DELETE, job.path, disabled=job.active, help="Stop it first." if job.active else None
        ),
    )


def show_delete_confirmation(
    screen: JobScreen[J], job: J, deleting: Callable[[Callable[[], None]], bool] | None = None
) -> None:
    """The second question, and both answers to it.

    Args:
      deleting: does what it is given, which deletes the job, and keeps what is to be told of
        that; whether it was done. `attempt_job_action` by default.
    """
    name, which = (
        escaping.escape_markdown(format_run_name(job)),
        escaping.escape_markdown(format_unique_run_name(job)),
    )
    st.warning(f"Delete {which}{screen.deletion_question_end}", icon=":material/delete_forever:")
    with st.container(horizontal=True):
        destructive_buttons.show_confirmation_button(
            f"Delete {name} for good",
            key=f"{screen.prefix}delete_sure",
            on_click=_delete_confirmed_job,
            args=(screen, job.id, deleting or (lambda act: attempt_job_action(screen, act))),
        )
        st.button("Keep it", key=f"{screen.prefix}keep", on_click=_request_job_deletion, args=(screen, None))


def _request_job_deletion(screen: JobScreen[J], job_id: str | None) -> None:
    """Callback: the first press on Delete, or Keep it."""
    tab.job_to_delete[screen.memory_name] = job_id


def _delete_confirmed_job(screen: JobScreen[J], job_id: str, deleting: Callable[[Callable[[], None]], bool]) -> None:
    """Callback: the second press."""
    _request_job_deletion(screen, None)
    if deleting(lambda: screen.store.delete(job_id)):
        job_picker.forget_shown_job(screen)


def attempt_job_action(screen: JobScreen[J], act: Callable[[], object]) -> bool:
    """Do it, or keep the reason why not for `show_job_action_problem`; whether it was done."""
    problem = ""
    try:
        act()
    except EnsembleError as error:
        problem = str(error)
    except OSError as error:
        if not (problem := describe_disk_error(error) or ""):
            raise
    finally:
        forget_jobs()
    tab.job_error[screen.memory_name] = problem
    return not problem


def show_job_action_problem(screen: JobScreen[J]) -> None:
    """Why the last press could not be obeyed: told once."""
    if problem := tab.job_error.pop(screen.memory_name):
        guard.show_error_message(problem)
