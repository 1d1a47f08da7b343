"""Before the server listens: whether it may, as it is configured."""

import sys

import streamlit as st
from streamlit import config

from ensemble.access.server_access import AccessMode, is_loopback_address
from ensemble.errors import EnsembleError
from ensemble.extras import SHARE, SHARE_PACKAGES, require_packages
from ensemble.ui.sign_in import provider, visitors

ALLOWED_HOSTS_OPTION = "server.allowedHosts"


def check_server_start() -> None:
    """Go on where only this machine reaches the server, or it knows who comes; else end it.

    Said in a sentence and with the exit status of a bad setting, not by an exception: Streamlit
    would show its traceback.
    """
    try:
        if visitors.start_identification() is AccessMode.SIGN_IN:
            require_packages("Signing in", SHARE_PACKAGES, SHARE)
            _allow_server_host(provider.get_server_host())
    except EnsembleError as error:
        print(f"Error: {error}", file=sys.stderr, flush=True)
        raise SystemExit(error.exit_code) from None


def describe_page_refusal() -> str:
    """Why a page that is served without `app.py` is not drawn; "" where only this machine sees it.

    Nothing stands before it then that would ask who comes.
    """
    if visitors.is_identification_started() or is_loopback_address(st.get_option("server.address") or ""):
        return ""
    return "A page alone is for its own machine: start app.py, as docs/serving.md says."


def _allow_server_host(host: str) -> None:
    allowed = list(st.get_option(ALLOWED_HOSTS_OPTION))
    if host and allowed and host not in allowed:
        config.set_option(ALLOWED_HOSTS_OPTION, [*allowed, host])
