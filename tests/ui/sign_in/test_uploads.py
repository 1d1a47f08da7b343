"""How much of what one person has uploaded a shared server holds in memory at once."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from ensemble.access import usage_limits
from ensemble.ui.sign_in import uploads
from ensemble.ui.sign_in.middleware import SignInMiddleware
from tests.ui.sign_in.test_middleware import cookies, scope_of, shared  # noqa: F401 (a fixture)

MEGA = 10**6


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryUploadedFileManager]:
    """What Streamlit keeps files in, empty; a person may have 3 MB there."""
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    monkeypatch.setattr(uploads, "list_files_in_memory", lambda: manager.file_storage)
    monkeypatch.setenv(usage_limits.UPLOADS_GB_VARIABLE, "0.003")
    monkeypatch.setenv(usage_limits.UPLOADS_VARIABLE, "100")
    yield manager
    uploads.reset_upload_records()


def hand_in(held: MemoryUploadedFileManager, tab: str, size: int, person: str = "ann", declared: bool = True) -> int:
    """The status of the answer to an upload; what stands behind keeps it, as Streamlit does."""
    told: list[Message] = []

    async def keep(scope: Scope, receive: Receive, send: Send) -> None:
        name = f"file{len(held.file_storage[tab])}"
        held.add_file(tab, UploadedFileRec(name, name, "image/png", bytes(size)))
        await PlainTextResponse("", 204)(scope, receive, send)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        told.append(message)

    length = [("content-length", str(size))] if declared else []
    who = cookies(email=f"{person}@example.org", sub=person)
    scope = scope_of(f"/_stcore/upload_file/{tab}/x", who, length)
    asyncio.run(SignInMiddleware(keep)({**scope, "method": "PUT"}, receive, send))
    return int(told[0]["status"])


def test_a_person_fills_so_much_memory_and_no_more_with_however_many_tabs(
    held: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_ALLOW", "@example.org=viewer,root@example.org=admin")
    given = [hand_in(held, tab, MEGA) for tab in ("a", "b", "c", "a", "d")]
    assert given == [204, 204, 204, 413, 413]
    assert hand_in(held, "umas", MEGA, "uma") == 204, "others have theirs"
    assert [hand_in(held, "roots", 2 * MEGA, "root") for _ in range(3)] == [204] * 3
    held.remove_session_files("b")
    assert hand_in(held, "a", MEGA) == 204, "a tab was closed"


def test_one_that_does_not_say_how_long_it_is_may_be_as_long_as_any(held: MemoryUploadedFileManager) -> None:
    assert hand_in(held, "a", 1, declared=False) == 413


def test_what_is_on_its_way_counts_until_it_has_come() -> None:
    def upload(tab: str) -> AbstractContextManager[bool]:
        return uploads.reserve_upload("ann", tab, 2 * MEGA, 3 * MEGA)

    with upload("a") as one, upload("b") as other:
        assert (one, other) == (True, False)
    with upload("b") as later:
        assert later
    uploads.reset_upload_records()
