"""How often each person did something within the last minute."""

import threading
import time
from collections import deque

MINUTE = 60.0
MOST_PEOPLE = 10_000  # who are counted at once


class PerMinute:
    """Counts what each person did within the last minute. Thread-safe, bounded."""

    def __init__(self) -> None:
        self._done: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def take(self, who: str, most: float, now: float | None = None) -> bool:
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
            if len(self._done) >= MOST_PEOPLE:
                recent = {one: at for one, at in self._done.items() if now - at[-1] < MINUTE}
                self._done = recent if len(recent) < MOST_PEOPLE else {}
            at = self._done.get(who, deque())
            while at and now - at[0] >= MINUTE:
                at.popleft()
            if len(at) >= most:
                return False
            at.append(now)
            self._done[who] = at
            return True
