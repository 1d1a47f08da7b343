"""What each person has uploaded that the server still holds in memory, in whichever tabs.

Streamlit keeps a file until its tab is closed, whether a page ever reads it or not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.types import Scope
from streamlit import runtime

_tab_owners: dict[str, str] = {}  # of tabs with files, by the tab's id
_pending_bytes: Counter[str] = Counter()  # bytes that are on their way, by person


@contextmanager
def reserve_upload(person: str, tab: str, nbytes: int, most: float) -> Iterator[bool]:
    """Within this an upload comes in; whether it may, beside what the person has here already.

    Args:
      most: bytes that one person may have at once.
    """
    there = list_files_in_memory()
    for gone in _tab_owners.keys() - there.keys() - {tab}:
        del _tab_owners[gone]
    _tab_owners[tab] = person
    held = sum(
        len(file.data)
        for own_tab in [own_tab for own_tab, owner in _tab_owners.items() if owner == person]
        for file in tuple(there.get(own_tab, {}).values())
    )
    if held + _pending_bytes[person] + nbytes > most:
        yield False
        return
    _pending_bytes[person] += nbytes
    try:
        yield True
    finally:
        _pending_bytes[person] -= nbytes
        if not _pending_bytes[person]:
            del _pending_bytes[person]


def list_files_in_memory() -> Mapping[str, Mapping[str, Any]]:
    if not runtime.exists():
        return {}
    return dict(getattr(runtime.get_instance().uploaded_file_mgr, "file_storage", {}))


def get_upload_size(scope: Scope) -> int:
    """How many bytes a request hands in, at most; what it does not say is bounded by Streamlit."""
    length = Headers(scope=scope).get("content-length", "")
    if length.isascii() and length.isdecimal() and len(length) < 16:
        return int(length)
    return int(st.get_option("server.maxUploadSize")) << 20


def reset_upload_records() -> None:
    _tab_owners.clear()
    _pending_bytes.clear()
