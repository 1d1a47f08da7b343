"""One line of progress on stderr, rewritten in place on a terminal."""

import sys
import time

from ensemble.acquisition.learning_job import LearningStatus
from ensemble.cli.output import write_stderr
from ensemble.regression import RegressionStatus
from ensemble.runs.status import Status
from ensemble.shift import StressStatus
from ensemble.sweeps import SweepStatus
from ensemble.wording import escaping, formats
from ensemble.wording.runs.training import describe_training_progress

_LINE_INTERVAL_S = 5.0


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
            write_stderr("\n")

    def show_run(self, status: Status) -> None:
        self._write_line(describe_training_progress(status), urgent=status.state not in ("training", "starting"))

    def show_stress(self, status: StressStatus) -> None:
        self._show_job(status, f"{status.steps} of {status.total} steps" if status.total else "")

    def show_regression(self, status: RegressionStatus) -> None:
        done, iterations = status.iteration, status.iterations
        self._show_job(status, f"{done:,} of {iterations:,} iterations" if iterations else "")

    def show_sweep(self, status: SweepStatus) -> None:
        self._show_job(status, f"{status.done:,} of {status.trials:,} trials")

    def show_learning(self, status: LearningStatus) -> None:
        self._show_job(status, f"{status.done:,} of {status.trainings:,} trainings")

    def _show_job(self, status: StressStatus | RegressionStatus | SweepStatus | LearningStatus, done: str) -> None:
        left = f"{formats.format_duration(status.seconds_left)} left" if status.seconds_left else ""
        words = filter(None, (status.state, done, status.message, left))
        self._write_line(" · ".join(words), urgent=status.state not in status.kind.active_states[1:])

    def show_fraction(self, fraction: float | None, message: str) -> None:
        """Say how far a download is: a share in [0, 1] or None, and a sentence."""
        share = "" if fraction is None else f" · {formats.format_progress(fraction)}"
        self._write_line(message + share, urgent=fraction == 1.0)

    def _write_line(self, words: str, urgent: bool) -> None:
        now, words = time.monotonic(), escaping.escape_terminal_text(words)
        if self._terminal:
            write_stderr(f"\r\x1b[K{self._title} · {words}")
        elif words != self._said and (urgent or now - self._when > _LINE_INTERVAL_S):
            write_stderr(f"{self._title} · {words}\n")
            self._when = now
        self._said = words
