"""The groups of a run on a page: what each is doing and where, with its log at hand."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.errors import EnsembleError
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping
from ensemble.wording.runs import groups as words
from ensemble.wording.runs.groups import GroupStanding

_MAX_LISTED_GROUPS = 4  # groups that are shown a line each; more are summed up in one, until that is opened
ROW_HEIGHT_PX, MAX_ROWS = 35, 12
_COLUMN_WIDTHS = {"group": 60, "members": 80, "state": 290, "where": 190, "speed": 150}


def show_run_groups(run: runs.Run, prefix: str = "") -> None:
    """How the groups of a run stand; nothing for a run without."""
    try:
        every = words.list_group_standings(run)
    except EnsembleError as error:  # The run's curves are shown all the same.
        st.warning(escaping.escape_markdown(error), icon=":material/folder_off:")
        return
    if not every:
        return
    with st.container(key=f"{prefix}groups", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if few := len(every) <= _MAX_LISTED_GROUPS:
                lines = "  \n".join(escaping.escape_markdown(words.describe_group(standing)) for standing in every)
                st.caption(lines, width="stretch")
            is_open = not few and _show_groups_fold(run, every, prefix)
            st.space("stretch")  # What changes with each look does not push the toggle about.
            wanted = widget_state.draw_widget(st.toggle, "The end of a group's log", key=f"{prefix}groups_log")
        if is_open:
            _show_groups_table(every)
        if wanted:
            _show_group_log(every, prefix)


def _show_groups_fold(run: runs.Run, every: Sequence[GroupStanding], prefix: str) -> bool:
    is_open = tab.unfolded_groups_run_id == run.id
    # A button, for an expander with another label is another expander, and would close.
    st.button(
        escaping.escape_markdown(f"{len(every)} groups: {words.summarize_group_activities(every)}"),
        type="tertiary",
        icon=f":material/{'expand_more' if is_open else 'chevron_right'}:",
        key=f"{prefix}groups_fold",
        on_click=_unfold_run_groups,
        args=("" if is_open else run.id,),
    )
    return is_open


def _unfold_run_groups(run_id: str) -> None:
    """Callback: list the groups of this run, or of none."""
    tab.unfolded_groups_run_id = run_id


def _show_groups_table(every: Sequence[GroupStanding]) -> None:
    groups = [standing.group for standing in every]
    rows = {
        "group": [group.number for group in groups],
        "members": [f"{group.first_member + 1}–{group.first_member + group.member_count}" for group in groups],
        "state": [words.describe_group_activity(standing) for standing in every],
        "where": [words.describe_group_host(standing) for standing in every],
        "speed": [words.format_group_speed(standing) for standing in every],
    }
    st.dataframe(
        rows,
        hide_index=True,
        height=ROW_HEIGHT_PX * (min(len(every), MAX_ROWS) + 1) + 3,
        alt="What each group of the run is doing, where, and how fast",
        column_config={name: st.column_config.Column(width=_COLUMN_WIDTHS[name]) for name in rows},
    )


def _show_group_log(every: Sequence[GroupStanding], prefix: str) -> None:
    # One that failed is what is looked for.
    order = sorted(every, key=lambda standing: standing.activity != "failed")
    titles = {standing.group.number: words.format_group_name(standing.group) for standing in order}
    chosen = widget_state.draw_widget(
        st.selectbox,
        "Group",
        list(titles),
        format_func=titles.__getitem__,
        key=f"{prefix}groups_log_of",
        width=260,
        label_visibility="collapsed",
    )
    [path] = [standing.group.path for standing in every if standing.group.number == chosen]
    st.code(job_panel.read_log_tail(path / "log.txt") or "Nothing written yet.", language=None)
