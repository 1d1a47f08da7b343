"""How work ends, and what asks it to end sooner."""

import dataclasses
import signal
from pathlib import Path
from types import FrameType


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended: its final state, and a sentence of advice."""

    state: str
    message: str = ""


class StopRequest:
    """Whether to stop: a file that somebody made, SIGTERM, or Ctrl-C.

    Within it as a context, SIGTERM and the first Ctrl-C are a request; a second Ctrl-C ends at
    once. After it signals mean what they did before.

    Attributes:
      signalled: whether one came, too late for this work or not: a process that waits for more
        work then ends instead.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.signalled = False

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return self.signalled or self._file.exists()

    def __enter__(self) -> "StopRequest":
        both = signal.SIGTERM, signal.SIGINT
        self._before = {one: signal.signal(one, self._note) for one in both}
        return self

    def __exit__(self, *error: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signalled = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
