"""What the server's secrets say of the provider that people sign in with; none of it is shown."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

REQUIRED_KEYS = ("client_id", "client_secret", "server_metadata_url")
_CALLBACK_PATH = "/oauth2callback"
_MIN_SECRET_LENGTH = 32  # letters: it signs who people are
UNREADABLE_SECRETS = "a secrets.toml that can be read"


def read_auth_section() -> dict[str, Any]:
    """What stands under [auth]; {} where there is nothing, or no secrets."""
    if not st.secrets.load_if_toml_exists():
        return {}
    section = st.secrets.get("auth", {})
    return {key: section[key] for key in section} if isinstance(section, Mapping) else {}


def has_auth_settings() -> bool:
    return bool(read_auth_section()) or _has_unreadable_secrets()


def describe_missing_auth_settings() -> str:
    """What is still to be configured, in words that name no secret; "" where nothing is."""
    if _has_unreadable_secrets():
        return UNREADABLE_SECRETS
    auth = read_auth_section()
    if not auth:
        return "a provider"
    lacks = [name for name in ("redirect_uri", "cookie_secret") if not auth.get(name)]
    if not _is_callback_uri(str(auth.get("redirect_uri", ""))) and "redirect_uri" not in lacks:
        lacks.append(f"a redirect_uri such as https://ensemble.example.org{_CALLBACK_PATH}")
    if "cookie_secret" not in lacks and len(str(auth["cookie_secret"])) < _MIN_SECRET_LENGTH:
        lacks.append(f"a cookie_secret of at least {_MIN_SECRET_LENGTH} letters")
    if not list_provider_names():
        lacks += [name for name in REQUIRED_KEYS if not auth.get(name)]
    return ", ".join(lacks)


def list_provider_names() -> list[str]:
    """The providers that there are; "default" is the one without a name of its own."""
    auth = read_auth_section()
    named = [name for name, section in auth.items() if isinstance(section, Mapping) and _is_complete_provider(section)]
    return ["default", *named] if _is_complete_provider(auth) else named


def get_server_origin() -> str:
    """Where browsers find this server, as the provider sends them back to it; "" if unknown."""
    try:
        url = urlsplit(str(read_auth_section().get("redirect_uri", "")))
        port = st.get_option("server.port")
        return f"{url.scheme}://{url.netloc.replace('{port}', str(port))}" if url.netloc else ""
    except ValueError:
        return ""


def get_server_host() -> str:
    """The name under which browsers find this server; "" if unknown."""
    return urlsplit(get_server_origin()).hostname or ""


def get_cookie_secret() -> str:
    """What signs the cookie of who signed in; "" where there is none."""
    return str(read_auth_section().get("cookie_secret", ""))


def _is_complete_provider(section: Mapping[str, Any]) -> bool:
    return all(section.get(name) for name in REQUIRED_KEYS)


def _is_callback_uri(redirect_uri: str) -> bool:
    try:
        url = urlsplit(redirect_uri.replace("{port}", "1"))
        return bool(
            url.scheme in ("http", "https") and url.hostname and url.port != 0 and url.path.endswith(_CALLBACK_PATH)
        )
    except ValueError:
        return False


def _has_unreadable_secrets() -> bool:
    files = st.get_option("secrets.files") or []
    return any(Path(file).exists() for file in files) and not st.secrets.load_if_toml_exists()
