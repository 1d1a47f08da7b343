"""A run's worker: waits its turn, trains, and writes down how it ended."""

import dataclasses
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from ensemble.errors import EnsembleError
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.launching import STOP_FILE
from ensemble.runs.pulse import Writer
from ensemble.runs.queue import Place, before, hold, wait_for_turn
from ensemble.runs.status import Status, StatusWriter
from ensemble.runs.store import Run, find, folder_of

Report = Callable[[Status], None]
NICE = 10


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended: its final state, and a sentence of advice."""

    state: str
    message: str = ""


class StopRequest:
    """Whether to stop: a file that somebody made, SIGTERM, or Ctrl-C.

    Within it as a context, SIGTERM and the first Ctrl-C are a request; a second Ctrl-C ends at
    once. After it signals mean what they did before.

    Attributes:
      signalled: whether one came, too late for this work or not: a process that waits for more
        work then ends instead.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.signalled = False

    def __call__(self) -> bool:
        """Whether it is time to stop."""
        return self.signalled or self._file.exists()

    def __enter__(self) -> "StopRequest":
        both = signal.SIGTERM, signal.SIGINT
        self._before = {one: signal.signal(one, self._note) for one in both}
        return self

    def __exit__(self, *error: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signalled = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


def work(run_id: str, report: Report = lambda status: None, stop: StopRequest | None = None) -> Run:
    """Bring a queued run to its end in this process.

    Args:
      run_id: a run in state `queued`.
      report: called with each new status.
      stop: asked whether to stop, where the caller wants to know as well; see `stop_request`.

    Whatever goes wrong is written into the run's status; a bug is raised as well, after
    that, so that its traceback lands in the log.
    """
    run, stop = find(run_id), stop or stop_request(run_id)

    def in_turn_train() -> Outcome:
        return in_turn(
            Place.to_train(run), status, stop, report,
            lambda: _train(run, status, stop, report),
        )  # fmt: skip

    with stop, hold(run.path, f"The run “{run.id}”"), StatusWriter(run.path) as status:
        with bugs_written_down(status, "the training", "what was trained so far is kept"):
            outcome = outcome_of(in_turn_train, "resume")
        status.update(state=outcome.state, message=outcome.message, seconds_left=None)
        report(status.status)
    return find(run_id)


def stop_request(run_id: str) -> StopRequest:
    """What asks this run to stop."""
    return StopRequest(folder_of(run_id) / STOP_FILE)


def give_way() -> None:
    """Let the page and its browser go first on this machine; idle cores are used all the same."""
    if hasattr(os, "nice") and os.nice(0) < NICE:
        os.nice(NICE - os.nice(0))


def outcome_of(work: Callable[[], Outcome], go_on: str) -> Outcome:
    """What came of it; what a person can mend is an outcome too, with advice.

    Args:
      work: what is to be done.
      go_on: what to press when there is room on the disk again.
    """
    try:
        return work()
    except EnsembleError as error:
        return Outcome("failed", str(error))
    except OSError as error:
        traceback.print_exc()
        return Outcome("failed", f"The disk said no ({error}). Make room, then {go_on}.")
    except MemoryError:
        traceback.print_exc()
        return Outcome("failed", "Memory ran out: try fewer members or a smaller batch.")


@contextmanager
def bugs_written_down(status: Writer[Any], what: str, kept: str) -> Iterator[None]:
    """An error that nobody expected ends the state as `failed`, and goes on to the log."""
    try:
        yield
    except BaseException as error:
        status.update(
            state="failed", message=f"An unexpected error ended {what} ({error!r:.200}). "
            f"The log has its details; {kept}.",
        )  # fmt: skip
        raise


def in_turn(
    place: Place,
    status: Writer[Any],
    stop: StopRequest,
    report: Callable[[Any], None],
    begin: Callable[[], Outcome],
) -> Outcome:
    """What `begin` comes to, called once this machine is free for it; or a stop before that.

    Args:
      place: its place among those who wait.
      status: says meanwhile who has the machine, then that it starts.
      stop: asked while it waits.
      report: called with each new status.
      begin: the work. It imports JAX itself: who waits needs none, and JAX reads its settings
        when it starts.
    """

    def waiting() -> None:
        first = next((one.name for one in before(place)), "another run")
        status.update(message=f"It waits its turn: {first} has this machine.")
        report(status.status)

    turn = wait_for_turn(place, stop, waiting)
    if turn is None:
        return Outcome("stopped", "Stopped while it waited its turn.")
    with turn:
        status.update(state="starting", message="")
        report(status.status)
        return begin()


def _train(run: Run, status: StatusWriter, stop: StopRequest, report: Report) -> Outcome:
    status.update(started=time.time())
    prepare_jax()
    from ensemble.runs.session import Session

    with Session(run, status, stop, report) as session:
        return session.train()
