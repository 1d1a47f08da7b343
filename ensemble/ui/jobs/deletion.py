"""Deleting the job that a screen is about, which is asked twice; and what else is done with it."""

from collections.abc import Callable

import streamlit as st

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.storage.refusals import said_of
from ensemble.ui.frame import danger
from ensemble.ui.jobs import picker
from ensemble.ui.jobs.screen import J, JobScreen, forget_jobs
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.run_names import called, told_apart


def is_asked(screen: JobScreen[J], job: J) -> bool:
    """Whether the first press was on Delete: then only `sure` stands there."""
    return tab.job_to_delete[screen.word.name] == job.id


def ask_button(screen: JobScreen[J], job: J) -> None:
    """The first press, which only asks."""
    danger.ask_button(
        "Delete…",
        key=f"{screen.prefix}delete",
        on_click=ask,
        args=(screen, job.id),
        **rights.given(
            Action.DELETE,
            job.path,
            disabled=job.active,
            help="Stop it first." if job.active else None,
        ),
    )


def sure(
    screen: JobScreen[J], job: J, deleting: Callable[[Callable[[], None]], bool] | None = None
) -> None:
    """The second question, and both answers to it.

    Args:
      screen: that is about it.
      job: which.
      deleting: does what it is given, which deletes the job, and keeps what is to be told of
        that; whether it was done. `attempt` by default.
    """
    name, which = escaping.markdown(called(job)), escaping.markdown(told_apart(job))
    st.warning(f"Delete {which}{screen.deleted_with_it}", icon=":material/delete_forever:")
    with st.container(horizontal=True):
        danger.sure_button(
            f"Delete {name} for good",
            key=f"{screen.prefix}delete_sure",
            on_click=delete,
            args=(screen, job.id, deleting or (lambda act: attempt(screen, act))),
        )
        st.button("Keep it", key=f"{screen.prefix}keep", on_click=ask, args=(screen, None))


def ask(screen: JobScreen[J], job_id: str | None) -> None:
    """Callback: the first press on Delete, or Keep it."""
    tab.job_to_delete[screen.word.name] = job_id


def delete(
    screen: JobScreen[J], job_id: str, deleting: Callable[[Callable[[], None]], bool]
) -> None:
    """Callback: the second press."""
    ask(screen, None)
    if deleting(lambda: screen.store.delete(job_id)):
        picker.forget(screen)


def attempt(screen: JobScreen[J], act: Callable[[], object]) -> bool:
    """Do it, or keep the reason why it cannot be done, for `tell`; whether it was done."""
    problem = ""
    try:
        act()
    except EnsembleError as error:
        problem = str(error)
    except OSError as error:
        if not (problem := said_of(error) or ""):
            raise
    finally:
        forget_jobs()
    tab.job_said[screen.word.name] = problem
    return not problem


def tell(screen: JobScreen[J]) -> None:
    """Why the last press could not be obeyed: told once."""
    if said := tab.job_said.take(screen.word.name):
        guard.problem(said)
