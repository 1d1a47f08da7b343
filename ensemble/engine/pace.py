"""How much to do in one compiled call, so that it lasts about a second."""

CALL_SECONDS = 1.0


class Pace:
    """Learns from the last call how many units (steps, blocks) the next should hold.

    The first call holds one unit. How work is cut into calls never changes its result.
    """

    def __init__(self) -> None:
        self._units = 1

    def next(self, left: int) -> int:
        """Units for the next call, at least 1 and at most `left`."""
        return min(self._units, left)

    def took(self, units: int, seconds: float) -> None:
        """Note how long a call of so many units lasted; grows at most fourfold a call."""
        wanted = units * CALL_SECONDS / max(seconds, 1e-6)
        self._units = max(1, int(min(wanted, 4 * units)))
