"""What a tab and its server say to each other: whether the tab still waits for an answer.

Streamlit's page says `notRunning` also between a click and the first word of the script that
the click sets going, and before its very first run. The messages themselves leave no doubt.
"""

import time

from playwright.sync_api import Page, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# A part that reruns by itself may ask when it is just being taken off the page: nobody answers.
GIVEN_UP_SECONDS = 5.0


class Traffic:
    """Follows a tab's messages from its first connection on, through reloads.

    Attributes:
      drawings: how often the tab has asked for the whole page.
    """

    def __init__(self, page: Page) -> None:
        self._asked: float | None = None
        self._running = False
        self.drawings = 0
        page.on("websocket", self._connected)

    @property
    def waiting(self) -> bool:
        """Whether a run of the script has been asked for or is under way."""
        asked = self._asked is not None and time.monotonic() - self._asked < GIVEN_UP_SECONDS
        return asked or self._running

    def _connected(self, socket: WebSocket) -> None:
        if "/_stcore/" not in socket.url:
            return
        self._asked, self._running = time.monotonic(), False  # it asks as soon as it may
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, frame: bytes | str) -> None:
        message = BackMsg.FromString(frame if isinstance(frame, bytes) else b"")
        if message.HasField("rerun_script"):
            self._asked = time.monotonic()
            self.drawings += not message.rerun_script.fragment_id

    def _received(self, frame: bytes | str) -> None:
        if not isinstance(frame, bytes):
            return
        message = ForwardMsg.FromString(frame)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._asked, self._running = None, True
        elif kind == "script_finished":
            early = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            self._running = early and self._running
