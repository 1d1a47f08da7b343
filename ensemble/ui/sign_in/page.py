"""The page that asks a visitor to sign in, and the line that says who did."""

import streamlit as st

from ensemble.access import actions, audit_log
from ensemble.access.server_access import AccessMode
from ensemble.access.visitor_claims import Visit
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import provider, visitors
from ensemble.wording import escaping

_ROLE_DESCRIPTIONS = {
    "viewer": "you may look and classify",
    "member": "you may launch, and change what is yours",
    "admin": "you may change everything",
}


def show_sign_in_page(visit: Visit) -> None:
    """All that a visitor sees who may not come in: the way in, or why there is none."""
    with st.container(key="sign_in"):
        st.title("Deep ensembles", anchor=False)
        if visit.refusal:
            if tab.audited_refusal != visit.refusal:
                tab.audited_refusal = visit.refusal
                audit_log.write_audit_entry(actions.REFUSAL_EVENT, visit.refusal, visit.person)
            st.warning(escaping.escape_markdown(visit.refusal), icon=":material/lock:")
        elif visitors.get_sharing_mode() is AccessMode.PROXY:
            st.warning(
                "The proxy in front of this server did not say who you are: open the page by its address.",
                icon=":material/lock:",
            )
        else:
            st.markdown("Sign in to see the runs of this server.")
        if visitors.get_sharing_mode() is AccessMode.SIGN_IN:
            _show_sign_in_buttons(again=bool(visit.refusal))


def _show_sign_in_buttons(again: bool) -> None:
    """A button for each provider; who has signed in in vain signs out first."""
    with st.container(horizontal=True):
        for name in provider.list_provider_names():
            with_ = "" if name == "default" else f" with {escaping.escape_markdown(name.title())}"
            st.button(
                f"Sign in{with_}",
                key=f"sign_in_{name}",
                type="primary",
                icon=":material/login:",
                on_click=st.login,
                args=() if name == "default" else (name,),
            )
        if again:
            st.button("Sign out", key="sign_out", on_click=st.logout)


def show_visitor_line(visit: Visit) -> None:
    """Who is signed in, and as what, above every page of a shared server; nothing on one's own."""
    if not visitors.is_server_shared():
        return
    if tab.audited_visitor != visit.person.name:
        tab.audited_visitor = visit.person.name
        audit_log.write_audit_entry(actions.OPEN_EVENT, "a tab", visit.person)
    role = visit.person.role.name.lower()
    with st.container(
        horizontal=True, horizontal_alignment="right", key="signed_in", vertical_alignment="center", gap="small"
    ):
        # What is grey on a page is so for a reason, which no phone shows behind a button.
        more = f": {_ROLE_DESCRIPTIONS[role]}, an admin may give you more" if role == "viewer" else ""
        st.caption(
            f"{escaping.escape_markdown(visit.person.name)} · {role}{more}",
            width="content",
            help=f"As {role} {_ROLE_DESCRIPTIONS[role]}.",
        )
        if visitors.get_sharing_mode() is AccessMode.SIGN_IN:
            st.button("Sign out", key="sign_out", type="tertiary", on_click=st.logout)
