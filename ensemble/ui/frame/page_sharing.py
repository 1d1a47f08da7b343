"""Show on phones: a QR code and a readable address of this page, where others can reach it.

The address is never guessed: it is `ENSEMBLE_ADDRESS`, or the name that this browser came by where
`server.allowedHosts` names it. A server that only this machine reaches shows none.
"""

import io
import os
import re
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ensemble.ui.shared import address, server
from ensemble.wording import escaping

ADDRESS_VARIABLE = "ENSEMBLE_ADDRESS"
_HOST_PATTERN = re.compile(r"(?i)([a-z0-9._-]+|\[[0-9a-f:]+\])(:\d{1,5})?")
_MAX_LINK_LENGTH = 600  # letters of a link in a code that a phone still reads off a projector
_QR_CODE_SIDE_PX = 320


def find_shared_address() -> str | None:
    """Where others find this server, without a slash at its end; None where they cannot."""
    if setting := os.environ.get(ADDRESS_VARIABLE, "").strip():
        return _parse_shared_address(setting)
    if _is_loopback_host(st.get_option("server.address") or "0.0.0.0"):
        return None
    host = st.context.headers.get("Host") or ""
    allowed = st.get_option("server.allowedHosts")
    named = bool(allowed) and "*" not in allowed and server.is_host_allowed(host)
    if not named or not _HOST_PATTERN.fullmatch(host) or _is_loopback_host(urlsplit(f"//{host}").hostname or ""):
        return None
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{host}{server.add_base_path('')}"


def _parse_shared_address(setting: str) -> str | None:
    """The address that whoever runs the server has set, below its sub-path; None where it is none.

    Args:
      setting: such as "https://lab.example.org/ensemble", with the sub-path or without.
    """
    try:
        parts = urlsplit(setting)
        match = parts.scheme in ("http", "https") and _HOST_PATTERN.fullmatch(parts.netloc)
    except ValueError:
        return None
    if not match:
        return None
    path = parts.path.rstrip("/") or server.add_base_path("")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _is_loopback_host(host: str) -> bool:
    name = host.lower().strip("[]").rstrip(".")
    return name in ("localhost", "::1") or name.startswith("127.") or name.endswith(".localhost")


def build_shared_link(base: str, page: str, words: dict[str, str]) -> str:
    """The address of a page as it stands; of the page alone where that would be too long."""
    whole = f"{base}/{page}?{urlencode(words)}" if words else f"{base}/{page}"
    return whole if len(whole) <= _MAX_LINK_LENGTH else f"{base}/{page}"


def render_qr_code(text: str) -> str:
    """A QR code of a text as an SVG picture: black on white in either theme, with its margin."""
    import segno  # here, for only this needs it

    buffer = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        buffer, kind="svg", scale=8, border=4, dark="#000", light="#fff", xmldecl=False
    )
    return buffer.getvalue().decode()


def show_phones_button(page: str) -> None:
    """A button that opens the code; nothing where nobody else can reach the server."""
    base = find_shared_address()
    if base and st.button("Show on phones", key="phones", icon=":material/qr_code_2:", type="tertiary"):
        _show_phones_dialog(base, page)


@st.dialog("Show on phones", width="medium")
def _show_phones_dialog(base: str, page: str) -> None:
    st.markdown(f"## {escaping.escape_markdown(base.partition('://')[2])}")
    full = build_shared_link(base, page, address.get_query_parameters())
    st.image(render_qr_code(full), width=_QR_CODE_SIDE_PX)
    st.caption("Phones in this network open this very page with it; the address above leads to the first one.")
    st.code(full, language=None, wrap_lines=True)
