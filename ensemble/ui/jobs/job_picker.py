"""Which job a screen is about: its name and state, and a box to choose another in."""

import contextlib
import time
from dataclasses import dataclass
from typing import Generic, Literal

import streamlit as st

from ensemble.errors import RunError
from ensemble.jobs.kinds import list_job_kinds
from ensemble.ui.jobs.job_screen import J, JobScreen, find_displayed_state
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name, format_unique_run_name

# How each state looks: colour and icon of its badge.
_Color = Literal["gray", "blue", "green", "orange", "red"]
_STATE_BADGES: dict[str, tuple[_Color, str]] = {
    **{kind.working_state: ("blue", ":material/play_arrow:") for kind in list_job_kinds()},
    "queued": ("gray", ":material/hourglass_empty:"),
    "starting": ("gray", ":material/hourglass_top:"),
    "finished": ("green", ":material/check:"),
    "finished at chance level": ("orange", ":material/casino:"),
    "imported": ("gray", ":material/upload_file:"),
    "imported at chance level": ("orange", ":material/casino:"),
    "stopped": ("orange", ":material/stop:"),
    "diverged": ("red", ":material/trending_up:"),
    "failed": ("red", ":material/error:"),
}
LAUNCHED_JOB_TIMEOUT_S = 3.0


@dataclass(frozen=True)
class _JobChoice(Generic[J]):
    """The job to show, or why there is none: `problem` is "" when there are none yet."""

    job: J | None
    problem: str = ""


def select_shown_job(screen: JobScreen[J]) -> _JobChoice[J]:
    """The one just launched, else the one that the address names, else the last shown or newest.

    The address is what a refresh, a second tab and a link share, so what was chosen is written
    there.
    """
    find, name = screen.find, screen.memory_name
    launched, when = tab.job_next[name]
    if launched and time.monotonic() - when < LAUNCHED_JOB_TIMEOUT_S:
        with contextlib.suppress(RunError):
            return remember_shown_job(screen, find(launched))
    if wanted := screen.word.read():
        try:
            return remember_shown_job(screen, find(wanted))
        except RunError as error:
            return _JobChoice(None, str(error))
    if last := tab.job_shown[name]:
        try:
            return remember_shown_job(screen, find(last))
        except RunError:  # deleted meanwhile, on another page or in another tab
            del tab.job_shown[name]
    for listed in screen.list_jobs():
        # It may have been deleted elsewhere within the two seconds that the list is kept for.
        with contextlib.suppress(RunError):
            return remember_shown_job(screen, find(listed.id))
    return _JobChoice(None)


def remember_shown_job(screen: JobScreen[J], job: J) -> _JobChoice[J]:
    """Put `job` into the address and into this tab's memory."""
    tab.job_shown[screen.memory_name] = job.id
    screen.word.set_value(job.id)
    return _JobChoice(job)


def set_next_shown_job(screen: JobScreen[J], job: J) -> None:
    """Have the next runs of the page show `job`.

    What a part of the page that runs alone writes into the address can be lost on the way to
    the browser, which then sends the former address with whatever it asks next. So it is
    remembered for as long as such a request may be on its way.
    """
    tab.job_next[screen.memory_name] = job.id, time.monotonic()
    _clear_dependent_words(screen)


def forget_shown_job(screen: JobScreen[J]) -> None:
    """Take it out of the address, so that the newest is shown."""
    screen.word.set_value(None)
    _clear_dependent_words(screen)
    del tab.job_shown[screen.memory_name]
    del tab.job_next[screen.memory_name]


def show_missing_job(screen: JobScreen[J], problem: str) -> None:
    st.warning(escaping.escape_markdown(problem), icon=":material/link_off:")
    show_way_on(screen)


def show_way_on(screen: JobScreen[J]) -> None:
    label = screen.first_step
    if newest := screen.list_jobs()[:1]:
        label = f"Show the newest {screen.noun}, {escaping.escape_markdown(format_run_name(newest[0]))}"
    key = f"{screen.prefix}way_on"
    st.button(label, on_click=forget_shown_job, args=(screen,), type="primary", key=key)


def show_job_header(screen: JobScreen[J], job: J) -> None:
    """Its name and state, and a picker for another, in one line; its settings behind the "?"."""
    text = escaping.escape_markdown(f"{screen.describe_details(job)} · {job.id}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run_line"):
        show_job_title(format_run_name(job), find_displayed_state(job))
        st.caption("Settings", width="content", help=text)
        st.space("stretch")
        show_job_picker(screen, job)


def show_job_title(name: str, state: str) -> None:
    color, icon = _STATE_BADGES[state]
    st.subheader(escaping.escape_markdown(name), anchor=False, width="content")
    st.badge(state, icon=icon, color=color)


def show_job_picker(screen: JobScreen[J], job: J) -> None:
    """A box to look for another in; choosing one changes the address.

    Each job has a box of its own: the browser may still send what the box of the one before
    showed, and that must not count as a choice.
    """
    names = {listed_job.id: format_unique_run_name(listed_job) for listed_job in (*screen.list_jobs(), job)}
    widget_state.set_widget_value(key := f"{screen.memory_name}_picker_{job.id}", job.id)
    widget_state.draw_widget(
        st.selectbox,
        screen.noun.capitalize(),
        list(names),
        format_func=names.__getitem__,
        key=key,
        width=320,
        label_visibility="collapsed",
        on_change=switch_shown_job,
        args=(screen, key),
        help=f"Show another {screen.noun}",
    )


def switch_shown_job(screen: JobScreen[J], key: str) -> None:
    """Callback of the picker: the address follows; one deleted meanwhile is not followed."""
    del tab.job_next[screen.memory_name]
    with contextlib.suppress(RunError):
        remember_shown_job(screen, screen.find(widget_state.get_widget_value(key)))
        _clear_dependent_words(screen)


def _clear_dependent_words(screen: JobScreen[J]) -> None:
    for word in screen.dependent_words:
        word.set_value(None)
