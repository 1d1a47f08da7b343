"""What can be done with one run: open, rename, tag, note, pin, stop, resume, delete."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.jobs.folders import MAX_NAME_LENGTH, read_run_name
from ensemble.runs.annotations.baseline import read_baseline, write_baseline
from ensemble.runs.annotations.names import write_run_name
from ensemble.runs.annotations.notes import MAX_NOTE_LENGTH, read_run_note, write_run_note
from ensemble.ui.frame import report_download
from ensemble.ui.jobs import deletion, job_panel
from ensemble.ui.runs import compare_links, groups, run_actions, tag_editor, take_away
from ensemble.ui.shared import address, run_panel, widget_state
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name


def show_run_action_panel(run: runs.Run, every: Sequence[runs.Run], *, on_own_page: bool = False) -> None:
    """Show all actions for `run`; on its own page only those that the page does not offer elsewhere."""
    screen = run_panel.find_run_screen(run)
    with st.container(border=True, key="run_actions"):
        if not on_own_page:
            _show_run_title(run)
        if deletion.is_deletion_requested(screen, run):
            deletion.show_delete_confirmation(
                screen, run, lambda act: run_actions.attempt_run_action(act, f"Deleted {format_run_name(run)}.")
            )
        elif on_own_page:
            with st.container(horizontal=True, horizontal_alignment="right"):
                deletion.show_delete_button(screen, run)
        else:
            _show_run_buttons(run)
            _show_baseline_controls(run, every)
        groups.show_run_groups(run, "run_")
        _show_name_and_note(run)
        tag_editor.show_tag_editor([run], every)
        run_panel.show_citation_panel(run)


def _show_run_title(run: runs.Run) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        run_panel.show_run_name_and_state(run, run.state)
        st.caption(escaping.escape_markdown(run.id), width="content")
    if run.message:
        st.caption(escaping.escape_markdown(run.message))


def _show_run_links(run: runs.Run) -> None:
    pages = (
        (
            ("pages/train.py", "Open its curves", ":material/show_chart:"),
            ("pages/predictions.py", "Open its predictions", ":material/grid_view:"),
        )
        if run.entry
        else (("pages/numbers.py", "Open its curves and predictions", ":material/123:"),)
    )
    for path, label, icon in pages:
        st.page_link(path, label=label, icon=icon, query_params=address.RUN.build_query(run.id), width="content")


def _show_baseline_controls(run: runs.Run, every: Sequence[runs.Run]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if run.entry:
            _show_pin_button(run, read_baseline(run.config.dataset) == run.id)
        compare_links.show_run_compare_links(run, every)


def _show_pin_button(run: runs.Run, pinned: bool) -> None:
    data = escaping.escape_markdown(run.data.title)
    st.button(
        f"Unpin as the baseline of {data}" if pinned else f"Pin as the baseline of {data}",
        icon=":material/keep_off:" if pinned else ":material/keep:",
        key="run_pin",
        type="tertiary",
        on_click=_pin_baseline,
        args=(run.config.dataset, None if pinned else run.id),
        **rights.build_control_arguments(Action.CHANGE, help="Compare measures other runs on this data against it."),
    )


def _pin_baseline(dataset: str, run_id: str | None) -> None:
    """Callback: this run, or none, is the baseline of its dataset."""
    text = "Pinned: others on its data are compared with it." if run_id else "Unpinned."
    run_actions.attempt_run_action(lambda: write_baseline(dataset, run_id), text)


def _show_name_and_note(run: runs.Run) -> None:
    """Name and note, kept as soon as the box is left: what was typed is never lost."""
    left, right = st.columns([1, 2])
    left.text_input(
        "Name",
        "" if run.name == run.id else run.name,
        max_chars=MAX_NAME_LENGTH,
        placeholder=format_run_name(run),
        key=(key := f"name_of_{run.id}"),
        on_change=_rename_single_run,
        args=(run, key),
        **rights.build_control_arguments(
            Action.CHANGE, run.path, help="Saved when you leave the box. If empty, the run is named after its settings."
        ),
    )
    right.text_area(
        "Note",
        read_run_note(run),
        max_chars=MAX_NOTE_LENGTH,
        key=(key := f"note_of_{run.id}"),
        height=100,
        placeholder="What you tried, and the result",
        on_change=_save_run_note,
        args=(run, key),
        **rights.build_control_arguments(Action.CHANGE, run.path, help="Saved when you leave the box."),
    )


def _rename_single_run(run: runs.Run, key: str) -> None:
    """Callback: keep the name."""
    name, before = widget_state.get_widget_value(key), read_run_name(run.path)
    if name == ("" if before == run.id else before):
        return  # A drawing that was cut short has the browser tell of the box once more.
    run_actions.attempt_run_action(lambda: write_run_name(run.id, name), "Name saved.")


def _save_run_note(run: runs.Run, key: str) -> None:
    """Callback: keep the note."""
    text = widget_state.get_widget_value(key)
    if text.strip() == read_run_note(run):
        return
    run_actions.attempt_run_action(lambda: write_run_note(run.id, text), "Note saved.")


def _show_run_buttons(run: runs.Run) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        _show_run_links(run)
        report_download.show_report_download([run], "run_one_file")
        take_away.show_take_away(run)
        st.space("stretch")
        if run.active:
            job_panel.show_stop_button(run, "run_")
        else:
            st.button(
                "Resume",
                icon=":material/resume:",
                key="run_resume",
                on_click=_resume_single_run,
                args=(run.id,),
                **rights.build_control_arguments(Action.CHANGE, run.path, disabled=not run.can_resume),
            )
        deletion.show_delete_button(run_panel.find_run_screen(run), run)
    if reason := _describe_disabled_run_action(run):
        st.caption(reason)


def _describe_disabled_run_action(run: runs.Run) -> str:
    """Why a button is disabled, in a sentence; "" when none is."""
    if why := rights.describe_missing_right(Action.DELETE, run.path):
        return escaping.escape_markdown(why)
    if run.active:
        return "An active run cannot be deleted: stop it first."
    if run.origin:
        return "It was imported from a report, which holds no checkpoints: there is nothing here to resume."
    return {
        "finished": "A finished run cannot be resumed: launch a new one for more epochs.",
        "imported": "It was trained elsewhere: there is nothing here to resume.",
        "diverged": "A diverged run cannot be resumed, because it would diverge again: "
        "launch one with a lower learning rate.",
    }.get(run.state, "")


def _resume_single_run(run_id: str) -> None:
    """Callback: go on where the run ended."""
    run_actions.attempt_run_action(lambda: runs.resume_run(run_id), "Resumed: it goes on from its last checkpoint.")
