"""What can be done with one run: open, rename, tag, note, pin, stop, resume, delete."""

import contextlib
from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.errors import RunError
from ensemble.jobs.folders import NAME_LENGTH
from ensemble.runs.annotations.baseline import read_baseline, write_baseline
from ensemble.runs.annotations.notes import NOTE_LENGTH, read_note, write_note
from ensemble.ui.frame import one_file
from ensemble.ui.jobs import deletion, job_panel
from ensemble.ui.runs import doing, groups, tagging, ways
from ensemble.ui.shared import address, run_panel, widget
from ensemble.ui.shared.run_panel import SCREEN
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.run_names import called


def panel(run: runs.Run, every: Sequence[runs.Run]) -> None:
    """Everything that can be done with `run`.

    Args:
      run: which.
      every: all runs: those that share a tag with it.
    """
    with st.container(border=True, key="run_actions"):
        title(run)
        if deletion.is_asked(SCREEN, run):
            deletion.sure(SCREEN, run, lambda act: doing.attempt(act, f"Deleted {called(run)}."))
        else:
            buttons(run)
            comparing(run, every)
        groups.show(run, "run_")
        naming(run)
        tagging.box([run], every)
        run_panel.cite_or_repeat(run)


def title(run: runs.Run) -> None:
    """Which run it is."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        run_panel.name_and_state(run, run.state)
        st.caption(escaping.markdown(run.id), width="content")
    if run.message:
        st.caption(escaping.markdown(run.message))


def open_links(run: runs.Run) -> None:
    """The ways to its screens."""
    for path, label, icon in (
        ("pages/train.py", "Open its curves", ":material/show_chart:"),
        ("pages/predictions.py", "Open its predictions", ":material/grid_view:"),
    ):
        st.page_link(
            path, label=label, icon=icon, query_params=address.RUN.link(run.id), width="content"
        )


def comparing(run: runs.Run, every: Sequence[runs.Run]) -> None:
    """The pin of its dataset's baseline, and the ways to runs that it can be compared with."""
    pinned = read_baseline(run.config.dataset) == run.id
    data = escaping.markdown(run.data.title)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Unpin as the baseline of {data}" if pinned else f"Pin as the baseline of {data}",
            icon=":material/keep_off:" if pinned else ":material/keep:",
            key="run_pin",
            type="tertiary",
            on_click=pin,
            args=(run.config.dataset, None if pinned else run.id),
            **rights.given(
                Action.CHANGE, help="Compare measures other runs on this data against it."
            ),
        )
        ways.of_run(run, every)


def pin(dataset: str, run_id: str | None) -> None:
    """Callback: this run, or none, is the baseline of its dataset."""
    said = "Pinned: others on its data are compared with it." if run_id else "Unpinned."
    doing.attempt(lambda: write_baseline(dataset, run_id), said)


def naming(run: runs.Run) -> None:
    """Name and note, kept as soon as the box is left: what was typed is never lost."""
    left, right = st.columns([1, 2])
    left.text_input(
        "Name",
        "" if run.name == run.id else run.name,
        max_chars=NAME_LENGTH,
        placeholder=called(run),
        key=(key := f"name_of_{run.id}"),
        on_change=rename,
        args=(run.id, key),
        **rights.given(
            Action.CHANGE,
            run.path,
            help="Kept as soon as you leave the box. Empty, it goes by what it is.",
        ),
    )
    right.text_area(
        "Note",
        read_note(run),
        max_chars=NOTE_LENGTH,
        key=(key := f"note_of_{run.id}"),
        height=100,
        placeholder="What you tried, and what came of it",
        on_change=note,
        args=(run.id, key),
        **rights.given(Action.CHANGE, run.path, help="Kept as soon as you leave the box."),
    )


def rename(run_id: str, key: str) -> None:
    """Callback: keep the name."""
    name = widget.value(key)
    with contextlib.suppress(RunError):  # where there is no such run, that is said below
        run = runs.find(run_id)
        if name == ("" if run.name == run.id else run.name):
            return  # A drawing that was cut short has the browser tell of the box once more.
    doing.attempt(lambda: runs.rename(run_id, name), "The name is kept.")


def note(run_id: str, key: str) -> None:
    """Callback: keep the note."""
    text = widget.value(key)
    with contextlib.suppress(RunError):
        if text.strip() == read_note(runs.find(run_id)):
            return
    doing.attempt(lambda: write_note(run_id, text), "The note is kept.")


def buttons(run: runs.Run) -> None:
    """Open, stop or resume, and the first question before deleting."""
    with st.container(horizontal=True, vertical_alignment="center"):
        open_links(run)
        one_file.button([run], "run_one_file")
        st.space("stretch")
        if run.active:
            job_panel.stop_button(run, "run_")
        else:
            st.button(
                "Resume",
                icon=":material/resume:",
                key="run_resume",
                on_click=resume,
                args=(run.id,),
                **rights.given(Action.CHANGE, run.path, disabled=not run.may_resume),
            )
        deletion.ask_button(SCREEN, run)
    if reason := why_not(run):
        st.caption(reason)


def why_not(run: runs.Run) -> str:
    """Why a button is disabled, in a sentence; "" when none is."""
    if why := rights.why_not(Action.DELETE, run.path):
        return escaping.markdown(why)
    if run.active:
        return "An active run cannot be deleted: stop it first."
    if run.origin:
        return "It came in a report, which holds no checkpoints: there is nothing here to resume."
    return {
        "finished": "A finished run cannot be resumed: launch a new one for more epochs.",
        "imported": "It was trained elsewhere: there is nothing here to resume.",
        "diverged": "A diverged run cannot be resumed, for the same numbers would diverge again: "
        "launch one with a lower learning rate.",
    }.get(run.state, "")


def resume(run_id: str) -> None:
    """Callback: go on where the run ended."""
    doing.attempt(lambda: runs.resume(run_id), "Resumed: it goes on from its last checkpoint.")
