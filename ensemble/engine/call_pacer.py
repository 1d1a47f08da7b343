"""How much to do in one compiled call, so that it lasts about a second."""

_TARGET_CALL_SECONDS = 1.0
# Two units where they take no longer than this: with one, each of many members comes from memory
# and goes back for a single step.
_MAX_TWO_UNIT_SECONDS = 3.0


class CallPacer:
    """Learns from the last call how many units (steps, blocks) the next should hold.

    The first call holds one unit. How work is cut into calls never changes its result.
    """

    def __init__(self) -> None:
        self._units = 1

    def choose_units(self, left: int) -> int:
        """Units for the next call, at least 1 and at most `left`."""
        return min(self._units, left)

    def record_duration(self, units: int, seconds: float) -> None:
        """Note how long a call of so many units lasted; grows at most fourfold a call."""
        each = max(seconds, 1e-6) / units
        least = 2 if 2 * each <= _MAX_TWO_UNIT_SECONDS else 1
        self._units = max(least, int(min(_TARGET_CALL_SECONDS / each, 4 * units)))
