"""Who did what on a shared server, for its admins: the end of the audit log."""

from collections import deque

import streamlit as st

from ensemble.access import LOCAL, Role, acting, audit
from ensemble.access.audit import Entry
from ensemble.wording import escaping
from ensemble.wording import jobs as words

SHOWN = 100


def show() -> None:
    """The last lines, newest first, behind a fold; nothing for others, or on one's own machine."""
    person = acting()
    if person == LOCAL or person.role < Role.ADMIN:
        return
    with st.expander("Who did what", icon=":material/history:"):
        last = deque(audit.read(), maxlen=SHOWN)
        if not last:
            st.caption("Nothing has been launched, stopped, changed or deleted yet.")
            return
        st.dataframe(
            table(list(reversed(last))),
            hide_index=True,
            key="audit",
            alt="Who did what, newest first",
        )
        st.caption(
            escaping.markdown(
                f"The last {len(last):,} lines; all of them: python -m ensemble audit."
            )
        )


def table(entries: list[Entry]) -> dict[str, list[str]]:
    """What is shown of the lines, a column each."""
    return {
        "When": [words.when(one.time) for one in entries],
        "Who": [words.who(one.who) for one in entries],
        "As": [one.role for one in entries],
        "Did": [one.action for one in entries],
        "To": [one.subject for one in entries],
    }
