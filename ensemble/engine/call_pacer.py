"""How much to do in one compiled call, so that it lasts about a second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TARGET_CALL_SECONDS = 1.0
# Two units where they take no longer than this: with one, each of many members comes from memory
# and goes back for a single step.
MAX_TWO_UNIT_SECONDS = 3.0

# Processes on several hosts do the same calls: one decides by its clock, and tells the others.
_decide: ContextVar[Callable[[int], int] | None] = ContextVar("decide", default=None)


class CallPacer:
    """Learns from the last call how many units (steps, blocks) the next should hold.

    The first call holds one unit. How work is cut into calls never changes its result.
    """

    def __init__(self) -> None:
        self._units = 1

    def choose_units(self, left: int) -> int:
        """Units for the next call, at least 1 and at most `left`."""
        units, decide = min(self._units, left), _decide.get()
        return decide(units) if decide else units

    def record_duration(self, units: int, seconds: float) -> None:
        """Note how long a call of so many units lasted; grows at most fourfold a call."""
        each = max(seconds, 1e-6) / units
        least = 2 if 2 * each <= MAX_TWO_UNIT_SECONDS else 1
        self._units = max(least, int(min(TARGET_CALL_SECONDS / each, 4 * units)))


@contextmanager
def override_call_units(decide: Callable[[int], int]) -> Iterator[None]:
    """Within this `decide` has the last word, told what this process would do."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)
