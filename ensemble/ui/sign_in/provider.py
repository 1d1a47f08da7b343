"""What the server's secrets say of the provider that people sign in with; none of it is shown."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

NEEDED = ("client_id", "client_secret", "server_metadata_url")
CALLBACK = "/oauth2callback"
LEAST_SECRET = 32  # letters: it signs who people are
UNREADABLE = "a secrets.toml that can be read"


def section() -> dict[str, Any]:
    """What stands under [auth]; {} where there is nothing, or no secrets."""
    if not st.secrets.load_if_toml_exists():
        return {}
    found = st.secrets.get("auth", {})
    return {key: found[key] for key in found} if isinstance(found, Mapping) else {}


def is_begun() -> bool:
    """Whether somebody began to configure one, be it in a file that cannot be read."""
    return bool(section()) or _is_unreadable()


def missing() -> str:
    """What is still to be configured, in words that name no secret; "" where nothing is."""
    if _is_unreadable():
        return UNREADABLE
    auth = section()
    if not auth:
        return "a provider"
    lacks = [name for name in ("redirect_uri", "cookie_secret") if not auth.get(name)]
    if not _is_callback(str(auth.get("redirect_uri", ""))) and "redirect_uri" not in lacks:
        lacks.append(f"a redirect_uri such as https://ensemble.example.org{CALLBACK}")
    if "cookie_secret" not in lacks and len(str(auth["cookie_secret"])) < LEAST_SECRET:
        lacks.append(f"a cookie_secret of at least {LEAST_SECRET} letters")
    if not names():
        lacks += [name for name in NEEDED if not auth.get(name)]
    return ", ".join(lacks)


def names() -> list[str]:
    """The providers that there are; "default" is the one without a name of its own."""
    auth = section()
    named = [name for name, found in auth.items() if isinstance(found, Mapping) and _whole(found)]
    return ["default", *named] if _whole(auth) else named


def origin() -> str:
    """Where browsers find this server, as the provider sends them back to it; "" if unknown."""
    try:
        said = urlsplit(str(section().get("redirect_uri", "")))
        port = st.get_option("server.port")
        return f"{said.scheme}://{said.netloc.replace('{port}', str(port))}" if said.netloc else ""
    except ValueError:
        return ""


def host() -> str:
    """The name under which browsers find this server; "" if unknown."""
    return urlsplit(origin()).hostname or ""


def cookie_secret() -> str:
    """What signs the cookie of who signed in; "" where there is none."""
    return str(section().get("cookie_secret", ""))


def _whole(found: Mapping[str, Any]) -> bool:
    return all(found.get(name) for name in NEEDED)


def _is_callback(redirect_uri: str) -> bool:
    try:
        said = urlsplit(redirect_uri.replace("{port}", "1"))
        return bool(
            said.scheme in ("http", "https")
            and said.hostname
            and said.port != 0
            and said.path.endswith(CALLBACK)
        )
    except ValueError:
        return False


def _is_unreadable() -> bool:
    files = st.get_option("secrets.files") or []
    return any(Path(one).exists() for one in files) and not st.secrets.load_if_toml_exists()
