"""A competitor's process as the race sees it: a line of JSON asked, a line of JSON answered."""

import json
import select
import subprocess
import time
from collections.abc import Callable
from typing import Any

from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.worker_death import format_exit_status
from ensemble.machine.python_command import build_python_command
from ensemble.race.settings import RaceConfig

ANSWER_TIMEOUT_S = 180.0  # longer than any compiling takes; XLA itself gives up after 40 s
POLL_INTERVAL_S = 0.2
END_TIMEOUT_S = 5.0


class CompetitorLostError(Exception):
    """A competitor's process has ended or does not answer; its message is a sentence on why."""


class RaceStoppedError(Exception):
    """The race is to stop, and was asked to while it waited for a competitor."""


class CompetitorProcess:
    """One competitor's process; use as a context manager, which ends it.

    Args:
      name: one of `settings.COMPETITORS`.
      config: the race.
      stop: whether the race is to stop; called several times a second while it waits.
    """

    def __init__(self, name: str, config: RaceConfig, stop: Callable[[], bool]) -> None:
        self.name, self._stop = name, stop
        words = ["race-competitor", name, json.dumps(config.as_dict())]
        # Its errors go where ours go: into the race's log.
        self._child = subprocess.Popen(
            build_python_command(*words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=build_worker_environment(),
            bufsize=0,
        )

    def __enter__(self) -> "CompetitorProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self._child.kill()
        self._child.communicate()

    def send_request(self, **request: Any) -> None:
        """Send a request, which `receive_answer` answers; CompetitorLostError where the process has ended."""
        assert self._child.stdin
        try:
            self._child.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise self._build_lost_error() from error

    def receive_answer(self) -> dict[str, Any]:
        """The answer, once it is there.

        Raises:
          CompetitorLostError: there will be none.
          RaceStoppedError: the race is to stop.
        """
        assert self._child.stdout
        end = time.monotonic() + ANSWER_TIMEOUT_S
        while not select.select([self._child.stdout], [], [], POLL_INTERVAL_S)[0]:
            if self._stop():
                raise RaceStoppedError
            if time.monotonic() > end:
                self._child.kill()
                raise CompetitorLostError("It did not answer any more.")
        line = self._child.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._build_lost_error()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _build_lost_error(self) -> CompetitorLostError:
        try:
            how = f" ({format_exit_status(self._child.wait(END_TIMEOUT_S))})"
        except subprocess.TimeoutExpired:  # It has closed its output, and goes on.
            how = ""
        return CompetitorLostError(f"Its process has ended{how}; the log says more.")
