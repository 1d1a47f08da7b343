"""One line of progress on stderr, rewritten in place on a terminal."""

import sys
import time

from ensemble.cli.outcome import tell
from ensemble.race import RaceStatus
from ensemble.regression import SolveStatus
from ensemble.runs import Status
from ensemble.shift import StressStatus
from ensemble.sweeps import SweepStatus
from ensemble.wording import escaping, formats
from ensemble.wording.runs.training import standing

QUIET_SECONDS = 5.0


class ProgressLine:
    """Shows how far something is: in place on a terminal, else a line now and then."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._said = ""
        self._when = 0.0

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *error: object) -> None:
        if self._terminal and self._said:
            tell("\n")

    def show(self, status: Status) -> None:
        """Say how a run stands."""
        self._say(standing(status), urgent=status.state not in ("training", "starting"))

    def stress(self, status: StressStatus) -> None:
        """Say how far a measuring is."""
        self._job(status, f"{status.steps} of {status.total} steps" if status.total else "")

    def solve(self, status: SolveStatus) -> None:
        """Say how far a regression is."""
        done, of = status.iteration, status.iterations
        self._job(status, f"{done:,} of {of:,} iterations" if of else "")

    def sweep(self, status: SweepStatus) -> None:
        """Say how far a sweep is."""
        self._job(status, f"{status.done:,} of {status.trials:,} trials")

    def race(self, status: RaceStatus) -> None:
        """Say how far a race is."""
        self._job(status, "")

    def _job(
        self, status: StressStatus | SolveStatus | RaceStatus | SweepStatus, done: str
    ) -> None:
        left = f"{formats.duration(status.seconds_left)} left" if status.seconds_left else ""
        words = filter(None, (status.state, done, status.message, left))
        self._say(" · ".join(words), urgent=status.state not in status.kind.active[1:])

    def fraction(self, fraction: float | None, message: str) -> None:
        """Say how far a download is: a share in [0, 1] or None, and a sentence."""
        share = "" if fraction is None else f" · {formats.progress(fraction)}"
        self._say(message + share, urgent=fraction == 1.0)

    def _say(self, words: str, urgent: bool) -> None:
        now, words = time.monotonic(), escaping.terminal(words)
        if self._terminal:
            tell(f"\r\x1b[K{self._title} · {words}")
        elif words != self._said and (urgent or now - self._when > QUIET_SECONDS):
            tell(f"{self._title} · {words}\n")
            self._when = now
        self._said = words
