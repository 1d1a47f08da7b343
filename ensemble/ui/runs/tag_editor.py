"""The tags of one run or of several at once: seen, given and taken away."""

import zlib
from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.runs.annotations.tags import MAX_TAG_LENGTH, change_tags
from ensemble.ui.runs import run_actions
from ensemble.ui.runs.filters import SWEEP_ID_PATTERN
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import formats


def show_tag_editor(chosen: Sequence[runs.Run], every: Sequence[runs.Run]) -> None:
    """The tags of the runs that are chosen, kept as soon as they are changed.

    Args:
      chosen: one run or several; a tag that not all of them have says how many do.
    """
    counts = Counter(tag for run in chosen for tag in _list_user_tags(run))
    options = sorted({tag for run in every for tag in _list_user_tags(run)} | set(counts))
    ids = tuple(run.id for run in chosen)
    # What the browser sends back are words, which change with what the runs have.
    fingerprint = f"{ids} {sorted(counts.items())} {tab.tag_failure_count}"
    key = f"tags_of_{zlib.crc32(fingerprint.encode()):08x}"
    help_text = (
        f"Words of at most {MAX_TAG_LENGTH} characters to find and compare runs by; kept as soon "
        "as you choose one, or type one and press Enter."
    )
    if len(ids) > 1:
        help_text += " A tag that you add goes to all of them; one that you remove is removed from all."
    widget_state.draw_widget(
        st.multiselect,
        "Tags",
        options,
        list(counts),
        key=key,
        format_func=lambda tag: _format_tag_count(tag, counts.get(tag, 0), len(ids)),
        accept_new_options=True,
        placeholder="Choose a tag, or type a new one",
        on_change=save_tag_changes,
        args=(key, ids, tuple(counts)),
        # Of several each may be somebody else's.
        **rights.build_control_arguments(Action.CHANGE, chosen[0].path if len(chosen) == 1 else None, help=help_text),
    )


def _list_user_tags(run: runs.Run) -> list[str]:
    """The tags that people gave it: a sweep's own, by which it knows its trials, is no choice."""
    return [tag for tag in run.tags if not SWEEP_ID_PATTERN.fullmatch(tag)]


def _format_tag_count(tag: str, has: int, total: int) -> str:
    return f"{tag} ({has} of {total})" if 0 < has < total else tag


def save_tag_changes(key: str, ids: Sequence[str], before: Sequence[str]) -> None:
    """Callback: what was put in is given to all, what was taken out is taken from all."""
    now = widget_state.get_widget_value(key)
    add = [tag for tag in now if tag not in before]
    remove = [tag for tag in before if tag not in now]
    if not (add or remove):
        return  # A drawing that was cut short has the browser tell of the box once more.
    what = "Tags saved." if len(ids) == 1 else f"Tagged {formats.format_count(len(ids), 'run')}."
    if not run_actions.attempt_for_each_run(ids, lambda run_id: change_tags(run_id, add, remove), lambda _: what):
        tab.tag_failure_count += 1  # Another box, which shows what the runs have.
