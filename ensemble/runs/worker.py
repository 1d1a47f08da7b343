"""A run's worker: waits its turn, trains, and writes down how it ended."""

import dataclasses
import signal
import time
import traceback
from collections.abc import Callable
from types import FrameType

from ensemble.errors import EnsembleError
from ensemble.runs.environment import prepare_jax
from ensemble.runs.launching import STOP_FILE
from ensemble.runs.queue import hold, wait_for_turn
from ensemble.runs.status import Status, StatusWriter
from ensemble.runs.store import Run, find

Report = Callable[[Status], None]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended: its final state, and a sentence of advice."""

    state: str
    message: str = ""


class StopRequest:
    """Whether to stop: a `stop` file in the run's folder, SIGTERM, or Ctrl-C."""

    def __init__(self, run: Run) -> None:
        self._file = run.path / STOP_FILE
        self._signalled = False

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return self._signalled or self._file.exists()

    def listen(self) -> None:
        """Take SIGTERM and the first Ctrl-C as a request; a second Ctrl-C ends at once."""
        signal.signal(signal.SIGTERM, self._note)
        signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


def work(run_id: str, report: Report = lambda status: None) -> Run:
    """Bring a queued run to its end in this process.

    Args:
      run_id: a run in state `queued`.
      report: called with each new status.

    Whatever goes wrong is written into the run's status; a bug is raised as well, after
    that, so that its traceback lands in the log.
    """
    run = find(run_id)
    stop = StopRequest(run)
    with hold(run), StatusWriter(run.path) as status:
        stop.listen()
        try:
            outcome = _wait_and_train(run, status, stop, report)
        except EnsembleError as error:
            outcome = Outcome("failed", str(error))
        except OSError as error:
            traceback.print_exc()
            outcome = Outcome("failed", f"The disk said no ({error}). Make room, then resume.")
        except MemoryError:
            traceback.print_exc()
            outcome = Outcome("failed", "Memory ran out: try fewer members or a smaller batch.")
        except BaseException as error:
            status.update(
                state="failed", message=f"An unexpected error ended the training ({error!r:.200}). "
                "The log has its details; what was trained so far is kept.",
            )  # fmt: skip
            raise
        status.update(state=outcome.state, message=outcome.message, seconds_left=None)
        report(status.status)
    return find(run_id)


def _wait_and_train(run: Run, status: StatusWriter, stop: StopRequest, report: Report) -> Outcome:
    def waiting() -> None:
        status.update(message="Another run trains on this machine: this one waits its turn.")
        report(status.status)

    turn = wait_for_turn(run, stop, waiting)
    if turn is None:
        return Outcome("stopped", "Stopped while it waited its turn.")
    with turn:
        status.update(state="starting", started=time.time(), message="")
        report(status.status)
        prepare_jax()
        # Only now: a run that waits needs no JAX, and JAX reads its settings when it starts.
        from ensemble.runs.session import Session

        with Session(run, status, stop, report) as session:
            return session.train()
