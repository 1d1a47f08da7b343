"""What a tab and its server say to each other: whether the tab still waits for an answer.

Streamlit's page says `notRunning` also between a click and the first word of the script that
the click sets going, and before its very first run. The messages themselves leave no doubt.
Before it asks anything a tab may wait a moment, for a slider's next move say: by a short timer.
"""

import time

from playwright.sync_api import Error, Page, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# A part that reruns by itself may ask when it is just being taken off the page: nobody answers.
GIVEN_UP_SECONDS = 5.0
# Notes the short timers that have not gone off, each with the one that its chain began with: a
# timer may set another, to put off what it is for. After three it is one that looks again and
# again, and nothing waits for it.
NOTE_TIMERS = """(() => {
  const { setTimeout: set, clearTimeout: clear } = window
  const pending = window.shortTimers = new Map()
  let within = { place: 0 }
  window.setTimeout = (call, after, ...given) => {
    const one = { first: within.first, place: within.place + 1 }
    const id = set((...given) => {
      pending.delete(id)
      within = one
      try { typeof call === 'function' ? call(...given) : (0, eval)(call) }
      finally { within = { place: 0 } }
    }, after, ...given)
    one.first ??= id
    if (after > 0 && after <= 1000 && one.place <= 3) pending.set(id, one.first)
    return id
  }
  window.clearTimeout = id => { pending.delete(id); clear(id) }
})()"""
# Returns when the chains have ended that have begun by the time that the tab is drawn.
LET_TIMERS_PASS = """async () => {
  const drawn = async () => {
    for (const _ of [1, 2]) await new Promise(done => requestAnimationFrame(done))
  }
  await drawn()
  const pending = window.shortTimers ?? new Map(), awaited = new Set(pending.values())
  while ([...pending.values()].some(first => awaited.has(first))) await drawn()
}"""


class Traffic:
    """Follows a tab's messages from its first connection on, through reloads.

    Attributes:
      drawings: how often the tab has asked for the whole page.
    """

    def __init__(self, page: Page) -> None:
        self._asked: float | None = None
        self._running = False
        self.drawings = 0
        self._page = page
        page.add_init_script(NOTE_TIMERS)
        page.on("websocket", self._connected)

    @property
    def waiting(self) -> bool:
        """Whether a run of the script has been asked for or is under way."""
        asked = self._asked is not None and time.monotonic() - self._asked < GIVEN_UP_SECONDS
        return asked or self._running

    def let_timers_pass(self) -> None:
        """Returns when the tab has asked for what it was about to ask for in a moment."""
        try:
            self._page.evaluate(LET_TIMERS_PASS)
        except Error as error:  # another document has come, whose own timers are not asked after
            if "Execution context was destroyed" not in error.message:
                raise

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
