"""The page that asks a visitor to sign in, and the line that says who did."""

import streamlit as st

from ensemble.access import actions, audit
from ensemble.access.claims import Visit
from ensemble.access.exposure import Sharing
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import provider, visitors
from ensemble.wording import escaping

ROLES = {
    "viewer": "you may look and classify",
    "member": "you may launch, and change what is yours",
    "admin": "you may change everything",
}


def show(visit: Visit) -> None:
    """All that a visitor sees who may not come in: the way in, or why there is none."""
    with st.container(key="sign_in"):
        st.title("Deep ensembles", anchor=False)
        if visit.why:
            if tab.refused_because != visit.why:
                tab.refused_because = visit.why
                audit.write(actions.REFUSED, visit.why, visit.person)
            st.warning(escaping.markdown(visit.why), icon=":material/lock:")
        elif visitors.sharing() is Sharing.PROXY:
            st.warning(
                "The proxy in front of this server did not say who you are: open the page "
                "by its address.",
                icon=":material/lock:",
            )
        else:
            st.markdown("Sign in to see the runs of this server.")
        if visitors.sharing() is Sharing.SIGN_IN:
            buttons(again=bool(visit.why))


def buttons(again: bool) -> None:
    """A button for each provider; who has signed in in vain signs out first."""
    with st.container(horizontal=True):
        for name in provider.names():
            with_ = "" if name == "default" else f" with {escaping.markdown(name.title())}"
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


def line(visit: Visit) -> None:
    """Who is signed in, and as what, above every page of a shared server; nothing on one's own."""
    if not visitors.is_shared():
        return
    if tab.seen_as != visit.person.name:
        tab.seen_as = visit.person.name
        audit.write(actions.OPENED, "a tab", visit.person)
    role = visit.person.role.name.lower()
    with st.container(
        horizontal=True,
        horizontal_alignment="right",
        key="signed_in",
        vertical_alignment="center",
        gap="small",
    ):
        # What is grey on a page is so for a reason, which no phone shows behind a button.
        more = f": {ROLES[role]}, an admin may give you more" if role == "viewer" else ""
        st.caption(
            f"{escaping.markdown(visit.person.name)} · {role}{more}",
            width="content",
            help=f"As {role} {ROLES[role]}.",
        )
        if visitors.sharing() is Sharing.SIGN_IN:
            st.button("Sign out", key="sign_out", type="tertiary", on_click=st.logout)
