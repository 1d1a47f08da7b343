"""Keeps parts of a page that was left from being drawn over the page that came after it.

A part of a page that is drawn again and again may be asked for at the moment in which a button
leads to another page. Streamlit draws that part once the new page stands, takes the tab to be on
the old one, and empties it: nothing is left but the menu. What is asked for by a page that is no
longer there is left unanswered here, and so is what a timer asks for while a press is answered.
"""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MAX_MESSAGE_BYTES = 100_000  # of the two kinds that are looked for; others may be longer
_PRESS_LIMIT_S = 20.0  # after which a timer may ask again, whatever is still being drawn


class PageReruns:
    """What one tab asks for, and which page it is on.

    Attributes:
      page_hash: Streamlit's mark of the page that was begun last; "" until one was.
    """

    def __init__(self) -> None:
        self.page_hash = ""
        self._pressed_at: float | None = None
        self._is_answer_begun = False

    def is_stale(self, content: bytes | None) -> bool:
        """Whether the server is not to answer what the browser sends, which is noted.

        Args:
          content: the message, as Streamlit's protocol has it; None or another one is none.
        """
        message = _parse_message(BackMsg(), content)
        if not isinstance(message, BackMsg) or not message.HasField("rerun_script"):
            return False
        asked = message.rerun_script
        if asked.is_auto_rerun and self.is_press_unanswered():
            return True
        if asked.fragment_id and asked.page_script_hash not in ("", self.page_hash):
            return bool(self.page_hash)
        if not asked.is_auto_rerun:
            self._pressed_at, self._is_answer_begun = time.monotonic(), False
        return False

    def is_press_unanswered(self) -> bool:
        return self._pressed_at is not None and time.monotonic() - self._pressed_at < _PRESS_LIMIT_S

    def note_answer(self, content: bytes | None) -> None:
        """Note what the server tells the browser: a page that begins, and the end of a drawing."""
        if content is None or len(content) > MAX_MESSAGE_BYTES:
            return
        message = _parse_message(ForwardMsg(), content)
        if not isinstance(message, ForwardMsg):
            return
        if message.HasField("new_session"):
            self._is_answer_begun = True
            if not message.metadata.run.fragment_ids:
                self.page_hash = message.new_session.page_script_hash
        elif message.HasField("navigation"):  # which of its pages an address led to
            self.page_hash = message.navigation.page_script_hash
        elif (
            message.HasField("script_finished")
            and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            and self._is_answer_begun
        ):
            self._pressed_at = None


def _parse_message(message: BackMsg | ForwardMsg, content: bytes | None) -> object:
    """The message, filled from its bytes; None where they are no such message."""
    if content is None:
        return None
    try:
        message.ParseFromString(content)
    except Exception:  # protobuf's own, whose package is none of what this one requires
        return None
    return message


class StaleRerunMiddleware:
    """Leaves unanswered what `PageReruns` finds to be stale, tab by tab."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return await self._app(scope, receive, send)
        reruns = PageReruns()

        async def receive_current() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                if not reruns.is_stale(message.get("bytes")):
                    break
            return message

        async def send_noted(message: Message) -> None:
            if message["type"] == "websocket.send":
                reruns.note_answer(message.get("bytes"))
            await send(message)

        await self._app(scope, receive_current, send_noted)
