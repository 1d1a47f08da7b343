"""The cookie that Streamlit gives who signed in, read where Streamlit itself asks for none.

Streamlit reads it when a tab opens its WebSocket; pictures, uploads and downloads it hands to
whoever knows an address. Its own functions for it are no part of what it documents, so the form is
read here, with the library that it is signed with. Another form lets nobody in.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer

_COOKIE_NAME = "_streamlit_user"
_CHUNKS_PATTERN = re.compile(r"chunks-([1-9][0-9]?)")


def parse_cookie_claims(cookies: Mapping[str, str], secret: str, origin: str, most_seconds: float) -> dict[str, Any]:
    """What the provider said of who sends these cookies; {} of who has not signed in."""
    if not secret or not origin:
        return {}

    def load_cookie_part(name: str) -> str:
        content = URLSafeTimedSerializer(secret, salt=name).loads(cookies[name], max_age=int(most_seconds) + 1)
        return str(content)

    try:
        text = load_cookie_part(_COOKIE_NAME)
        if match := _CHUNKS_PATTERN.fullmatch(text):
            count = int(match[1])
            text = "".join(load_cookie_part(f"{_COOKIE_NAME}_{number}") for number in range(1, count + 1))
        claims = json.loads(text)
    except (KeyError, BadData, ValueError):
        return {}
    mine = isinstance(claims, dict) and claims.get("origin") == origin and claims.get("is_logged_in")
    return claims if mine is True else {}
