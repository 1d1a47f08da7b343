"""What a tab may ask of the server by a message made by hand, with or without signing in."""

import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from ensemble.access import actions, audit_log
from tests.ui.sign_in.test_middleware import Tab, cookies, shared, status  # noqa: F401 (a fixture)

# Streamlit would do all of these for whoever asks: empty the caches of everybody, tell what lies
# in the folder of the program, write into it, draw anew whenever a file there changes.
NOBODYS = [
    "clear_cache",
    "load_git_info",
    "set_run_on_save",
    "install_skills",
    "dismiss_skills_nudge",
    "debug_shutdown_runtime",
]
OF_WHO_CAME_IN = ["file_urls_request", "deferred_file", "dataframe_chunk"]
ANYBODYS = ["rerun_script", "stop_script", "app_heartbeat"]


def asking(what: str) -> bytes:
    """A message as a browser would send it."""
    message = BackMsg()
    if what in ("install_skills", "dismiss_skills_nudge", "deferred_file", "dataframe_chunk"):
        getattr(message.backend_operation_request, what).SetInParent()
    elif isinstance(getattr(message, what), bool):
        setattr(message, what, True)
    else:
        getattr(message, what).SetInParent()
    return message.SerializeToString()


def is_heard(content: bytes, given: dict[str, str]) -> bool:
    """Whether what stands behind hears it."""

    async def ask() -> bool:
        async with Tab(given) as tab:
            await tab.told()
            await tab._to.put({"type": "websocket.receive", "bytes": content})
            await tab.press()
        return tab._back.qsize() == 2  # an answer to each

    return asyncio.run(ask())


@pytest.mark.parametrize("what", NOBODYS + OF_WHO_CAME_IN + ANYBODYS)
def test_a_message_does_what_pages_need_and_no_more(what: str) -> None:
    assert is_heard(asking(what), cookies()) is (what not in NOBODYS)
    assert is_heard(asking(what), {}) is (what in ANYBODYS), "a visitor who has not signed in"


def test_what_is_no_message_is_left_for_streamlit_to_refuse() -> None:
    assert is_heard(b"\xff\xff", {})


@pytest.mark.parametrize("said", ["a%0aroot%20signed%20in", "a%0D", "%1b[2J", "%C2%9b2J", "%E2%80%A8x"])
def test_the_way_back_from_a_provider_carries_no_line_into_the_log(said: str) -> None:
    assert status("/oauth2callback", query_string=f"error={said}".encode()) == 400
    assert status("/oauth2callback", query_string=b"error=access_denied&state=a%20b") == 200


def test_a_cookie_signs_out_once_however_often_it_is_shown() -> None:
    given = cookies(sub="leaving")
    for _ in range(5):
        status("/auth/logout", given)
    assert [one.who for one in audit_log.read_audit_log() if one.action == actions.SIGN_OUT_EVENT] == [
        "ann@example.org"
    ]


def test_another_sites_link_signs_nobody_out() -> None:
    given = cookies(sub="staying")
    assert status("/auth/logout", given, ("Sec-Fetch-Site", "cross-site")) == 403
    assert status("/media/0a1b.png", given) == 200
    assert status("/auth/logout", given, ("Sec-Fetch-Site", "same-origin")) == 200
    assert status("/media/0a1b.png", given) == 401
