"""Who did what on a shared server, for its admins: the end of the audit log."""

from collections import deque

import streamlit as st

from ensemble.access import LOCAL, Role, audit_log, current_person
from ensemble.access.audit_log import AuditEntry
from ensemble.wording import escaping
from ensemble.wording import jobs as words

_MAX_SHOWN_ENTRIES = 100


def show_audit_log() -> None:
    """The last lines, newest first, behind a fold; nothing for others, or on one's own machine."""
    person = current_person()
    if person == LOCAL or person.role < Role.ADMIN:
        return
    with st.expander("Who did what", icon=":material/history:"):
        last = deque(audit_log.read_audit_log(), maxlen=_MAX_SHOWN_ENTRIES)
        if not last:
            st.caption("Nothing has been launched, stopped, changed or deleted yet.")
            return
        st.dataframe(
            _tabulate_audit_entries(list(reversed(last))),
            hide_index=True,
            key="audit",
            alt="Who did what, newest first",
        )
        st.caption(
            escaping.escape_markdown(
                f"The last {len(last):,} entries. The file {audit_log.LOG_FILE} in the runs folder has all of them."
            )
        )


def _tabulate_audit_entries(entries: list[AuditEntry]) -> dict[str, list[str]]:
    return {
        "When": [words.format_local_time(entry.time) for entry in entries],
        "Who": [words.format_user(entry.who) for entry in entries],
        "As": [entry.role for entry in entries],
        "Did": [entry.action for entry in entries],
        "To": [entry.subject for entry in entries],
    }
