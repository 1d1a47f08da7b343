"""The time that opening one picture may take: a file can be small, well formed and endless work."""

import io
import threading
import time
from contextlib import ExitStack

from ensemble.errors import ImageError

MAX_OPEN_SECONDS = 10.0  # that opening one picture may take, on a machine that is busy with others
_TIMEOUT_MESSAGE = (
    f"The picture could not be opened within {MAX_OPEN_SECONDS:.0f} s: save it smaller, or try "
    "again when this machine is less busy."
)


class DecodingDeadline:
    """The time that one picture has left to be opened; it stands still while others are."""

    def __init__(self) -> None:
        self._end = time.monotonic() + MAX_OPEN_SECONDS

    def enter_lock(self, lock: threading.Lock, held: ExitStack) -> None:
        """Enter the lock; waiting costs the picture no time."""
        began = time.monotonic()
        held.enter_context(lock)
        self._end += time.monotonic() - began

    def check_deadline(self) -> None:
        """Raises ImageError once the time is over."""
        if time.monotonic() > self._end:
            raise ImageError(_TIMEOUT_MESSAGE)


class TimedBytes(io.BytesIO):
    """A file in memory that Pillow reads block by block, as long as there is time."""

    def __init__(self, content: bytes, clock: DecodingDeadline) -> None:
        super().__init__(content)
        self._clock = clock

    def read(self, size: int | None = -1, /) -> bytes:
        """As a file does; ImageError once the time is over."""
        self._clock.check_deadline()
        return super().read(size)
