"""Room on the disk: what finished runs' checkpoints take, removed at a press, undone for a day."""

import time
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ensemble.access import Action
from ensemble.runs.checkpoints.removal import (
    StoredCheckpoints,
    delete_removed_checkpoints,
    list_removable_checkpoints,
    list_removed_checkpoints,
    remove_checkpoints,
    restore_checkpoints,
)
from ensemble.ui.runs import run_actions
from ensemble.ui.shared import loaders
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import formats
from ensemble.wording.run_names import format_unique_run_name
from ensemble.wording.runs.networks import format_memory

MAX_ROWS = 6  # of the table, without scrolling
ROW_HEIGHT_PX = 35


def show_checkpoint_removal_button() -> None:
    st.button(
        "Free space…",
        icon=":material/cleaning_services:",
        key="free_space_open",
        type="tertiary",
        on_click=_open_checkpoint_dialog,
        **rights.build_control_arguments(Action.DELETE, help="What the checkpoints of finished runs take on the disk."),
    )
    if tab.checkpoint_dialog_open:
        st.dialog("Free space", width="medium", on_dismiss=_close_checkpoint_dialog)(_show_checkpoint_dialog_body)()


def _open_checkpoint_dialog() -> None:
    """Callback: the dialog stands over the page until it is closed."""
    tab.checkpoint_dialog_open = True


def _close_checkpoint_dialog() -> None:
    """Callback: closed."""
    del tab.checkpoint_dialog_open


def _show_checkpoint_dialog_body() -> None:
    """The inside of the dialog: what can go, and what went and can be brought back."""
    with guard_page():
        run_actions.show_run_action_result()
        with st.spinner("Adding up…"):
            removed, removable = list_removed_checkpoints(), list_removable_checkpoints()
        _show_removable_checkpoints(removable)
        if removed:
            _show_removed_checkpoints(removed)


def _show_removable_checkpoints(removable: Sequence[StoredCheckpoints]) -> None:
    if not removable:
        st.info("No finished run has checkpoints: there is nothing to remove here.", icon=":material/check:")
        return
    size = format_memory(sum(each.nbytes for each in removable))
    names = {run.id: format_unique_run_name(run) for run in loaders.list_cached_runs(None)}
    st.markdown(
        f"**{size} in checkpoints of {formats.format_count(len(removable), 'finished run')}.** "
        "Training goes on from checkpoints, and a finished run does not go on. Members, "
        "predictions, curves and notes stay."
    )
    st.dataframe(
        pd.DataFrame(
            {
                "run": [names.get(each.run_id, each.run_id) for each in removable],
                "size": [format_memory(each.nbytes) for each in removable],
            }
        ),
        hide_index=True,
        height=ROW_HEIGHT_PX * (min(len(removable), MAX_ROWS) + 1) + 3,
        column_config={"run": "Run", "size": "Checkpoints"},
        alt=f"{formats.format_count(len(removable), 'run')} and what its checkpoints take, the largest first",
    )
    st.button(
        f"Remove them ({size})",
        key="free_space_remove",
        on_click=_remove_listed_checkpoints,
        args=([each.run_id for each in removable],),
        help="They are kept for a day, and can be brought back until then.",
    )


def _show_removed_checkpoints(removed: Sequence[StoredCheckpoints]) -> None:
    """What was removed, until when it can be brought back, and both ways on."""
    size = format_memory(sum(each.nbytes for each in removed))
    ends = [each.until for each in removed if each.until is not None]
    until = time.strftime(" until %H:%M on %d %B", time.localtime(min(ends))) if ends else ""
    st.markdown(
        f"{size} of {formats.format_count(len(removed), 'run')} were removed and can be brought "
        f"back{until}: only then is their room free."
    )
    run_ids = [each.run_id for each in removed]
    with st.container(horizontal=True):
        st.button("Bring back", key="free_space_undo", on_click=_restore_listed_checkpoints, args=(run_ids,))
        st.button(
            f"Free {size} now",
            key="free_space_now",
            on_click=_delete_listed_checkpoints,
            args=(run_ids, size),
            help="For good.",
        )


def _remove_listed_checkpoints(run_ids: Sequence[str]) -> None:
    """Callback: put aside what was listed."""
    run_actions.attempt_for_each_run(
        run_ids,
        lambda run_id: remove_checkpoints([run_id]),
        lambda count: f"Removed the checkpoints of {formats.format_count(count, 'run')}.",
    )


def _restore_listed_checkpoints(run_ids: Sequence[str]) -> None:
    """Callback: bring all of it back."""
    run_actions.attempt_for_each_run(
        run_ids,
        lambda run_id: restore_checkpoints([run_id]),
        lambda count: f"Brought back the checkpoints of {formats.format_count(count, 'run')}.",
    )


def _delete_listed_checkpoints(run_ids: Sequence[str], size: str) -> None:
    """Callback: what was removed goes for good."""
    run_actions.attempt_for_each_run(
        run_ids, lambda run_id: delete_removed_checkpoints([run_id]), lambda _: f"{size} freed."
    )
