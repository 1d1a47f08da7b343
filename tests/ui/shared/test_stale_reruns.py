"""What a page that was left asks for is not drawn over the page that came after it."""

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ensemble.ui.shared.stale_reruns import MAX_MESSAGE_BYTES, PageReruns


def ask(page: str, fragment: str = "", timer: bool = False) -> bytes:
    """What a browser on a page sends: for all of it, or for a part."""
    message = BackMsg()
    message.rerun_script.page_script_hash = page
    message.rerun_script.fragment_id = fragment
    message.rerun_script.is_auto_rerun = timer
    return bytes(message.SerializeToString())


def begin(page: str, *fragments: str) -> bytes:
    """What the server says when it begins to draw."""
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.metadata.run.fragment_ids.extend(fragments)
    return bytes(message.SerializeToString())


def finish(how: int = ForwardMsg.FINISHED_SUCCESSFULLY) -> bytes:
    """What it says at the end of that."""
    message = ForwardMsg()
    message.script_finished = how  # type: ignore[assignment]
    return bytes(message.SerializeToString())


def open_tab(page: str) -> PageReruns:
    """A tab whose page stands."""
    reruns = PageReruns()
    assert not reruns.is_stale(ask(""))
    reruns.note_answer(begin(page))
    reruns.note_answer(finish())
    return reruns


def test_a_timer_is_answered_while_nothing_else_is() -> None:
    reruns = open_tab("tune")
    assert not reruns.is_stale(ask("tune", "live", timer=True))
    reruns.note_answer(begin("tune", "live"))
    reruns.note_answer(finish(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
    assert reruns.page_hash == "tune"
    assert not reruns.is_stale(ask("tune", "live", timer=True))


def test_a_timer_waits_while_a_press_leads_to_another_page() -> None:
    reruns = open_tab("tune")
    assert not reruns.is_stale(ask("tune", "live"))  # a button in the part
    reruns.note_answer(begin("tune", "live"))
    assert reruns.is_stale(ask("tune", "live", timer=True))
    reruns.note_answer(finish(ForwardMsg.FINISHED_EARLY_FOR_RERUN))
    assert reruns.is_stale(ask("tune", "live", timer=True)), "the other page is still to begin"
    reruns.note_answer(begin("train"))
    reruns.note_answer(finish())
    assert reruns.is_stale(ask("tune", "live", timer=True)), "sent before the browser knew of it"
    assert reruns.is_stale(ask("tune", "live")), "so was this press"
    assert not reruns.is_stale(ask("train", "curves", timer=True))
    assert not reruns.is_stale(ask("predictions")), "a link"


def test_an_address_leads_to_one_of_the_pages() -> None:
    reruns = PageReruns()
    assert not reruns.is_stale(ask(""))
    reruns.note_answer(begin("app"))
    message = ForwardMsg()
    message.navigation.page_script_hash = "tune"
    reruns.note_answer(bytes(message.SerializeToString()))
    assert not reruns.is_stale(ask("tune", "live"))
    assert reruns.is_stale(ask("app", "live"))


def test_the_end_of_an_earlier_drawing_is_not_that_of_the_press() -> None:
    reruns = open_tab("tune")
    assert not reruns.is_stale(ask("tune"))
    reruns.note_answer(finish(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
    assert reruns.is_stale(ask("tune", "live", timer=True))


def test_what_is_no_such_message_passes_and_changes_nothing() -> None:
    reruns = open_tab("tune")
    for content in (None, b"", b"\xff\xff", b"x" * (MAX_MESSAGE_BYTES + 1)):
        assert not reruns.is_stale(content)
        reruns.note_answer(content)
    assert not reruns.is_stale(BackMsg(stop_script=True).SerializeToString())
    assert reruns.page_hash == "tune"
