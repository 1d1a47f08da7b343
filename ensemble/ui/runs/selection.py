"""The runs that are ticked in the table: one is in the address as such, several are named there.

An address holds as many as Compare takes; more than that only this tab remembers.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.errors import RunError
from ensemble.ui.frame import destructive_buttons
from ensemble.ui.jobs import job_picker
from ensemble.ui.predictions import downloads
from ensemble.ui.runs import compare_links, run_actions, summary, tag_editor
from ensemble.ui.shared import address, run_panel, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import format_unique_run_name

_MAX_NAMED_RUNS = 3  # runs in a sentence
_MAX_RESUMED_RUNS = 8  # each that is resumed is a process, which waits for its turn


def get_selected_run_ids() -> tuple[str, ...]:
    if run_id := address.RUN.read():
        return (run_id,)
    return address.RUNS.read() or tab.selected_run_ids


def set_selected_runs(wanted: Sequence[str]) -> None:
    del tab.selected_run_ids
    address.RUNS.set_value(())
    if len(wanted) == 1:
        with suppress(RunError):  # deleted meanwhile: the next drawing shows it gone
            job_picker.remember_shown_job(run_panel.find_run_screen(run := runs.find_run(wanted[0])), run)
        return
    job_picker.forget_shown_job(run_panel.RUN_SCREEN)
    if len(wanted) > compare_links.MAX_COMPARED_RUNS:
        tab.selected_run_ids = tuple(wanted)
    elif wanted:
        address.RUNS.set_value(tuple(wanted))


def update_table_selection(key: str, listed: Sequence[str]) -> None:
    """Callback: rows were ticked; what is ticked and not in the list stays so."""
    rows = [listed[at] for at in widget_state.get_widget_value(key).selection.rows if at < len(listed)]
    set_selected_runs([*(run_id for run_id in get_selected_run_ids() if run_id not in listed), *rows])


def show_selection_panel(chosen: Sequence[runs.Run], listed: Collection[str], every: Sequence[runs.Run]) -> None:
    with st.container(border=True, key="runs_ticked"):
        _show_selection_title(chosen, listed)
        if tab.runs_to_delete == tuple(run.id for run in chosen):
            _show_runs_delete_confirmation(chosen)
        else:
            _show_selection_buttons(chosen)
        tag_editor.show_tag_editor(chosen, every)


def _show_selection_title(chosen: Sequence[runs.Run], listed: Collection[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(f"{formats.format_count(len(chosen), 'run')} ticked", anchor=False, width="content")
        if hidden := sum(run.id not in listed for run in chosen):
            are = "is" if hidden == 1 else "are"
            st.caption(f"{hidden:,} of them {are} hidden by the filters", width="content")
        st.space("stretch")
        st.button("Untick all", key="runs_untick", type="tertiary", on_click=set_selected_runs, args=((),))


def _show_selection_buttons(chosen: Sequence[runs.Run]) -> None:
    active = [run for run in chosen if run.active]
    resumable = [run.id for run in chosen if run.can_resume]
    with st.container(horizontal=True, vertical_alignment="center"):
        compare_links.show_selection_compare_link(chosen)
        st.space("stretch")
        show_runs_csv_button(chosen, "runs_ticked_csv", "ticked")
        st.button(
            _format_counted_verb("Stop", len(active)),
            icon=":material/stop:",
            key="runs_stop",
            on_click=_stop_selected_runs,
            args=(tuple(run.id for run in active),),
            **rights.build_control_arguments(
                Action.STOP, disabled=not active, help="Their progress is kept, and they can be resumed."
            ),
        )
        st.button(
            _format_counted_verb("Resume", len(resumable)),
            icon=":material/resume:",
            key="runs_resume",
            on_click=_resume_selected_runs,
            args=(tuple(resumable),),
            **rights.build_control_arguments(
                Action.CHANGE,
                disabled=not 0 < len(resumable) <= _MAX_RESUMED_RUNS,
                help="Those that were stopped or failed go on, each from its last checkpoint: at "
                f"most {_MAX_RESUMED_RUNS} at once.",
            ),
        )
        destructive_buttons.show_destructive_button(
            "Delete…",
            key="runs_delete",
            on_click=_request_runs_deletion,
            args=(tuple(run.id for run in chosen),),
            **rights.build_control_arguments(Action.DELETE, disabled=len(active) == len(chosen)),
        )
    if reason := _describe_disabled_selection_action(chosen, resumable):
        st.caption(reason)


def _format_counted_verb(verb: str, count: int) -> str:
    """What a button does and to how many: "Stop 2"; "Stop" where there is none."""
    return f"{verb} {count:,}" if count else verb


def _describe_disabled_selection_action(chosen: Sequence[runs.Run], resumable: Sequence[str]) -> str:
    """Why a button is disabled, in a sentence or several; "" when none is."""
    parts = []
    if len(chosen) > compare_links.MAX_COMPARED_RUNS:
        parts.append(compare_links.describe_compare_limit(len(chosen)))
    if not compare_links.have_one_task(chosen):
        parts.append(compare_links.MIXED_TASKS)
    if len(resumable) > _MAX_RESUMED_RUNS:
        parts.append(f"Resume takes at most {_MAX_RESUMED_RUNS} at once: tick fewer.")
    if all(run.active for run in chosen):
        parts.append("Active runs cannot be deleted: stop them first.")
    return " ".join(parts)


def show_runs_csv_button(listed_runs: Sequence[runs.Run], key: str, which: str) -> None:
    st.download_button(
        f"Download {formats.format_count(len(listed_runs), 'run')} (CSV)",
        lambda: downloads.encode_table_csv(summary.tabulate_runs_export(listed_runs)),
        "runs.csv",
        "text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key=key,
        help=f"Every setting and figure of the runs that are {which}.",
    )


def _show_runs_delete_confirmation(chosen: Sequence[runs.Run]) -> None:
    """The second question before deleting, with the count; who is active is named and stays."""
    active = [run for run in chosen if run.active]
    going = tuple(run.id for run in chosen if run not in active)
    which = formats.format_count(len(going), "run")
    question = f"Delete {which} with all curves, predictions and checkpoints? " if going else ""
    st.warning(
        f"{question}{_describe_undeletable_runs(active)}{'This cannot be undone.' if going else ''}",
        icon=":material/delete_forever:",
    )
    with st.container(horizontal=True):
        if going:
            destructive_buttons.show_confirmation_button(
                f"Delete {which} for good", key="runs_delete_sure", on_click=_delete_selected_runs, args=(going,)
            )
        st.button("Keep them", key="runs_keep", on_click=_request_runs_deletion, args=((),))


def _describe_undeletable_runs(active: Sequence[runs.Run]) -> str:
    """Which runs are not deleted, and why, in Markdown; "" for none."""
    if not active:
        return ""
    names = ", ".join(f"“{escaping.escape_markdown(format_unique_run_name(run))}”" for run in active[:_MAX_NAMED_RUNS])
    more = f" and {len(active) - _MAX_NAMED_RUNS:,} more" if len(active) > _MAX_NAMED_RUNS else ""
    if len(active) == 1:
        return f"{names} is active and stays: stop it first. "
    return f"{names}{more} are active and stay: stop them first. "


def _request_runs_deletion(wanted: tuple[str, ...]) -> None:
    """Callback: the first press on Delete, or Keep them."""
    tab.runs_to_delete = wanted


def _delete_selected_runs(going: Sequence[str]) -> None:
    """Callback: the second press."""
    _request_runs_deletion(())
    left = [run_id for run_id in get_selected_run_ids() if run_id not in going]
    run_actions.attempt_for_each_run(going, runs.delete_run, lambda n: f"Deleted {formats.format_count(n, 'run')}.")
    set_selected_runs([*left, *(run_id for run_id in going if _has_run(run_id))])


def _has_run(run_id: str) -> bool:
    try:
        return bool(runs.find_run(run_id))
    except RunError:
        return False


def _stop_selected_runs(active: Sequence[str]) -> None:
    """Callback: ask all of them to stop."""
    run_actions.attempt_for_each_run(
        active, runs.request_run_stop, lambda n: f"Asked {formats.format_count(n, 'run')} to stop."
    )


def _resume_selected_runs(resumable: Sequence[str]) -> None:
    """Callback: all of them go on where they ended."""
    run_actions.attempt_for_each_run(resumable, runs.resume_run, lambda n: f"Resumed {formats.format_count(n, 'run')}.")
