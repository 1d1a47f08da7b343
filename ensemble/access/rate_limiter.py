"""How often each person did something within the last minute."""

import threading
import time
from collections import deque

_WINDOW_S = 60.0
MAX_PEOPLE = 10_000  # who are counted at once


class RateLimiter:
    """Counts what each person did within the last minute. Thread-safe, bounded."""

    def __init__(self) -> None:
        self._done: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def try_count(self, who: str, most: float, now: float | None = None) -> bool:
        """Count one more of `who`, unless there were `most` within the minute.

        Args:
          who: by name.
          most: in a minute.
          now: seconds of a clock that only goes forward; by default the machine's.

        Returns:
          Whether it was counted.
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            if len(self._done) >= MAX_PEOPLE:
                recent = {person: at for person, at in self._done.items() if now - at[-1] < _WINDOW_S}
                self._done = recent if len(recent) < MAX_PEOPLE else {}
            at = self._done.get(who, deque())
            while at and now - at[0] >= _WINDOW_S:
                at.popleft()
            if len(at) >= most:
                return False
            at.append(now)
            self._done[who] = at
            return True
